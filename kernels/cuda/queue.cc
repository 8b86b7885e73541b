#include "kernels/cuda/queue.h"

#include <algorithm>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet::cuda {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};
void fetch_now(Driver& driver, void* work) {
  const Copy& c = *static_cast<const Copy*>(work);
  driver.fetch(c.to, c.from, c.bytes);
}
void copy_now(Driver& driver, void* work) {
  const Copy& c = *static_cast<const Copy*>(work);
  driver.copy(c.to, c.from, c.bytes);
}
void multiply_now(Driver& driver, void* work) { driver.multiply(*static_cast<Product*>(work)); }

}  // namespace

Queue::Queue(std::unique_ptr<Driver> driver)
    : driver_(std::move(driver)), temporaries_(driver_->memory()), kept_(driver_->memory()) {}

Queue::~Queue() {
  for (const auto& half : chunks_)
    for (const Chunk& c : half) {
      driver_->free_pinned(c.host);
      driver_->memory()->free(c.device);
    }
}

void* Queue::stage_bytes(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!half_free_) {  // what was sent from it has arrived then, and may be written over
    driver_->wait(half_);
    half_free_ = true;
  }
  std::vector<Chunk>& all = chunks_[half_];
  while (chunk_ < all.size() && all[chunk_].size - all[chunk_].used < bytes) ++chunk_;
  if (chunk_ == all.size()) {
    const std::size_t size = std::max(all.empty() ? kChunk : 2 * all.back().size, bytes);
    all.reserve(all.size() + 1);
    auto* const host = static_cast<std::byte*>(driver_->allocate_pinned(size));
    try {
      all.push_back({host, static_cast<std::byte*>(driver_->memory()->allocate(size)), size, 0, 0});
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

Queue::Kept Queue::kept(std::span<const float* const> key, std::size_t n) {
  for (const Named& k : named_)
    if (std::equal(k.key.begin(), k.key.end(), key.begin(), key.end())) return {k.p, false};
  auto* const name = memory_.allocate_array<const float*>(key.size());
  std::copy(key.begin(), key.end(), name);
  named_.push_back({{name, key.size()}, kept_.allocate_array<float>(n)});
  return {named_.back().p, true};
}

void Queue::multiply(const Product& p) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  auto* const kept = new (memory_.allocate(sizeof p)) Product(p);
  kept->precision = precision_;
  commands_.push_back({multiply_now, kept});
}

void Queue::fetch(void* to, const void* from, std::size_t bytes) {
  commands_.push_back({fetch_now, new (memory_.allocate(sizeof(Copy))) Copy{to, from, bytes}});
}

void Queue::copy(void* to, const void* from, std::size_t bytes) {
  commands_.push_back({copy_now, new (memory_.allocate(sizeof(Copy))) Copy{to, from, bytes}});
}

TensorArray<float> Queue::many(float* const* p, std::size_t n, std::size_t size) {
  if (n == 0 || Batch<float>::contiguous(p, n, size)) return {n ? p[0] : nullptr, size, nullptr};
  return {nullptr, 0, send(p, n)};
}

TensorArray<const float> Queue::many(const float* const* p, std::size_t n, std::size_t size) {
  const TensorArray<float> m = many(const_cast<float* const*>(p), n, size);
  return {m.first, m.step, m.each};
}

// Targets, target after target, each with its nodes.
class Queue::TargetList {
 public:
  TargetList(Queue& q, std::size_t targets, std::size_t nodes)
      : nodes_(q.stage<std::uint32_t>(nodes)),
        first_(q.stage<std::uint32_t>(targets + 1)),
        adds_(q.stage<std::uint8_t>(targets)),
        to_(q.stage<float*>(targets)),
        targets_{0,
                 {nullptr, 0, q.on_device(to_)},
                 q.on_device(first_),
                 q.on_device(nodes_),
                 q.on_device(adds_),
                 false} {}
  void add_target(float* to, bool add) {
    first_[targets_.count] = used_;
    adds_[targets_.count] = add;
    to_[targets_.count++] = to;
  }
  void node(std::uint32_t number) { nodes_[used_++] = number; }
  Targets done() {
    first_[targets_.count] = used_;
    return targets_;
  }

 private:
  std::uint32_t *nodes_, *first_;
  std::uint8_t* adds_;
  float** to_;
  Targets targets_;
  std::uint32_t used_ = 0;
};

// Whether a target is there twice. A table with open addressing: sorting takes several times as
// long.
bool Queue::repeats() {
  std::size_t bits = 4;
  while (std::size_t{1} << bits < 2 * order_.size()) ++bits;
  targets_.assign(std::size_t{1} << bits, nullptr);
  for (const auto& [target, node] : order_) {
    std::size_t at =
        (reinterpret_cast<std::uintptr_t>(target) / 16 * 0x9e3779b97f4a7c15u) >> (64 - bits);
    while (targets_[at] && targets_[at] != target) at = (at + 1) % targets_.size();
    if (targets_[at]) return true;
    targets_[at] = target;
  }
  return false;
}

GradientTargets Queue::targets(float* const* p, const Write* writes, std::size_t n,
                               std::size_t size, std::size_t most) {
  order_.clear();
  bool different = true, stores = false, adds = false;
  for (std::size_t i = 0; i < n; ++i)
    if (p[i]) {
      (writes[i] == Write::store ? stores : adds) = true;
      order_.emplace_back(p[i], static_cast<std::uint32_t>(i));
    }
  GradientTargets all{{order_.size(), {}, nullptr, nullptr, nullptr, adds}, 1, {}, 0, {}};
  if (order_.empty()) return all;
  // A target that is written twice is added to the second time.
  if (adds && repeats()) {
    std::sort(order_.begin(), order_.end());
    different = false;
  }
  if (different && order_.size() == n) {
    all.first.to = many(p, n, size);
    if (stores && adds) {
      std::uint8_t* const add = stage<std::uint8_t>(n);
      std::transform(writes, writes + n, add, [](Write w) { return w != Write::store; });
      all.first.adds = on_device(add);
    }
    return all;
  }
  const auto end_of = [&](std::size_t m) {  // of the nodes that share the target of number m
    std::size_t end = m + 1;
    while (end < order_.size() && order_[end].first == order_[m].first) ++end;
    return end;
  };
  std::size_t sums = 0, shared = 0;
  for (std::size_t m = 0; m < order_.size(); m = end_of(m)) {
    const std::size_t nodes = end_of(m) - m, parts = (nodes + most - 1) / most;
    all.most = std::max(all.most, std::min(nodes, most));
    if (parts == 1) continue;
    all.most_sums = std::max(all.most_sums, parts);
    sums += parts;
    ++shared;
  }
  float* const values = shared > 0 ? temporary(sums * size) : nullptr;
  all.sums = {values, size, nullptr};
  TargetList first(*this, order_.size(), order_.size()), then(*this, shared, sums);
  std::uint32_t sum = 0;
  for (std::size_t m = 0, end = 0; m < order_.size(); m = end) {
    end = end_of(m);
    const bool add = writes[order_[m].second] != Write::store, in_parts = end - m > most;
    (in_parts ? then : first).add_target(order_[m].first, add);
    for (std::size_t k = m; k < end; ++k) {
      if (in_parts && (k - m) % most == 0) {
        first.add_target(values + sum * size, false);
        then.node(sum++);
      }
      first.node(order_[k].second);
    }
  }
  all.first = first.done();
  all.then = then.done();
  return all;
}

void Queue::flush() {
  const std::vector<Chunk>& all = chunks_[half_];
  if (!started_ && commands_.empty() && chunk_ == 0 && (all.empty() || all[0].used == 0)) return;
  try {
    upload();
    driver_->mark(half_);
    run();
    driver_->mark(kDone);
  } catch (...) {
    forget();  // it is not tried again
    throw;
  }
  start_round();
}

void Queue::start_early() {
  constexpr std::size_t kMany = 64;
  const bool may_grow = last_.kind && last_.commands == commands_.size();
  if (commands_.size() < (may_grow ? 2 * kMany : kMany)) return;
  upload();
  run();
  commands_.clear();
}

void Queue::upload() {
  started_ = true;
  std::vector<Chunk>& all = chunks_[half_];
  for (std::size_t c = 0; c < all.size() && c <= chunk_; ++c)
    if (const std::size_t first = std::exchange(all[c].sent, all[c].used); first < all[c].used)
      driver_->upload(all[c].device + first, all[c].host + first, all[c].used - first);
}

void Queue::run() {
  for (const Command& c : commands_) c.run(*driver_, c.work);
}

// What was sent is not written over before it has arrived.
void Queue::start_round() {
  clear();
  half_ = 1 - half_;
  half_free_ = false;
  started_ = false;
}

void Queue::clear() {
  for (Chunk& c : chunks_[half_]) c.used = c.sent = 0;
  chunk_ = 0;
  commands_.clear();
  last_ = {};
  named_.clear();
  kept_.reset();
  memory_.reset();
}

void Queue::forget() {
  if (!started_) return clear();
  try {  // a part is on its way
    driver_->mark(half_);
    driver_->mark(kDone);
  } catch (const Error&) {  // the first one is told
  }
  start_round();
}

void Queue::write_after(std::shared_ptr<const Mark>& writer) {
  std::shared_ptr<const Mark> mine = driver_->marked(kDone);
  if (writer == mine) return;
  if (writer) {
    driver_->wait_for(*writer);
    driver_->mark(kDone);  // behind what it waits for, if it never writes
  }
  writer = std::move(mine);
}

void Queue::read(float* to, const float* from, std::size_t n) {
  flush();
  driver_->download(to, from, n * sizeof(float));
}

}  // namespace dynet::cuda
