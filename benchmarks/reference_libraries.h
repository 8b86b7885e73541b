#pragma once

// The libraries that ours is measured against, where they are installed.
#ifdef BENCH_XSMM
#include <libxsmm.h>
#endif
#ifdef BENCH_DNNL
#include <omp.h>

#include <dnnl.hpp>
#endif

namespace bench {

/// oneDNN has threads of its own; everything here is measured on one.
inline void use_one_thread() {
#ifdef BENCH_DNNL
  omp_set_num_threads(1);
#endif
}

}  // namespace bench
