#pragma once

// Data of a sentence for the sums over dependency trees.

#include "kernels/cuda/device.cuh"

namespace dynet::cuda {

struct LargestDouble {
  static __device__ double zero() { return -INFINITY; }
  __device__ double operator()(double a, double b) const { return a < b ? b : a; }
};

/// The logarithm of a number, and the derivative of the logarithm.
struct LogSlope {
  double log, d;
};
inline __device__ LogSlope log_zero() { return {-INFINITY, 0}; }
inline __device__ LogSlope plus(LogSlope a, LogSlope b) {
  if (a.log < b.log) {
    const LogSlope t = a;
    a = b, b = t;
  }
  if (b.log == -INFINITY) return a;
  const double r = exp(b.log - a.log);
  return {a.log + log1p(r), (a.d + r * b.d) / (1 + r)};
}
inline __device__ LogSlope times(LogSlope a, LogSlope b) {
  if (a.log == -INFINITY || b.log == -INFINITY) return log_zero();
  return {a.log + b.log, a.d + b.d};
}

/// Kind of derivatives, and their direction.
enum class Wanted : unsigned { probabilities, along_d_out, along_scores };

/// A sentence, which one block processes: its scores, its scratch, and the other inputs and outputs
/// of the operation.
struct TreeSentence {
  const float* arcs;
  double* sums;                    // of projective trees: tables of all spans
  double *mass, *slopes, *d_mass;  // of projective trees: tables of all spans
  LogSlope *weights, *steps, *reach, *levels;
  unsigned* taken;
  double *log_z, *p;  // p: {nodes, nodes}, probabilities or their derivatives
  const unsigned* heads;
  float* out;
  const float* d_out;
  unsigned nodes;
  unsigned single_root;
  unsigned possible;       // whether the heads form a tree
  std::size_t row, table;  // stride and size of DependencyTables

  DYNET_DEVICE std::size_t size() const { return std::size_t{nodes} * nodes; }
  __device__ double score(unsigned h, unsigned d) const {
    return static_cast<double>(arcs[std::size_t{d} * nodes + h]);
  }
  __device__ double direction(Wanted wanted, unsigned h, unsigned d) const {
    if (wanted == Wanted::probabilities) return 0;
    const std::size_t at = std::size_t{d} * nodes + h;
    if (wanted == Wanted::along_d_out) return static_cast<double>(d_out[at]);
    return fabsf(arcs[at]) < INFINITY ? static_cast<double>(arcs[at]) : 0;
  }
};

}  // namespace dynet::cuda
