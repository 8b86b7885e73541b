#pragma once

#include <stdexcept>

namespace program {

/// Invalid usage by the user, as a sentence to show.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace program
