#pragma once

// Index maps between an operand and the result that it is broadcast to; plain data for kernels.

#include "dynet-like/shape/dim.h"
#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// Sum of the digits of a number in a mixed radix, each times a step.
struct Digits {
  unsigned n = 0;
  std::size_t size[kMaxTensorDim + 1] = {}, step[kMaxTensorDim + 1] = {};

  void add(std::size_t digit_size, std::size_t digit_step) {
    size[n] = digit_size;
    step[n++] = digit_step;
  }
  DYNET_DEVICE std::size_t operator()(std::size_t k) const {
    std::size_t at = 0;
    for (unsigned g = 0; g + 1 < n; ++g) {
      const Quotient digit = divide(k, size[g]);
      at += digit.rest * step[g];
      k = digit.by;
    }
    return at + (n == 0 ? 0 : k * step[n - 1]);
  }
};

struct Broadcast {
  Digits own;     ///< from an element of the result to the operand's element
  Digits first;   ///< from an element of the operand to its first copy in the result
  Digits repeat;  ///< from the first copy to the other copies; `repeats` copies in all
  std::size_t repeats = 1;
  bool whole = true;       ///< the operand is as large as the result
  bool neighbours = true;  ///< neighbours in the operand are neighbours in the result

  Broadcast(const Dim& result, const Dim& operand) {
    std::size_t size = 1, own_step = 1, step = 1;  // `size`: product of the merged dimensions
    bool moves = true;
    const auto close = [&] {
      if (size == 1) return;
      own.add(size, moves ? own_step : 0);
      (moves ? first : repeat).add(size, step);
      if (own.n == 1) neighbours = moves;
      if (moves)
        own_step *= size;
      else
        repeats *= size, whole = false;
      step *= size;
      size = 1;
    };
    for (unsigned d = 0; d <= result.nd; ++d) {
      const std::size_t here = d < result.nd ? result.d[d] : result.bd;
      if (here == 1) continue;  // of every operand
      const bool moves_here = (d < result.nd ? operand[d] : operand.bd) != 1;
      if (moves_here != moves) close();
      moves = moves_here;
      size *= here;
    }
    close();
    // Keeps a digit for the node's number, since contiguous nodes are treated as one tensor.
    if (own.n == 0) own.add(1, 1), first.add(1, 1);
  }
};

/// Gradients of operand k of a broadcasting operation: the sum of term(node, e, own) over the
/// copies e in the result of element `own` of the operand.
template <class T>
void broadcast_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k, T term) {
  const Broadcast at(b.dim(), b.dim(k));
  const Digits first = at.first, repeat = at.repeat;
  sum_gradients(q, q.targets(b, k), b.dim(k).size(), at.repeats, at.neighbours,
                [=] __device__(std::uint32_t node, std::size_t own, std::size_t r) {
                  return term(node, first(own) + repeat(r), own);
                });
}

}  // namespace dynet::cuda
