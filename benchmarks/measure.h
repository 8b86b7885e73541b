#pragma once

// Time measurement, and the calibrator that the programs print with their figures.
#include <time.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>

namespace bench {

/// CPU time of this thread in seconds.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Seconds of the wall clock.
inline double wall_clock() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Seconds of the fastest of `rounds` calls.
template <class F>
double fastest(int rounds, F&& f) {
  double best = 1e30;
  for (int r = 0; r < rounds; ++r) {
    const double start = now();
    f();
    best = std::min(best, now() - start);
  }
  return best;
}

/// Prevents the compiler from removing the computation of `x`.
template <class T>
void keep(const T& x) {
  asm volatile("" : : "r"(&x) : "memory");
}

/// The calibrator: the best GFLOP/s of C += A B on three 512 x 512 matrices, one thread. Figures
/// divided by it are comparable between similar machines.
inline double calibrator() {
  constexpr int kSize = 512, kProducts = 4;
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(kSize, kSize);
  const Eigen::MatrixXf b = Eigen::MatrixXf::Random(kSize, kSize);
  Eigen::MatrixXf c = Eigen::MatrixXf::Zero(kSize, kSize);
  const double seconds = fastest(30, [&] {
    for (int i = 0; i < kProducts; ++i) c.noalias() += a * b;
  });
  keep(c(0, 0));
  return 2e-9 * kProducts * kSize * kSize * kSize / seconds;
}

}  // namespace bench
