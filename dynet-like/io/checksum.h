#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace dynet {

/// Incremental XXH64 with seed 0 (Collet 2014, https://xxhash.com).
class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::string_view bytes);
  /// Checksum of all bytes added so far.
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// XXH64 with seed 0 of a string of bytes.
std::uint64_t checksum(std::string_view bytes);

}  // namespace dynet
