#include "dynet-like/param/gradients.h"

#include <algorithm>
#include <utility>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/thread_number.h"

namespace dynet {
namespace {

// Chunk size of rows on a device: the granularity of device memory, so that few allocation calls
// are needed.
constexpr std::size_t kDevicePage = std::size_t{1} << 21;

float* allocate_floats(std::size_t n, const std::shared_ptr<DeviceAllocator>& memory) {
  return static_cast<float*>(memory ? memory->allocate(n * sizeof(float))
                                    : allocate_zeroed(n * sizeof(float)));
}

void free_floats(float* p, const std::shared_ptr<DeviceAllocator>& memory) noexcept {
  if (!p) return;
  memory ? memory->free(p) : free_aligned(p);
}

void add(const GradientSlot& to, const float* __restrict from, std::size_t n) {
  float* __restrict const g = to.g;
  if (!to.written)
    std::copy_n(from, n, g);
  else
    for (std::size_t i = 0; i < n; ++i) g[i] += from[i];
}

bool is_zero(const float* v, std::size_t n) {
  return std::all_of(v, v + n, [](float x) { return x == 0; });
}

// Reads numbers of a buffer, copying them if the buffer is on a device.
class Source {
 public:
  explicit Source(DeviceAllocator* memory) : memory_(memory) {}
  const float* read(const float* from, std::size_t n) {
    if (!memory_) return from;
    copy_.resize(std::max(n, copy_.size()));
    memory_->read(copy_.data(), from, n * sizeof(float));
    return copy_.data();
  }

 private:
  DeviceAllocator* memory_;
  std::vector<float> copy_;
};

// Sort key of a buffer's device; the CPU comes first.
int device_of(const GradientBuffer& buffer) {
  return buffer.memory() ? buffer.memory()->number() : -1;
}

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
  if (!shown_ && k >> chunk_bits_ == chunks_.size())
    chunks_.push_back(allocate_floats(std::min(chunk_rows(), rows_ - k) * row_size_, memory_));
  used_.push_back(row);
  slot_[row] = static_cast<std::uint32_t>(k);
  return {row_gradient(k), shown_};
}

GradientSlot RowGradients::use_whole() {
  if (!whole_) whole_ = allocate_floats(rows_ * row_size_, memory_);
  if (!shown_) return {whole_, std::exchange(whole_written_, true)};
  clear();  // the rows are part of whole_ already
  whole_written_ = true;
  return {whole_, true};
}

float* RowGradients::show() {
  const std::size_t n = rows_ * row_size_;
  if (!whole_) whole_ = allocate_floats(n, memory_);
  if (whole_written_ || shown_) return whole_;
  // Compares before writing, since untouched zero pages have no physical memory yet.
  std::replace_if(
      whole_, whole_ + n, [](float x) { return x != 0; }, 0.0f);
  for (std::size_t k = 0; k < used_.size(); ++k)
    std::copy_n(row_gradient(k), row_size_, whole_ + used_[k] * row_size_);
  shown_ = true;
  return whole_;
}

void RowGradients::use_written() {
  if (!shown_) return;
  for (std::uint32_t row = 0; row < rows_; ++row)
    if (slot_[row] == kUnused && !is_zero(whole_ + row * row_size_, row_size_)) use_row(row);
}

bool RowGradients::empty() const {
  return used_.empty() && !whole_written_ && !(shown_ && !is_zero(whole_, rows_ * row_size_));
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

void RowGradients::add_to(RowGradients& sum) const {
  Source source(memory_.get());
  if (whole_written_)
    add(sum.use_whole(), source.read(whole_, rows_ * row_size_), rows_ * row_size_);
  for (std::size_t first = 0; first < used_.size(); first += chunk_rows()) {
    const std::size_t n = std::min(chunk_rows(), used_.size() - first);
    const float* const chunk = memory_ ? source.read(row_gradient(first), n * row_size_) : nullptr;
    for (std::size_t k = 0; k < n; ++k)
      add(sum.use_row(used_[first + k]), chunk ? chunk + k * row_size_ : row_gradient(first + k),
          row_size_);
  }
}

void RowGradients::clear() {
  for (std::uint32_t row : used_) slot_[row] = kUnused;
  used_.clear();
  whole_written_ = shown_ = false;
}

// A table that was shown may have been used as a whole after `s` was taken; its gradient then
// remains whole.
void RowGradients::rewind(State s) {
  whole_written_ = s.whole || used_.size() < s.rows;
  for (std::size_t k = s.rows; k < used_.size(); ++k) {
    if (shown_) std::fill_n(row_gradient(k), row_size_, 0.0f);
    slot_[used_[k]] = kUnused;
  }
  used_.truncate(std::min(s.rows, used_.size()));
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
  const bool written = s.has_gradient();
  s.written = true;
  return {s.g, written};
}

float* GradientBuffer::show(std::size_t index, std::size_t size) {
  Dense& s = at(index, size);
  if (!s.written && !s.shown) {
    std::fill_n(s.g, size, 0.0f);
    s.shown = true;
  }
  return s.g;
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
  const auto written = [](const Dense& s) { return s.has_gradient(); };
  const auto used = [](const auto& r) { return r && !r->empty(); };
  return std::none_of(dense_.begin(), dense_.end(), written) &&
         std::none_of(rows_.begin(), rows_.end(), used);
}

void GradientBuffer::add_to(GradientBuffer& sum) const {
  Source source(memory_.get());
  for (std::size_t i = 0; i < dense_.size(); ++i)
    if (const float* const g = find(i))
      add(sum.use(i, dense_[i].size), source.read(g, dense_[i].size), dense_[i].size);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (const RowGradients* r = find_rows(i)) r->add_to(sum.rows(i, r->row_count(), r->row_size()));
}

void GradientBuffer::unify() {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (RowGradients* r = find_rows(i)) r->unify();
}

void GradientBuffer::clear() {
  for (Dense& s : dense_) s.written = s.shown = false;
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

GradientBuffer* GradientBuffers::find_only() {
  GradientBuffer* found = nullptr;
  for (Entry& e : entries_) {
    if (!e.active || e.buffer->empty()) continue;
    if (found) return nullptr;
    found = e.buffer.get();
  }
  return found;
}

GradientBuffer* GradientBuffers::only() {
  const std::lock_guard lock(mutex_);
  return find_only();
}

GradientBuffer* GradientBuffers::merge() {
  const std::lock_guard lock(mutex_);
  GradientBuffer* sum = find_only();
  if (!sum || sum->memory()) {
    const auto all = list();
    if (all.empty()) return nullptr;
    sum = all[0].second->memory() ? &find_or_claim(all[0].first, nullptr) : all[0].second;
    for (const auto& [key, buffer] : all) {
      if (!buffer->memory()) buffer->unify();
      if (buffer != sum) buffer->add_to(*sum);
    }
    for (Entry& e : entries_)
      if (e.active && e.buffer.get() != sum) {
        e.buffer->clear();
        e.active = false;
      }
  }
  sum->unify();
  return sum;
}

GradientBuffer& GradientBuffers::merged() {
  GradientBuffer* const sum = merge();
  return sum ? *sum : mine();
}

void GradientBuffers::forget(std::size_t index) {
  const std::lock_guard lock(mutex_);
  for (Entry& e : entries_)
    if (e.active) e.buffer->forget(index);
}

void GradientBuffers::forget_rows(std::size_t table) {
  const std::lock_guard lock(mutex_);
  for (Entry& e : entries_)
    if (e.active)
      if (RowGradients* r = e.buffer->find_rows(table)) r->clear();
}

std::vector<std::pair<std::uint64_t, GradientBuffer*>> GradientBuffers::in_order() {
  const std::lock_guard lock(mutex_);
  return list();
}

std::vector<std::pair<std::uint64_t, GradientBuffer*>> GradientBuffers::list() {
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
  for (Entry& e : entries_)
    if (e.active) {
      e.buffer->clear();
      e.active = false;
    }
}

}  // namespace dynet
