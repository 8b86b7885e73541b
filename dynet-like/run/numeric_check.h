#pragma once

#include "dynet-like/run/devices.h"
#include "dynet-like/run/recording.h"

namespace dynet {

/// Throws NumericError, which names the operation and its operands, if the value of a node has NaN
/// or infinity. Minus infinity is the score of what is masked, see ops/softmax.h, and the logarithm
/// of a sum of nothing: no fault where the user has put it in, or where an operand has it or is
/// empty.
template <class T>
void check_value(const GraphStore& graph, Devices<T>& devices, const Recording<T>& recording,
                 NodeId id);

/// The same if the gradient that a node's backward kernel gave an operand is not finite.
template <class T>
void check_gradient(const GraphStore& graph, Devices<T>& devices, NodeId id, const T* gradient,
                    NodeId operand);

}  // namespace dynet
