#pragma once

// Loops over elements of tensors, and reductions, as kernels. Their functions run on the device.

#include <algorithm>

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/division.h"
#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// A number that is loaded on use: an operand that the gradient does not need may be missing.
struct Lazy {
  const float* p;
  DYNET_DEVICE operator float() const { return *p; }
};

/// Operand k, or the values, as read by the backward pass; empty if the form does not read them.
inline TensorArray<const float> ins_if_read(Queue& q, const Batch<float>& b, std::size_t k) {
  const auto reads = static_cast<unsigned>(b.node(0).form->reads.value);
  return reads & static_cast<unsigned>(Reads::inputs) ? q.ins(b, k) : TensorArray<const float>{};
}
inline TensorArray<const float> outs_if_read(Queue& q, const Batch<float>& b) {
  if (!reads_output(b.node(0).form->reads)) return {};
  return q.many(const_cast<const float* const*>(b.outs), b.count, b.dim().size());
}

// Each tensor has `blocks` blocks; zero: tensors share blocks, with one thread per element.
template <class F>
DYNET_GLOBAL void each_kernel(std::size_t count, std::size_t size, Divisor by_size, unsigned blocks,
                              F f) {
  begin_kernel();
  if (blocks == 0) {
    const std::size_t k = thread_number();
    if (k >= count * size) return;
    const Quotient at = by_size(static_cast<std::uint32_t>(k));
    f(at.by, at.rest);
    return;
  }
  const std::size_t i = blockIdx.x / blocks, step = std::size_t{blocks} * blockDim.x;
  for (std::size_t e = std::size_t{blockIdx.x % blocks} * blockDim.x + threadIdx.x; e < size;
       e += step)
    f(i, e);
}

/// f(i, e) for element e of each of `count` tensors of `size` elements.
template <class F>
void for_each(Queue& q, std::size_t count, std::size_t size, F f) {
  constexpr std::size_t kOwnBlocks = 192, kMany = std::size_t{1} << 20;
  const std::size_t all = count * size;
  if (all == 0) return;
  const Divisor by_size(static_cast<std::uint32_t>(size));
  if (count > 1 && size < kOwnBlocks && all >> 31 == 0) {
    q.launch_for(all, each_kernel<F>, count, size, by_size, 0u, f);
    return;
  }
  const std::size_t share = all < kMany ? 256 : 1024;  // elements per block
  const auto blocks = static_cast<unsigned>((size + share - 1) / share);
  q.launch(Grid{static_cast<unsigned>(blocks * count)}, each_kernel<F>, count, size, by_size,
           blocks, f);
}

/// Whether tensors are contiguous, and so form one tensor.
template <class... T>
bool side_by_side(const TensorArray<T>&... m) {
  return ((m.each == nullptr) && ...);
}
/// Whether targets are contiguous and all stored, or all added.
inline bool side_by_side(const GradientTargets& p) {
  return !p.first.first && !p.first.to.each && !p.first.adds;
}

// Two-step sums: the first step sums each of `pieces` of the terms into `sums`, ordered by piece
// and result; the second step adds up the pieces.
struct Steps {
  std::size_t pieces;
  double* sums;
  bool second;
};

// Each result is the sum of count(r) terms term(r, k). `lanes` threads of a block, a power of two,
// have a result each; the block's slices of lanes share its terms.
template <class N, class T, class D>
DYNET_GLOBAL void sums_kernel(std::size_t results, unsigned lanes, Steps steps, N count, T term,
                              D done) {
  begin_kernel();
  DYNET_SHARED(double, part, kThreads);
  const unsigned lane = threadIdx.x % lanes, slice = threadIdx.x / lanes;
  const unsigned slices = blockDim.x / lanes;
  const bool in_pieces = steps.pieces > 1 && !steps.second;
  const std::size_t groups = (results + lanes - 1) / lanes;
  for (std::size_t b = blockIdx.x; b < (in_pieces ? steps.pieces : 1) * groups; b += gridDim.x) {
    const Quotient at = divide(b, groups);  // piece, group of results
    const std::size_t r = at.rest * lanes + lane;
    double sum = 0;
    if (r < results && steps.second) {
      for (std::size_t k = slice; k < steps.pieces; k += slices) sum += steps.sums[k * results + r];
    } else if (r < results) {
      std::size_t n = count(r), k = 0;
      if (in_pieces) {
        const std::size_t all = n, share = (all + steps.pieces - 1) / steps.pieces;
        k = at.by * share;
        n = k + share < all ? k + share : all;
      }
      for (k += slice; k < n; k += slices) sum += term(r, k);
    }
    if (slices > 1) {
      __syncthreads();  // until the previous results are read
      part[threadIdx.x] = sum;
      for (unsigned half = slices / 2; half > 0; half /= 2) {
        __syncthreads();
        if (slice < half) part[threadIdx.x] += part[threadIdx.x + half * lanes];
      }
      sum = part[threadIdx.x];
    }
    if (slice > 0 || r >= results) continue;
    if (in_pieces)
      steps.sums[at.by * results + r] = sum;
    else
      done(r, sum);
  }
}

/// done(r, sum) for the sum of count(r) terms term(r, k), about `terms` of them. `neighbours`:
/// terms of neighbouring results are contiguous in memory, instead of those of one result. Sums are
/// in double, in a deterministic order.
template <class N, class T, class D>
void sums(Queue& q, std::size_t results, std::size_t terms, bool neighbours, N count, T term,
          D done) {
  constexpr std::size_t kFew = 16, kLong = 256, kMany = std::size_t{1} << 17;
  constexpr std::size_t kWaves = 512;  // blocks that occupy a device
  constexpr std::size_t kShare = 64;   // terms per thread that justify a second kernel
  const bool along = !neighbours && terms >= kLong;
  const unsigned lanes = along ? 1 : terms <= kFew || results >= kMany ? kThreads : 8;
  const std::size_t blocks = (results + lanes - 1) / lanes;
  if (blocks == 0) return;
  const auto launch = [&](std::size_t groups, unsigned across, const Steps& steps) {
    q.launch(Grid{static_cast<unsigned>(groups)}, sums_kernel<N, T, D>, results, across, steps,
             count, term, done);
  };
  const std::size_t pieces = std::min(kWaves / blocks, terms / (kThreads / lanes * kShare));
  if (pieces < 2) return launch(blocks, lanes, {1, nullptr, false});
  auto* const parts = reinterpret_cast<double*>(q.temporary(2 * pieces * results));
  launch(pieces * blocks, lanes, {pieces, parts, false});
  launch((results + 7) / 8, 8, {pieces, parts, true});
}

/// sums with exactly `terms` terms per result.
template <class T, class D>
void sums(Queue& q, std::size_t results, std::size_t terms, bool neighbours, T term, D done) {
  sums(
      q, results, terms, neighbours, [=] __device__(std::size_t) { return terms; }, term, done);
}

/// The second step of gradient sums, after the first; `size` elements per target.
void add_parts(Queue& q, const GradientTargets& p, std::size_t size);

// Sums term(node, e, r) over the nodes of each target and r below `repeats`, with one thread per
// element.
template <class T>
void each_target(Queue& q, const Targets& t, std::size_t size, std::size_t repeats, T term) {
  for_each(q, t.count, size, [=] __device__(std::size_t j, std::size_t e) {
    float sum = 0;
    DYNET_UNROLL(2)
    for (std::uint32_t m = t.begin(j); m < t.end(j); ++m) {
      DYNET_UNROLL(1)
      for (std::size_t r = 0; r < repeats; ++r) sum += term(t.node(m), e, r);
    }
    t.put(j, e, sum);
  });
}

// each_target with many threads per element; at most `most` nodes share a target.
template <class T>
void sum_targets(Queue& q, const Targets& t, std::size_t most, std::size_t size,
                 std::size_t repeats, bool neighbours, T term) {
  sums(
      q, t.count * size, most * repeats, neighbours,
      [=] __device__(std::size_t k) {
        const std::size_t j = divide(k, size).by;
        return (t.end(j) - t.begin(j)) * repeats;
      },
      [=] __device__(std::size_t k, std::size_t n) {
        const Quotient target = divide(k, size), at = divide(n, repeats);
        const auto m = static_cast<std::uint32_t>(t.begin(target.by) + at.by);
        return term(t.node(m), target.rest, at.rest);
      },
      [=] __device__(std::size_t k, double sum) {
        const Quotient target = divide(k, size);
        t.put(target.by, target.rest, static_cast<float>(sum));
      });
}

/// Gradients with `size` elements per target: the sum of term(node, e, r) over the nodes of the
/// target and r below `repeats`. `neighbours` as in sums.
template <class T>
void sum_gradients(Queue& q, const GradientTargets& p, std::size_t size, std::size_t repeats,
                   bool neighbours, T term) {
  if (p.most * repeats <= Queue::kMostNodes)
    each_target(q, p.first, size, repeats, term);
  else
    sum_targets(q, p.first, p.most, size, repeats, neighbours, term);
  add_parts(q, p, size);
}

/// sum_gradients without repeats: term(node, e).
template <class T>
void each_gradient(Queue& q, const GradientTargets& p, std::size_t size, T term) {
  each_target(q, p.first, size, 1, [=] __device__(std::uint32_t node, std::size_t e, std::size_t) {
    return term(node, e);
  });
  add_parts(q, p, size);
}
/// Gradient of operand k whose size differs between nodes, in one kernel. Elements after an
/// operand's end are skipped; one thread sums all nodes of a target, so there is no second step.
template <class T>
void each_ragged_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k, T term) {
  std::size_t largest = 0;
  auto* const sizes = q.stage<std::size_t>(b.count);
  for (std::size_t i = 0; i < b.count; ++i)
    largest = std::max(largest, sizes[i] = b.dim(k, i).size());
  const Targets t =
      q.targets(b.d_ins + k * b.count, b.writes + k * b.count, b.count, largest, b.count).first;
  for_each(q, t.count, largest,
           [=, sizes = q.on_device(sizes)] __device__(std::size_t j, std::size_t e) {
             if (e >= sizes[t.node(t.begin(j))]) return;
             float sum = 0;
             for (std::uint32_t m = t.begin(j); m < t.end(j); ++m) sum += term(t.node(m), e);
             t.put(j, e, sum);
           });
}
/// Gradient of operand k, of equal or different sizes.
template <class T>
void each_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k, T term) {
  const Ragged& ragged = b.node(0).form->batch.value.ragged;
  if (((ragged.rows | ragged.cols) & Ragged::operand(k)) != 0)
    each_ragged_gradient(q, b, k, term);
  else
    each_gradient(q, q.targets(b, k), b.dim(k).size(), term);
}

}  // namespace dynet::cuda
