#pragma once

// How the elements of an operand lie in a result that it is broadcast to; plain data for kernels.

#include "dynet-like/shape/dim.h"
#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// The digits of a number, each times a step.
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
  Digits own;     ///< from an element of the result to that of the operand
  Digits first;   ///< from an element of the operand to the first that it becomes
  Digits repeat;  ///< from there to the others, `repeats` with the first
  std::size_t repeats = 1;
  bool whole = true;       ///< the operand is as large as the result
  bool neighbours = true;  ///< neighbours in the operand are neighbours in the result

  Broadcast(const Dim& result, const Dim& operand) {
    std::size_t size = 1, own_step = 1, step = 1;  // `size` of dimensions taken together
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
    // A digit for the number of the node, where nodes side by side are taken as one.
    if (own.n == 0) own.add(1, 1), first.add(1, 1);
  }
};

/// Gradients of operand k of an operation whose operands are broadcast: the sum of term(node, e,
/// own) over the elements e of the result that element `own` of the operand becomes.
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
