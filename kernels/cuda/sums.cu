#include "kernels/cuda/loops.cuh"
#include "kernels/cuda/pieces.h"
#include "kernels/cuda/sums.h"

namespace dynet::cuda {
namespace {

struct Part {
  std::size_t n, count;
  unsigned each, first_piece;
  bool sorted;
  float* const* to;
  const float* const* parts;
};

// Of what is there, in the order given.
__device__ float sum_in_order(const float* const* parts, unsigned each, std::size_t e) {
  float sum = 0;
  bool first = true;
  for (unsigned k = 0; k < each; ++k)
    if (parts[k]) {
      sum = first ? parts[k][e] : sum + parts[k][e];
      first = false;
    }
  return sum;
}

// The same in the order of the bits: each round finds the next.
__device__ float sum_sorted(const float* const* parts, unsigned each, std::size_t e) {
  float sum = 0;
  int last = 0;
  for (unsigned round = 0, last_k = 0;; ++round) {
    unsigned next = each;
    int least = 0;
    for (unsigned k = 0; k < each; ++k) {
      if (!parts[k]) continue;
      const int bits = __float_as_int(parts[k][e]);
      const bool is_later = round == 0 || bits > last || (bits == last && k > last_k);
      if (!is_later || (next < each && bits >= least)) continue;
      least = bits;
      next = k;
    }
    if (next == each) return sum;
    sum = round == 0 ? parts[next][e] : sum + parts[next][e];
    last = least;
    last_k = next;
  }
}

__global__ void add_up_kernel(Pieces<Part> all) {
  begin_kernel();
  const Part p = all.parts[all.part_of[blockIdx.x]];
  const std::size_t begin = (blockIdx.x - p.first_piece) * kPiece, total = p.n * p.count;
  const std::size_t end = total < begin + kPiece ? total : begin + kPiece;
  for (std::size_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
    const Quotient at = divide(k, p.n);
    const float* const* const parts = p.parts + at.by * p.each;
    p.to[at.by][at.rest] =
        p.sorted ? sum_sorted(parts, p.each, at.rest) : sum_in_order(parts, p.each, at.rest);
  }
}

}  // namespace

void add_up(Queue& q, const std::vector<DeviceSums>& sums) {
  if (sums.empty()) return;
  Part* const parts = q.stage<Part>(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const DeviceSums& s = sums[i];
    parts[i] = {s.n,
                s.to.size(),
                static_cast<unsigned>(s.each),
                0,
                s.sorted,
                q.send(s.to.data(), s.to.size()),
                q.send(s.parts.data(), s.parts.size())};
  }
  const auto all = cut(q, parts, sums.size(),
                       [](const Part& p) { return (p.n * p.count + kPiece - 1) / kPiece; });
  q.launch(Grid{all.count}, add_up_kernel, all);
}

}  // namespace dynet::cuda
