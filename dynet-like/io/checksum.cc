#include "dynet-like/io/checksum.h"

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

namespace dynet {

struct Checksum::State : XXH64_state_t {};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH64_reset(state_.get(), 0); }

Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) {
  if (!bytes.empty()) XXH64_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const { return XXH64_digest(state_.get()); }

std::uint64_t checksum(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

}  // namespace dynet
