#pragma once

namespace dynet {

/// What gradient goes through a step function, whose own is zero: that one, or what comes from
/// above as if the function were the identity. Bengio et al. 2013.
enum GradientMode { zero_gradient, straight_through_gradient };

}  // namespace dynet
