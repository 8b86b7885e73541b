#pragma once

// DyNet's macros for errors in a program's own code; exception types are DyNet's. Exceptions of the
// library are in base/errors.h.

#include <limits>
#include <sstream>
#include <stdexcept>

#include "dynet-like/shape/dim.h"

#define DYNET_MAX_TENSOR_DIM ::dynet::kMaxTensorDim
/// Lower bound of probabilities in the logarithm of `binary_log_loss`.
#define DYNET_DEVICE_MIN ::std::numeric_limits<float>::min()

#define DYNET_COMPAT_THROW_(type, what) \
  do {                                  \
    std::ostringstream dynet_compat_s;  \
    dynet_compat_s << what;             \
    throw type(dynet_compat_s.str());   \
  } while (0)

/// Throws std::invalid_argument with a message that may contain `<<`.
#define DYNET_INVALID_ARG(what) DYNET_COMPAT_THROW_(std::invalid_argument, what)
/// Throws std::invalid_argument unless the condition holds.
#define DYNET_ARG_CHECK(condition, what) \
  do {                                   \
    if (!(condition)) {                  \
      DYNET_INVALID_ARG(what);           \
    }                                    \
  } while (0)
/// Throws std::runtime_error.
#define DYNET_RUNTIME_ERR(what) DYNET_COMPAT_THROW_(std::runtime_error, what)
/// Throws std::runtime_error unless the condition holds, in all builds; DyNet checks only in builds
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

/// DyNet's errors of GPU code; the library does not throw them.
struct cuda_not_implemented : std::logic_error {
  using std::logic_error::logic_error;
};
struct cuda_exception : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dynet
