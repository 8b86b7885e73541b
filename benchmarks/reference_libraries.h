#pragma once

// Libraries to compare with, if they are installed.
#ifdef BENCH_XSMM
#include <libxsmm.h>
#endif
#ifdef BENCH_DNNL
#include <omp.h>

#include <dnnl.hpp>
#endif

namespace bench {

/// Limits oneDNN to one thread.
inline void use_one_thread() {
#ifdef BENCH_DNNL
  omp_set_num_threads(1);
#endif
}

}  // namespace bench
