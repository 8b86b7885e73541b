#include "kernels/cuda/queue.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
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
void factor_now(Driver& driver, void* work) { driver.factor(*static_cast<Factorization*>(work)); }
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

/// Zeroed memory: padding between members of arguments could contain stale host pointers, which the
/// emulation would mistake for arguments.
void* Queue::allocate_command(std::size_t bytes) {
  return std::memset(memory_.allocate(bytes), 0, bytes);
}

void* Queue::stage_bytes(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!half_free_) {  // waits until its upload is complete
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
  std::byte* const p = c.host + std::exchange(c.used, c.used + bytes);
  if (driver_->checks())
    std::memset(p, 0xff, bytes);  // old bytes next to a number could look like a pointer
  return p;
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

// Throws if some of the n items of a staged list, of `size` numbers each, overlap.
template <class T>
void Queue::check_apart(T* const* list, std::size_t n, std::size_t size) const {
  if (!list || !driver_->checks()) return;
  const auto* const at = reinterpret_cast<const std::byte*>(list);
  for (const Chunk& c : chunks_[half_]) {
    if (at < c.device || at >= c.device + c.size) continue;
    std::vector<const T*> sorted(n);
    std::memcpy(sorted.data(), c.host + (at - c.device), n * sizeof(T*));
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < n; ++i)
      if (sorted[i] < sorted[i - 1] + size)
        throw DeviceError("two results of a list of " + std::to_string(n) + " matrices overlap");
    return;
  }
  throw DeviceError("a list of matrices was not staged");
}

void Queue::multiply(const Product& p) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  check_apart(p.each_c, static_cast<std::size_t>(p.batch),
              static_cast<std::size_t>(p.ldc) * static_cast<std::size_t>(p.n - 1) +
                  static_cast<std::size_t>(p.m));
  auto* const kept = new (memory_.allocate(sizeof p)) Product(p);
  kept->precision = precision_;
  commands_.push_back({multiply_now, kept});
}

void Queue::factor(const Factorization& f) {
  if (f.n == 0 || f.count == 0) return;
  for (float* const* results : {f.matrices, f.inverses})
    check_apart(results, static_cast<std::size_t>(f.count),
                static_cast<std::size_t>(f.n) * static_cast<std::size_t>(f.n));
  commands_.push_back({factor_now, new (memory_.allocate(sizeof f)) Factorization(f)});
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

// Builds a list of targets with their nodes.
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

GradientTargets Queue::targets(float* const* p, const Write* writes, std::size_t n,
                               std::size_t size, std::size_t most) {
  std::size_t needed = 0, stores = 0;
  for (std::size_t i = 0; i < n; ++i) {
    needed += p[i] != nullptr;
    stores += p[i] != nullptr && writes[i] == Write::store;
  }
  const bool adds = stores < needed;
  GradientTargets all{{needed, {}, nullptr, nullptr, nullptr, adds}, 1, {}, 0, {}};
  if (needed == 0) return all;
  // A target that occurs twice must be added to the second time.
  const bool different = !adds || std::adjacent_find(p, p + n, std::greater_equal<>()) == p + n ||
                         groups_.number(p, n) == needed;
  if (different && needed == n) {
    all.first.to = many(p, n, size);
    if (stores > 0 && adds) {
      std::uint8_t* const add = stage<std::uint8_t>(n);
      std::transform(writes, writes + n, add, [](Write w) { return w != Write::store; });
      all.first.adds = on_device(add);
    }
    return all;
  }
  if (different) {
    TargetList list(*this, needed, needed);
    for (std::size_t i = 0; i < n; ++i) {
      if (!p[i]) continue;
      list.add_target(p[i], writes[i] != Write::store);
      list.node(static_cast<std::uint32_t>(i));
    }
    all.first = list.done();
    return all;
  }
  groups_.list_items();
  std::size_t sums = 0, shared = 0;
  for (std::size_t t = 0; t < groups_.size(); ++t) {
    const std::size_t nodes = groups_.items(t).size(), parts = (nodes + most - 1) / most;
    all.most = std::max(all.most, std::min(nodes, most));
    if (parts == 1) continue;
    all.most_sums = std::max(all.most_sums, parts);
    sums += parts;
    ++shared;
  }
  float* const values = shared > 0 ? temporary(sums * size) : nullptr;
  all.sums = {values, size, nullptr};
  TargetList first(*this, groups_.size() - shared + sums, needed), then(*this, shared, sums);
  std::uint32_t sum = 0;
  for (std::size_t t = 0; t < groups_.size(); ++t) {
    const std::span<const std::uint32_t> nodes = groups_.items(t);
    const bool add = writes[nodes[0]] != Write::store, in_parts = nodes.size() > most;
    (in_parts ? then : first).add_target(groups_.target(t), add);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (in_parts && k % most == 0) {
        first.add_target(values + sum * size, false);
        then.node(sum++);
      }
      first.node(nodes[k]);
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
    forget();  // no retry
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
  last_ = {};  // commands that have run cannot be removed
}

void Queue::upload() {
  started_ = true;
  std::vector<Chunk>& all = chunks_[half_];
  for (std::size_t c = 0; c < all.size() && c <= chunk_; ++c)
    if (const std::size_t first = std::exchange(all[c].sent, all[c].used); first < all[c].used)
      driver_->upload(all[c].device + first, all[c].host + first, all[c].used - first);
}

void Queue::run() {
  std::size_t done = 0;
  const auto run_until = [&](std::size_t end) {
    for (; done < end; ++done) commands_[done].run(*driver_, commands_[done].work);
  };
  for (const Poison& p : poisons_) {
    run_until(p.command);
    driver_->poison(p.p, p.bytes);
  }
  run_until(commands_.size());
  poisons_.clear();
}

void Queue::rewind(Arena& arena, Arena::Mark to) {
  if (driver_->checks())
    arena.each_block_since(to, [&](void* p, std::size_t bytes) {
      if (commands_.empty()) return driver_->poison(p, bytes);
      poisons_.push_back({commands_.size(), p, bytes});
    });
  arena.rewind(to);
}

// Switches the halves of the double buffer; a half is reused after its upload.
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
  poisons_.clear();
  last_ = {};
  named_.clear();
  rewind(kept_, {});
  memory_.reset();
}

void Queue::forget() {
  if (!started_) return clear();
  try {  // some commands were started
    driver_->mark(half_);
    driver_->mark(kDone);
  } catch (const Error&) {  // only the first error is reported
  }
  start_round();
}

void Queue::write_after(std::shared_ptr<const Mark>& writer) {
  std::shared_ptr<const Mark> mine = driver_->marked(kDone);
  if (writer == mine) return;
  if (writer) {
    driver_->wait_for(*writer);
    driver_->mark(kDone);  // after the wait, even if this queue never writes
  }
  writer = std::move(mine);
}

void Queue::read(float* to, const float* from, std::size_t n) {
  flush();
  driver_->download(to, from, n * sizeof(float));
}

}  // namespace dynet::cuda
