#include "dynet-like/io/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "dynet-like/io/bytes.h"

namespace dynet {
namespace {

constexpr std::uint64_t kP1 = 0x9e3779b185ebca87u, kP2 = 0xc2b2ae3d27d4eb4fu,
                        kP3 = 0x165667b19e3779f9u, kP4 = 0x85ebca77c2b2ae63u,
                        kP5 = 0x27d4eb2f165667c5u;

std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kP2, 31) * kP1;
}

std::uint64_t word_at(const char* p) {
  if constexpr (std::endian::native == std::endian::little) {
    std::uint64_t x;
    std::memcpy(&x, p, sizeof x);
    return x;
  } else {
    return io_detail::get_number<std::uint64_t>(p);
  }
}

}  // namespace

void Checksum::add(const char* bytes, std::size_t n) {
  const std::size_t held = total_ % kStripe;
  total_ += n;
  const auto take = [this](const char* p) {
    for (std::size_t k = 0; k < 4; ++k) lanes_[k] = round(lanes_[k], word_at(p + 8 * k));
  };
  if (held > 0) {
    const std::size_t more = std::min(n, kStripe - held);
    std::memcpy(rest_ + held, bytes, more);
    if (held + more < kStripe) return;
    take(rest_);
    bytes += more;
    n -= more;
  }
  for (; n >= kStripe; bytes += kStripe, n -= kStripe) take(bytes);
  if (n > 0) std::memcpy(rest_, bytes, n);
}

std::uint64_t Checksum::value() const {
  std::uint64_t h = kP5;
  if (total_ >= kStripe) {
    h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
        std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) h = (h ^ round(0, lane)) * kP1 + kP4;
  }
  h += total_;
  const char* p = rest_;
  std::size_t n = total_ % kStripe;
  for (; n >= 8; p += 8, n -= 8) h = std::rotl(h ^ round(0, word_at(p)), 27) * kP1 + kP4;
  if (n >= 4) {
    h = std::rotl(h ^ (io_detail::get_number<std::uint32_t>(p) * kP1), 23) * kP2 + kP3;
    p += 4;
    n -= 4;
  }
  for (; n > 0; ++p, --n) h = std::rotl(h ^ (static_cast<unsigned char>(*p) * kP5), 11) * kP1;
  h = (h ^ (h >> 33)) * kP2;
  h = (h ^ (h >> 29)) * kP3;
  return h ^ (h >> 32);
}

std::uint64_t checksum(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

}  // namespace dynet
