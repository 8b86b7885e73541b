#pragma once

// Loops over elements of many tensors, and sums that end in one element, as kernels. Functions that
// are passed in run on the device.

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/queue.h"

namespace dynet::cuda {

struct Quotient {
  std::size_t by, rest;
};
/// k / n and k % n. Most numbers are small, and a device takes long to divide large ones.
inline DYNET_DEVICE Quotient divide(std::size_t k, std::size_t n) {
  if (k < n) return {0, k};
  if (k >> 32 == 0) {
    const auto a = static_cast<std::uint32_t>(k), b = static_cast<std::uint32_t>(n);
    return {a / b, a % b};
  }
  return {k / n, k % n};
}

/// A number that is read where it is used: what a gradient does not need may not be there.
struct Lazy {
  const float* p;
  DYNET_DEVICE operator float() const { return *p; }
};

/// Operand k, or the values, as kernels of the backward pass see them: nothing if the form does not
/// read them.
inline Many<const float> ins_if_read(Queue& q, const Batch<float>& b, std::size_t k) {
  const auto reads = static_cast<unsigned>(b.node(0).form->reads.value);
  return reads & static_cast<unsigned>(Reads::inputs) ? q.ins(b, k) : Many<const float>{};
}
inline Many<const float> outs_if_read(Queue& q, const Batch<float>& b) {
  if (!reads_output(b.node(0).form->reads)) return {};
  return q.many(const_cast<const float* const*>(b.outs), b.count, b.dim().size());
}

// `blocks` belong to each tensor; zero: tensors share blocks.
template <class F>
__global__ void each_kernel(std::size_t count, std::size_t size, unsigned blocks, F f) {
  if (blocks == 0) {
    for (std::size_t k = thread_number(); k < count * size; k += thread_count()) {
      const Quotient at = divide(k, size);
      f(at.by, at.rest);
    }
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
  if (count > 1 && size < kOwnBlocks) {
    q.launch_for(count * size, each_kernel<F>, count, size, 0u, f);
    return;
  }
  const std::size_t share = count * size < kMany ? 256 : 1024;  // elements of a block
  const auto blocks = static_cast<unsigned>((size + share - 1) / share);
  q.launch(Grid{static_cast<unsigned>(blocks * count)}, each_kernel<F>, count, size, blocks, f);
}

/// Whether tensors lie side by side, so that they are one.
template <class... T>
bool side_by_side(const Many<T>&... m) {
  return ((m.each == nullptr) && ...);
}
inline bool side_by_side(const Targets& t) { return !t.first && !t.to.each; }

// Each result is the sum of count(r) numbers term(r, k). `lanes` of a block, a power of two, work
// on as many results; the others share out the terms of these.
template <class N, class T, class D>
__global__ void sums_kernel(std::size_t results, unsigned lanes, N count, T term, D done) {
  DYNET_SHARED(double, part, 256);
  const unsigned lane = threadIdx.x % lanes, slice = threadIdx.x / lanes;
  const unsigned slices = blockDim.x / lanes;
  for (std::size_t first = std::size_t{blockIdx.x} * lanes; first < results;
       first += std::size_t{gridDim.x} * lanes) {
    const std::size_t r = first + lane;
    double sum = 0;
    if (r < results)
      for (std::size_t k = slice, n = count(r); k < n; k += slices) sum += term(r, k);
    if (slices > 1) {
      __syncthreads();  // the last results were read
      part[threadIdx.x] = sum;
      for (unsigned half = slices / 2; half > 0; half /= 2) {
        __syncthreads();
        if (slice < half) part[threadIdx.x] += part[threadIdx.x + half * lanes];
      }
      sum = part[threadIdx.x];
    }
    if (slice == 0 && r < results) done(r, sum);
  }
}

/// done(r, sum) for the sum of count(r) numbers term(r, k), about `terms` of them. `neighbours`:
/// terms of neighbouring results lie side by side in memory, not those of one result. Sums are made
/// in double, in an order that is always the same.
template <class N, class T, class D>
void sums(Queue& q, std::size_t results, std::size_t terms, bool neighbours, N count, T term,
          D done) {
  constexpr std::size_t kFew = 16, kLong = 256, kMany = std::size_t{1} << 17;
  const bool along = !neighbours && terms >= kLong;
  const unsigned lanes = along ? 1 : terms <= kFew || results >= kMany ? 256 : 8;
  q.launch(Grid{static_cast<unsigned>((results + lanes - 1) / lanes)}, sums_kernel<N, T, D>,
           results, lanes, count, term, done);
}

/// The same with `terms` terms each.
template <class T, class D>
void sums(Queue& q, std::size_t results, std::size_t terms, bool neighbours, T term, D done) {
  sums(
      q, results, terms, neighbours, [=] __device__(std::size_t) { return terms; }, term, done);
}

/// Gradients of `size` elements at each place: the sum of term(node, e, r) over the nodes of the
/// place and r below `repeats`, which are few.
template <class T>
void few_gradients(Queue& q, const Targets& t, std::size_t size, std::size_t repeats, T term) {
  for_each(q, t.count, size, [=] __device__(std::size_t j, std::size_t e) {
    float sum = 0;
    for (std::uint32_t m = t.begin(j); m < t.end(j); ++m)
      for (std::size_t r = 0; r < repeats; ++r) sum += term(t.node(m), e, r);
    t.put(j, e, sum);
  });
}

/// The same where they may be many; there are `nodes` nodes in all.
template <class T>
void sum_gradients(Queue& q, const Targets& t, std::size_t nodes, std::size_t size,
                   std::size_t repeats, bool neighbours, T term) {
  constexpr std::size_t kFew = 16;
  if (t.count == 0) return;
  const std::size_t terms = (nodes + t.count - 1) / t.count * repeats;
  if (terms <= kFew) {
    few_gradients(q, t, size, repeats, term);
    return;
  }
  sums(
      q, t.count * size, terms, neighbours,
      [=] __device__(std::size_t k) {
        const std::size_t j = divide(k, size).by;
        return (t.end(j) - t.begin(j)) * repeats;
      },
      [=] __device__(std::size_t k, std::size_t n) {
        const Quotient place = divide(k, size), at = divide(n, repeats);
        const auto m = static_cast<std::uint32_t>(t.begin(place.by) + at.by);
        return term(t.node(m), place.rest, at.rest);
      },
      [=] __device__(std::size_t k, double sum) {
        const Quotient place = divide(k, size);
        t.put(place.by, place.rest, static_cast<float>(sum));
      });
}

/// Gradients of operand k, to each element of which a node gives term(node, e).
template <class T>
void each_gradient(Queue& q, const GradientBatch<float>& b, std::size_t k, T term) {
  few_gradients(
      q, q.targets(b, k), b.dim(k).size(), 1,
      [=] __device__(std::uint32_t node, std::size_t e, std::size_t) { return term(node, e); });
}

}  // namespace dynet::cuda
