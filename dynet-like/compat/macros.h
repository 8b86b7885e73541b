#pragma once

// DyNet's macros for errors in a program's own code. They throw what they throw in DyNet; what the
// library itself throws is in base/errors.h.

#include <limits>
#include <sstream>
#include <stdexcept>

#include "dynet-like/shape/dim.h"

#define DYNET_MAX_TENSOR_DIM ::dynet::kMaxTensorDim
/// The least probability of which `binary_log_loss` takes the logarithm.
#define DYNET_DEVICE_MIN ::std::numeric_limits<float>::min()

#define DYNET_COMPAT_THROW_(type, what) \
  do {                                  \
    std::ostringstream dynet_compat_s;  \
    dynet_compat_s << what;             \
    throw type(dynet_compat_s.str());   \
  } while (0)

/// Throws std::invalid_argument with a message that may contain `<<`.
#define DYNET_INVALID_ARG(what) DYNET_COMPAT_THROW_(std::invalid_argument, what)
/// The same unless the condition holds.
#define DYNET_ARG_CHECK(condition, what) \
  do {                                   \
    if (!(condition)) {                  \
      DYNET_INVALID_ARG(what);           \
    }                                    \
  } while (0)
/// Throws std::runtime_error.
#define DYNET_RUNTIME_ERR(what) DYNET_COMPAT_THROW_(std::runtime_error, what)
/// Throws std::runtime_error unless the condition holds, always: DyNet looks only if it was built
/// with assertions.
#define DYNET_ASSERT(condition, what) \
  do {                                \
    if (!(condition)) {               \
      DYNET_RUNTIME_ERR(what);        \
    }                                 \
  } while (0)
#define DYNET_NO_CUDA_IMPL_ERROR(name) \
  DYNET_COMPAT_THROW_(::dynet::cuda_not_implemented, name << " is not implemented for CUDA")

namespace dynet {

/// DyNet's errors of code for GPUs. The library throws neither.
struct cuda_not_implemented : std::logic_error {
  using std::logic_error::logic_error;
};
struct cuda_exception : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dynet
