#pragma once

#include "dynet-like/base/device.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/gradient_mode.h"

// Identity operations with a changed gradient, argmax, and transfers between devices. `nobackprop`
// is in selection.h. The result has the operand's shape, its batch included.

namespace dynet {

/// x; its gradient is the result's gradient times -1. No copy. Ganin and Lempitsky 2015.
Expression flip_gradient(const Expression& x, SourceLocation at = SourceLocation::current());
/// x; its gradient is the result's gradient times lambd. No copy. Throws ArgumentError unless lambd
/// is finite.
Expression scale_gradient(const Expression& x, float lambd = 1.0f,
                          SourceLocation at = SourceLocation::current());
/// One at the largest element along dimension d (the first of equal ones), zero elsewhere. The
/// gradient of x is zero, or that of the result (Bengio et al. 2013). Throws IndexError.
Expression argmax(const Expression& x, GradientMode gradient_mode, unsigned d = 0,
                  SourceLocation at = SourceLocation::current());
/// A copy of x on another device; its gradient is copied back. x itself if it is on `device`
/// already. Operations on the result run on that device; operations whose operands are on different
/// devices throw DeviceError. Throws ArgumentError for a null pointer, DeviceError if the device
/// cannot be used. DeviceManager has the available devices.
Expression to_device(const Expression& x, Device* device,
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
