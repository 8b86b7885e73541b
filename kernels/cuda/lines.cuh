#pragma once

// Loops over lines of tensors, several threads to a line.

#include "kernels/cpu/along.h"
#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {

/// The threads that work on a line together, a warp or a block.
struct Team {
  unsigned lane, size;

  /// f over the values of all of them, in each; all must call.
  template <class F>
  __device__ float over(float v, F f) const {
    return size == kWarp ? over_warp(v, f) : over_block(v, f);
  }
};

/// A tensor seen along one of its dimensions, as cpu::Along.
struct Lines {
  std::size_t inner, size, lines;

  Lines(const Dim& dim, std::size_t d) {
    const cpu::Along a(dim, d);
    inner = a.inner, size = a.size, lines = a.lines(dim.bd);
  }
  /// Where a line begins; its elements follow `inner` apart.
  DYNET_DEVICE std::size_t first(std::size_t line) const {
    if (inner == 1) return line * size;
    const Quotient at = divide(line, inner);
    return at.by * size * inner + at.rest;
  }
  /// The line of an element, and its number there.
  struct Place {
    std::size_t line, number;
  };
  DYNET_DEVICE Place of(std::size_t e) const {
    const Quotient at = divide(e, size * inner), in = divide(at.rest, inner);
    return {at.by * inner + in.rest, in.by};
  }
};

template <class F>
__global__ void lines_kernel(std::size_t lines, bool blocks, F f) {
  const unsigned size = blocks ? blockDim.x : kWarp;
  const Team team{threadIdx.x % size, size};
  for (std::size_t k = thread_number() / size; k < lines; k += thread_count() / size) f(team, k);
}

/// f(team, k) for `lines` lines of about `length` elements; the whole team calls.
template <class F>
void for_lines(Queue& q, std::size_t lines, std::size_t length, F f) {
  constexpr std::size_t kLong = 512;
  const bool blocks = length > kLong;
  q.launch_for(lines * (blocks ? 256 : kWarp), lines_kernel<F>, lines, blocks, f);
}

/// f(team, node, line) for the lines of all nodes of a batch.
template <class F>
void for_lines_of(Queue& q, const Batch<float>& b, std::size_t lines, std::size_t length, F f) {
  for_lines(q, b.count * lines, length, [=] __device__(const Team& team, std::size_t k) {
    const Quotient at = divide(k, lines);
    f(team, at.by, at.rest);
  });
}

/// Where the gradient of a line goes: the first node's part is put there, others are added.
struct LineWriter {
  const Targets& to;
  std::size_t place;
  bool more;

  __device__ void operator()(std::size_t e, float v) const {
    if (more)
      to.to[place][e] += v;
    else
      to.put(place, e, v);
  }
};

/// Gradients of the lines at each place: f(team, node, line of the result, write) for the nodes of
/// the place in their order. Each line of a place is that of `repeats` lines of the result, as many
/// lines apart as a place has. f calls write(e, v) once for each element of the line, e counted in
/// the whole operand, always in the same thread.
template <class F>
void line_gradients(Queue& q, const Targets& t, std::size_t lines, std::size_t length,
                    std::size_t repeats, F f) {
  for_lines(q, t.count * lines, length, [=] __device__(const Team& team, std::size_t k) {
    const Quotient at = divide(k, lines);
    bool more = false;
    for (std::uint32_t m = t.begin(at.by); m < t.end(at.by); ++m)
      for (std::size_t r = 0; r < repeats; ++r) {
        f(team, t.node(m), at.rest + r * lines, LineWriter{t, at.by, more});
        more = true;
      }
  });
}

}  // namespace dynet::cuda
