#include "kernels/cuda/queue.h"

#include <algorithm>
#include <utility>

namespace dynet::cuda {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;

struct Fetch {
  void* to;
  const void* from;
  std::size_t bytes;
};
void fetch_now(Driver& driver, void* work) {
  const Fetch& f = *static_cast<const Fetch*>(work);
  driver.fetch(f.to, f.from, f.bytes);
}
void multiply_now(Driver& driver, void* work) { driver.multiply(*static_cast<Product*>(work)); }

}  // namespace

Queue::Queue(std::unique_ptr<Driver> driver)
    : driver_(std::move(driver)), temporaries_(driver_->memory()) {}

Queue::~Queue() {
  for (const auto& half : chunks_)
    for (const Chunk& c : half) {
      driver_->memory()->free(c.device);  // waits, so that nothing is copied any more
      driver_->free_pinned(c.host);
    }
}

void* Queue::stage_bytes(std::size_t bytes) {
  bytes = (bytes + kBorder - 1) / kBorder * kBorder;
  std::vector<Chunk>& all = chunks_[half_];
  while (chunk_ < all.size() && all[chunk_].size - all[chunk_].used < bytes) ++chunk_;
  if (chunk_ == all.size()) {
    const std::size_t size = std::max(all.empty() ? kChunk : 2 * all.back().size, bytes);
    all.reserve(all.size() + 1);
    auto* const host = static_cast<std::byte*>(driver_->allocate_pinned(size));
    try {
      all.push_back({host, static_cast<std::byte*>(driver_->memory()->allocate(size)), size, 0});
    } catch (...) {
      driver_->free_pinned(host);
      throw;
    }
  }
  Chunk& c = all[chunk_];
  return c.host + std::exchange(c.used, c.used + bytes);
}

const std::byte* Queue::find(const std::byte* staged) const {
  std::size_t c = chunk_;
  while (c > 0 && !(staged >= chunks_[half_][c].host &&
                    staged < chunks_[half_][c].host + chunks_[half_][c].size))
    --c;
  const Chunk& chunk = chunks_[half_][c];
  return chunk.device + (staged - chunk.host);
}

float* Queue::temporary(std::size_t n) {
  if (first_temporary_.used == 0) {
    temporaries_.allocate(1);
    first_temporary_ = temporaries_.mark();
  }
  return temporaries_.allocate_array<float>(n);
}

void Queue::multiply(const Product& p) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  commands_.push_back({multiply_now, new (memory_.allocate(sizeof p)) Product(p)});
}

void Queue::fetch(void* to, const void* from, std::size_t bytes) {
  commands_.push_back({fetch_now, new (memory_.allocate(sizeof(Fetch))) Fetch{to, from, bytes}});
}

Many<float> Queue::many(float* const* p, std::size_t n, std::size_t size) {
  if (n == 0 || Batch<float>::contiguous(p, n, size)) return {n ? p[0] : nullptr, size, nullptr};
  return {nullptr, 0, send(p, n)};
}

Many<const float> Queue::many(const float* const* p, std::size_t n, std::size_t size) {
  const Many<float> m = many(const_cast<float* const*>(p), n, size);
  return {m.first, m.step, m.each};
}

Targets Queue::targets(const GradientBatch<float>& b, std::size_t k) {
  return targets(b.d_ins + k * b.count, b.writes + k * b.count, b.count, b.dim(k).size());
}

// Whether a place is there twice. A table with open addressing: sorting takes several times as
// long.
bool Queue::repeats() {
  std::size_t bits = 4;
  while (std::size_t{1} << bits < 2 * order_.size()) ++bits;
  places_.assign(std::size_t{1} << bits, nullptr);
  for (const auto& [place, node] : order_) {
    std::size_t at =
        (reinterpret_cast<std::uintptr_t>(place) / 16 * 0x9e3779b97f4a7c15u) >> (64 - bits);
    while (places_[at] && places_[at] != place) at = (at + 1) % places_.size();
    if (places_[at]) return true;
    places_[at] = place;
  }
  return false;
}

Targets Queue::targets(float* const* p, const Write* writes, std::size_t n, std::size_t size) {
  order_.clear();
  bool different = true, stores = false, adds = false;
  for (std::size_t i = 0; i < n; ++i)
    if (p[i]) {
      (writes[i] == Write::store ? stores : adds) = true;
      order_.emplace_back(p[i], static_cast<std::uint32_t>(i));
    }
  Targets t{order_.size(), {}, nullptr, nullptr, nullptr, adds};
  if (order_.empty()) return t;
  // A place that is written twice is added to the second time.
  if (adds && repeats()) {
    std::sort(order_.begin(), order_.end());
    different = false;
  }
  if (different && order_.size() == n && !(stores && adds)) {
    t.to = many(p, n, size);
    return t;
  }
  std::uint32_t* const nodes = stage<std::uint32_t>(2 * n + 1);
  std::uint32_t* const first = nodes + n;
  t.nodes = on_device(nodes);
  t.first = on_device(first);
  std::uint8_t* const add = stage<std::uint8_t>(n);
  t.adds = on_device(add);
  float** const to = stage<float*>(n);
  t.to = {nullptr, 0, on_device(to)};
  t.count = 0;
  for (std::size_t m = 0; m < order_.size(); ++m) {
    const auto [place, node] = order_[m];
    nodes[m] = node;
    if (m > 0 && place == order_[m - 1].first) continue;
    first[t.count] = static_cast<std::uint32_t>(m);
    add[t.count] = writes[node] != Write::store;
    to[t.count++] = place;
  }
  first[t.count] = static_cast<std::uint32_t>(order_.size());
  return t;
}

void Queue::flush() {
  std::vector<Chunk>& all = chunks_[half_];
  if (commands_.empty() && chunk_ == 0 && (all.empty() || all[0].used == 0)) return;
  for (std::size_t c = 0; c < all.size() && c <= chunk_; ++c) {
    if (all[c].used > 0) driver_->upload(all[c].device, all[c].host, all[c].used);
    all[c].used = 0;
  }
  // A command that fails is not tried again.
  PodVector<Command> commands = std::exchange(commands_, {});
  try {
    for (const Command& c : commands) c.run(*driver_, c.work);
  } catch (...) {
    memory_.reset();
    throw;
  }
  commands.clear();
  commands_ = std::move(commands);
  memory_.reset();
  driver_->mark(half_);
  half_ = 1 - half_;
  chunk_ = 0;
  driver_->wait(half_);  // what was sent from it has arrived, and may be written over
}

void Queue::read(float* to, const float* from, std::size_t n) {
  flush();
  driver_->download(to, from, n * sizeof(float));
}

}  // namespace dynet::cuda
