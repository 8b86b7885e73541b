#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace dynet {

/// XXH64 with seed 0 (Collet 2014, https://xxhash.com) of bytes that come in pieces.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::string_view bytes);
  /// Checksum of all bytes added.
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of bytes that are there at once.
std::uint64_t checksum(std::string_view bytes);

}  // namespace dynet
