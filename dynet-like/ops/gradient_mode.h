#pragma once

namespace dynet {

/// Gradient of a step function: zero, its derivative, or the gradient of the result, as if the
/// function were the identity (Bengio et al. 2013).
enum GradientMode { zero_gradient, straight_through_gradient };

}  // namespace dynet
