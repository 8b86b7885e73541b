#pragma once

#include <stdexcept>

namespace program {

/// Request of the user that makes no sense, as one sentence that can be shown as it is.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace program
