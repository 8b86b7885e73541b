#include "dynet-like/param/gradients.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/thread_number.h"
#include "dynet-like/param/gradient_reader.h"

namespace dynet {
namespace {

// A device has memory to give in pages of this size, and each chunk costs a call.
constexpr std::size_t kDevicePage = std::size_t{1} << 21;

float* allocate_floats(std::size_t n, const std::shared_ptr<DeviceAllocator>& memory) {
  return static_cast<float*>(memory ? memory->allocate(n * sizeof(float))
                                    : allocate_zeroed(n * sizeof(float)));
}

void free_floats(float* p, const std::shared_ptr<DeviceAllocator>& memory) noexcept {
  if (!p) return;
  memory ? memory->free(p) : free_aligned(p);
}

void add(const GradientSlot& to, const float* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to.g[i] = to.written ? to.g[i] + from[i] : from[i];
}

// The CPU comes before all devices.
int device_of(const GradientBuffer& buffer) {
  return buffer.memory() ? buffer.memory()->number() : -1;
}

// The buffers that are added up.
struct Merge {
  std::vector<GradientBuffer*> buffers;
  bool in_order;  // they have numbers, and come in their order
  std::vector<const float*> parts;

  // Adds up what is not null and stores it in what `target` hands out.
  template <class Find, class Target>
  void operator()(std::size_t n, Find find, Target target) {
    parts.clear();
    for (GradientBuffer* buffer : buffers)
      if (const float* g = find(*buffer)) parts.push_back(g);
    if (parts.empty()) return;
    add_up(target(), parts, n, in_order);
  }
};

}  // namespace

RowGradients::RowGradients(std::size_t rows, std::size_t row_size,
                           std::shared_ptr<DeviceAllocator> memory)
    : rows_(rows), row_size_(row_size), memory_(std::move(memory)), slot_(new std::uint32_t[rows]) {
  std::fill_n(slot_.get(), rows, kUnused);
  if (memory_)
    while (chunk_rows() < rows && chunk_rows() * row_size * sizeof(float) < kDevicePage)
      ++chunk_bits_;
}

RowGradients::~RowGradients() {
  for (float* c : chunks_) free_floats(c, memory_);
  free_floats(whole_, memory_);
}

GradientSlot RowGradients::use_row(std::uint32_t row) {
  if (slot_[row] != kUnused) return {row_gradient(slot_[row]), true};
  const std::size_t k = used_.size();
  if (k >> chunk_bits_ == chunks_.size())
    chunks_.push_back(allocate_floats(std::min(chunk_rows(), rows_ - k) * row_size_, memory_));
  used_.push_back(row);
  slot_[row] = static_cast<std::uint32_t>(k);
  return {row_gradient(k), false};
}

GradientSlot RowGradients::use_whole() {
  if (!whole_) whole_ = allocate_floats(rows_ * row_size_, memory_);
  return {whole_, std::exchange(whole_written_, true)};
}

void RowGradients::unify() {
  if (!whole_written_) return;
  for (std::size_t k = 0; k < used_.size(); ++k) {
    const float* g = row_gradient(k);
    float* to = whole_ + used_[k] * row_size_;
    for (std::size_t i = 0; i < row_size_; ++i) to[i] += g[i];
    slot_[used_[k]] = kUnused;
  }
  used_.clear();
}

void RowGradients::add_to(RowGradients& host) const {
  std::vector<float> here(
      std::max(whole_written_ ? rows_ : 0, std::min(chunk_rows(), used_.size())) * row_size_);
  if (whole_written_) {
    memory_->read(here.data(), whole_, rows_ * row_size_ * sizeof(float));
    add(host.use_whole(), here.data(), rows_ * row_size_);
  }
  for (std::size_t first = 0; first < used_.size(); first += chunk_rows()) {
    const std::size_t n = std::min(chunk_rows(), used_.size() - first);
    memory_->read(here.data(), chunks_[first >> chunk_bits_], n * row_size_ * sizeof(float));
    for (std::size_t k = 0; k < n; ++k)
      add(host.use_row(used_[first + k]), here.data() + k * row_size_, row_size_);
  }
}

void RowGradients::clear() {
  for (std::uint32_t row : used_) slot_[row] = kUnused;
  used_.clear();
  whole_written_ = false;
}

void RowGradients::rewind(State s) {
  for (std::size_t k = s.rows; k < used_.size(); ++k) slot_[used_[k]] = kUnused;
  used_.truncate(s.rows);
  whole_written_ = s.whole;
}

GradientBuffer::~GradientBuffer() {
  for (Dense& s : dense_) free_floats(s.g, memory_);
}

GradientBuffer::Dense& GradientBuffer::at(std::size_t index, std::size_t size) {
  if (index >= dense_.size()) dense_.resize(index + 1);
  Dense& s = dense_[index];
  if (!s.g) {
    s.g = allocate_floats(size, memory_);
    s.size = size;
  }
  return s;
}

GradientSlot GradientBuffer::use(std::size_t index, std::size_t size) {
  Dense& s = at(index, size);
  s.adopt_writes();
  s.shown = false;
  return {s.g, std::exchange(s.written, true)};
}

float* GradientBuffer::show(std::size_t index, std::size_t size) {
  Dense& s = at(index, size);
  s.adopt_writes();
  if (!s.written && !s.shown) {
    shown_.push_back(index);
    std::fill_n(s.g, size, 0.0f);
    s.shown = true;
  }
  return s.g;
}

void GradientBuffer::Dense::adopt_writes() {
  if (!shown || written) return;
  written = std::any_of(g, g + size, [](float x) { return x != 0; });
}

void GradientBuffer::adopt_writes() {
  std::erase_if(shown_, [this](std::size_t index) {
    Dense& s = dense_[index];
    s.adopt_writes();
    return s.written || !s.shown;
  });
}

void GradientBuffer::forget(std::size_t index) {
  if (index < dense_.size()) dense_[index].written = dense_[index].shown = false;
}

RowGradients& GradientBuffer::rows(std::size_t index, std::size_t rows, std::size_t row_size) {
  if (index >= rows_.size()) rows_.resize(index + 1);
  if (!rows_[index]) rows_[index] = std::make_unique<RowGradients>(rows, row_size, memory_);
  return *rows_[index];
}

bool GradientBuffer::empty() const {
  const auto written = [](const Dense& s) { return s.written; };
  const auto used = [](const auto& r) { return r && !r->empty(); };
  return std::none_of(dense_.begin(), dense_.end(), written) &&
         std::none_of(rows_.begin(), rows_.end(), used);
}

void GradientBuffer::add_to(GradientBuffer& host) const {
  std::vector<float> here;
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const Dense& s = dense_[i];
    if (!s.written) continue;
    here.resize(s.size);
    memory_->read(here.data(), s.g, s.size * sizeof(float));
    add(host.use(i, s.size), here.data(), s.size);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (const RowGradients* r = find_rows(i))
      r->add_to(host.rows(i, r->row_count(), r->row_size()));
}

void GradientBuffer::clear() {
  for (Dense& s : dense_) s.written = s.shown = false;
  shown_.clear();
  for (auto& r : rows_)
    if (r) r->clear();
}

GradientBuffer& GradientBuffers::claim(std::uint64_t thread,
                                       const std::shared_ptr<DeviceAllocator>& memory) {
  for (Entry& e : entries_)
    if (!e.active && e.buffer->memory() == memory) {
      e.active = true;
      e.thread = thread;
      return *e.buffer;
    }
  entries_.push_back({thread, true, std::make_unique<GradientBuffer>(memory)});
  return *entries_.back().buffer;
}

GradientBuffer& GradientBuffers::mine(const std::shared_ptr<DeviceAllocator>& memory) {
  return of(this_thread_number(), memory);
}

GradientBuffer& GradientBuffers::numbered(unsigned number,
                                          const std::shared_ptr<DeviceAllocator>& memory) {
  return of(kNumbered | number, memory);
}

std::vector<GradientBuffer*> GradientBuffers::of_number(unsigned number) {
  const std::lock_guard lock(mutex_);
  std::vector<GradientBuffer*> buffers;
  for (Entry& e : entries_) {
    if (!e.active || e.thread != (kNumbered | number)) continue;
    if (!e.buffer->empty()) {
      buffers.push_back(e.buffer.get());
      continue;
    }
    e.buffer->clear();
    e.active = false;
  }
  std::sort(buffers.begin(), buffers.end(), [](const GradientBuffer* a, const GradientBuffer* b) {
    return device_of(*a) < device_of(*b);
  });
  return buffers;
}

GradientBuffer& GradientBuffers::of(std::uint64_t key,
                                    const std::shared_ptr<DeviceAllocator>& memory) {
  const std::lock_guard lock(mutex_);
  return find_or_claim(key, memory);
}

GradientBuffer& GradientBuffers::find_or_claim(std::uint64_t key,
                                               const std::shared_ptr<DeviceAllocator>& memory) {
  for (Entry& e : entries_)
    if (e.active && e.thread == key && e.buffer->memory() == memory) return *e.buffer;
  return claim(key, memory);
}

// What lies on devices is added to the buffers of the same threads and numbers in the CPU's
// memory.
void GradientBuffers::copy_to_host() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].active || !entries_[i].buffer->memory()) continue;
    GradientBuffer& buffer = *entries_[i].buffer;
    buffer.add_to(find_or_claim(entries_[i].thread, nullptr));
    buffer.clear();
    entries_[i].active = false;
  }
}

GradientBuffer* GradientBuffers::merge() {
  const std::lock_guard lock(mutex_);
  adopt_writes();
  copy_to_host();
  std::size_t count = 0, dense = 0, tables = 0;
  GradientBuffer* last = nullptr;
  for (Entry& e : entries_)
    if (e.active && !e.buffer->empty()) {
      ++count;
      last = e.buffer.get();
      dense = std::max(dense, last->dense_count());
      tables = std::max(tables, last->table_count());
      for (std::size_t t = 0; t < last->table_count(); ++t)
        if (RowGradients* r = last->find_rows(t)) r->unify();
    }
  if (count < 2) return correct_shown(last);
  std::vector<std::pair<std::uint64_t, GradientBuffer*>> keyed;
  for (Entry& e : entries_)
    if (e.active && !e.buffer->empty()) keyed.emplace_back(e.thread, e.buffer.get());
  std::sort(keyed.begin(), keyed.end());
  Merge merge_parts{{}, keyed[0].first >= kNumbered, {}};
  std::vector<GradientBuffer*>& buffers = merge_parts.buffers;
  for (const auto& [key, buffer] : keyed) buffers.push_back(buffer);

  // The sum belongs to no thread: a thread that goes on starts a buffer of its own again.
  GradientBuffer& out = claim(0, nullptr);
  const auto sizes = [&](auto&& find) {
    for (GradientBuffer* buffer : buffers)
      if (auto n = find(*buffer)) return n;
    return decltype(find(*buffers[0])){};
  };
  for (std::size_t p = 0; p < dense; ++p) {
    const std::size_t n = sizes([&](GradientBuffer& l) { return l.dense_size(p); });
    merge_parts(
        n, [&](GradientBuffer& l) { return l.find(p); }, [&] { return out.use(p, n).g; });
  }
  for (std::size_t t = 0; t < tables; ++t) {
    const RowGradients* any =
        sizes([&](GradientBuffer& l) -> const RowGradients* { return l.find_rows(t); });
    if (!any) continue;
    RowGradients& to = out.rows(t, any->row_count(), any->row_size());
    const std::size_t row_size = any->row_size();
    merge_parts(
        any->row_count() * row_size,
        [&](GradientBuffer& l) {
          const RowGradients* r = l.find_rows(t);
          return r && r->whole_written() ? r->whole() : nullptr;
        },
        [&] { return to.use_whole().g; });
    std::vector<std::uint32_t> rows;
    for (GradientBuffer* buffer : buffers)
      if (const RowGradients* r = buffer->find_rows(t))
        rows.insert(rows.end(), r->rows().begin(), r->rows().end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (std::uint32_t row : rows)
      merge_parts(
          row_size,
          [&](GradientBuffer& l) {
            const RowGradients* r = l.find_rows(t);
            return r ? r->find(row) : nullptr;
          },
          [&] { return to.use_row(row).g; });
    to.unify();
  }
  for (Entry& e : entries_)
    if (e.active && e.buffer.get() != &out) {
      e.buffer->clear();
      e.active = false;
    }
  return correct_shown(&out);
}

// Puts what was written through `show` into the sum of all, which may be null.
GradientBuffer* GradientBuffers::correct_shown(GradientBuffer* sum) {
  for (auto& [index, shown] : shown_) {
    if (!shown.live || !shown.changed()) continue;
    if (!sum) sum = &claim(0, nullptr);
    const std::size_t n = shown.now.size();
    const GradientSlot slot = sum->use(index, n);
    if (!slot.written) std::fill_n(slot.g, n, 0.0f);
    shown.correct(slot.g);
    std::copy_n(slot.g, n, shown.now.begin());
    shown.then = shown.now;
  }
  for (auto& [table, shown] : shown_rows_) {
    if (!shown.live || !shown.changed()) continue;
    if (!sum) sum = &claim(0, nullptr);
    correct_rows(table, shown, *sum);
  }
  return sum;
}

bool GradientBuffers::written_through_show() {
  const std::lock_guard lock(mutex_);
  const auto written = [](const auto& s) { return s.second.live && s.second.changed(); };
  return std::any_of(shown_.begin(), shown_.end(), written) ||
         std::any_of(shown_rows_.begin(), shown_rows_.end(), written);
}

float* GradientBuffers::show(std::size_t index, std::size_t size) {
  GradientReader reader(*this);
  Shown& shown = shown_[index];
  if (!shown.live) {
    GradientBuffer* const buffer = reader.only_buffer();
    if (buffer) return buffer->show(index, size);
    if (reader.empty()) return find_or_claim(this_thread_number(), nullptr).show(index, size);
  }
  std::vector<float> sum(size, 0.0f);
  if (const float* g = reader.find_sum(index, size)) std::copy_n(g, size, sum.begin());
  shown.now.resize(size);
  if (shown.live && shown.changed()) {
    std::vector<float> now = sum;
    shown.correct(now.data());
    std::copy(now.begin(), now.end(), shown.now.begin());
  } else {
    std::copy(sum.begin(), sum.end(), shown.now.begin());
  }
  shown.then = std::move(sum);
  shown.live = true;
  return shown.now.data();
}

void GradientBuffers::adopt_writes() {
  for (Entry& e : entries_)
    if (e.active && !e.buffer->memory()) e.buffer->adopt_writes();
}

void GradientBuffers::forget(std::size_t index) {
  const std::lock_guard lock(mutex_);
  for (Entry& e : entries_)
    if (e.active) e.buffer->forget(index);
  if (const auto at = shown_.find(index); at != shown_.end()) at->second.live = false;
}

void GradientBuffers::forget_rows(std::size_t table) {
  const std::lock_guard lock(mutex_);
  for (Entry& e : entries_)
    if (e.active)
      if (RowGradients* r = e.buffer->find_rows(table)) r->clear();
  if (const auto at = shown_rows_.find(table); at != shown_rows_.end()) at->second.live = false;
}

bool GradientBuffers::Shown::changed() const {
  return std::memcmp(now.data(), then.data(), now.size() * sizeof(float)) != 0;
}

void GradientBuffers::Shown::correct(float* sum) const {
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (std::memcmp(&now[i], &then[i], sizeof(float)) == 0) continue;  // NOLINT: bits are compared
    sum[i] = sum[i] == then[i] ? now[i] : now[i] + (sum[i] - then[i]);
  }
}

std::vector<std::pair<std::uint64_t, GradientBuffer*>> GradientBuffers::in_order() {
  const std::lock_guard lock(mutex_);
  adopt_writes();
  std::vector<std::pair<std::uint64_t, GradientBuffer*>> buffers;
  for (Entry& e : entries_)
    if (e.active && !e.buffer->empty()) buffers.emplace_back(e.thread, e.buffer.get());
  const auto order = [](const auto& entry) {
    return std::pair(entry.first, device_of(*entry.second));
  };
  std::sort(buffers.begin(), buffers.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return buffers;
}

GradientBuffer& GradientBuffers::make(const std::shared_ptr<DeviceAllocator>& memory) {
  const std::lock_guard lock(mutex_);
  return claim(0, memory);
}

void GradientBuffers::drop(GradientBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  for (Entry& e : entries_)
    if (e.buffer.get() == &buffer) {
      buffer.clear();
      e.active = false;
    }
}

void GradientBuffers::clear() {
  const std::lock_guard lock(mutex_);
  for (auto& [index, shown] : shown_) shown.live = false;
  for (auto& [table, shown] : shown_rows_) shown.live = false;
  for (Entry& e : entries_)
    if (e.active) {
      e.buffer->clear();
      e.active = false;
    }
}

}  // namespace dynet
