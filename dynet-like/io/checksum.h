#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dynet {

/// XXH64 with seed 0 (Collet 2014, https://xxhash.com) of bytes that come in pieces.
class Checksum {
 public:
  void add(const char* bytes, std::size_t n);
  void add(std::string_view bytes) { add(bytes.data(), bytes.size()); }
  /// Of all bytes so far.
  std::uint64_t value() const;

 private:
  static constexpr std::uint64_t kP1 = 0x9e3779b185ebca87u, kP2 = 0xc2b2ae3d27d4eb4fu;
  static constexpr std::size_t kStripe = 32;

  std::uint64_t lanes_[4] = {kP1 + kP2, kP2, 0, 0 - kP1};
  char rest_[kStripe] = {};  // total_ % kStripe of its bytes count
  std::uint64_t total_ = 0;
};

std::uint64_t checksum(std::string_view bytes);

}  // namespace dynet
