#pragma once

#include "dynet-like/base/device.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/gradient_mode.h"

// Operations that return x and change its gradient, and a one-hot maximum. `nobackprop` is in
// selection.h. The result has the operand's shape, its batch included.

namespace dynet {

/// x; its gradient is multiplied by -1. Nothing is copied. Ganin and Lempitsky 2015.
Expression flip_gradient(const Expression& x, SourceLocation at = SourceLocation::current());
/// x; its gradient is multiplied by lambd. Nothing is copied. Throws ArgumentError unless lambd is
/// finite.
Expression scale_gradient(const Expression& x, float lambd = 1.0f,
                          SourceLocation at = SourceLocation::current());
/// One at the largest element along dimension d, the first of several, zero elsewhere. The gradient
/// is zero, or that of the result (Bengio et al. 2013). Throws IndexError.
Expression argmax(const Expression& x, GradientMode gradient_mode, unsigned d = 0,
                  SourceLocation at = SourceLocation::current());
/// A copy of x on another device; operations on the copy run there, and its gradient is copied
/// back. Returns x if x is on that device. Operations with operands on different devices throw
/// DeviceError. Throws ArgumentError for a null pointer, DeviceError if the device does not exist
/// (see DeviceManager) or cannot be used.
Expression to_device(const Expression& x, Device* device,
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
