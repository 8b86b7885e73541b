#pragma once

namespace dynet {

/// Gradient of a step function: its own, which is zero, or the gradient from above, as if the
/// function were the identity. Bengio et al. 2013.
enum GradientMode { zero_gradient, straight_through_gradient };

}  // namespace dynet
