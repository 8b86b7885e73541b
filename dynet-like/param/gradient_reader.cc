#include "dynet-like/param/gradient_reader.h"

#include <algorithm>
#include <cstring>

namespace dynet {
namespace {

// Sums the parts in the order of their bits. An odd-even transposition sort of whole blocks:
// exchanging integers keeps every bit pattern, NaN included, and the inner loops vectorize.
void add_sorted(float* out, const std::vector<const float*>& parts, std::size_t n) {
  constexpr std::size_t kBlock = 256;
  const std::size_t buffers = parts.size();
  std::vector<std::int32_t> block(buffers * kBlock);
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t m = std::min(kBlock, n - at);
    for (std::size_t l = 0; l < buffers; ++l)
      std::memcpy(&block[l * kBlock], parts[l] + at, m * sizeof(float));
    for (std::size_t round = 0; round < buffers; ++round)
      for (std::size_t l = round % 2; l + 1 < buffers; l += 2) {
        std::int32_t* a = &block[l * kBlock];
        std::int32_t* b = a + kBlock;
        for (std::size_t i = 0; i < m; ++i) {
          const std::int32_t low = std::min(a[i], b[i]), high = std::max(a[i], b[i]);
          a[i] = low;
          b[i] = high;
        }
      }
    std::vector<float> buffer(kBlock);
    std::memcpy(out + at, block.data(), m * sizeof(float));
    for (std::size_t l = 1; l < buffers; ++l) {
      std::memcpy(buffer.data(), &block[l * kBlock], m * sizeof(float));
      for (std::size_t i = 0; i < m; ++i) out[at + i] += buffer[i];
    }
  }
}

// In the order of the parts.
void add_in_order(float* __restrict out, const std::vector<const float*>& parts, std::size_t n) {
  const float *a = parts[0], *b = parts[1];
  for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
  for (std::size_t k = 2; k < parts.size(); ++k)
    for (std::size_t i = 0; i < n; ++i) out[i] += parts[k][i];
}

}  // namespace

void add_up(float* out, const std::vector<const float*>& parts, std::size_t n, bool in_order) {
  if (parts.size() == 1)
    std::memcpy(out, parts[0], n * sizeof(float));
  else if (parts.size() == 2 || in_order)
    add_in_order(out, parts, n);
  else
    add_sorted(out, parts, n);
}

GradientReader::GradientReader(GradientBuffers& buffers)
    : buffers_(buffers), lock_(buffers.mutex_) {
  buffers.adopt_writes();
  for (const auto& e : buffers.entries_) {
    if (!e.active || e.buffer->empty()) continue;
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const Group& g) { return g.key == e.thread; });
    if (at == groups_.end())
      groups_.push_back({e.thread, {e.buffer.get()}});
    else  // the host's comes first
      at->buffers.insert(e.buffer->memory() ? at->buffers.end() : at->buffers.begin(),
                         e.buffer.get());
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const Group& a, const Group& b) { return a.key < b.key; });
  in_order_ = !groups_.empty() && GradientBuffers::is_number(groups_[0].key);
}

GradientBuffer* GradientReader::only_buffer() const {
  const bool one = groups_.size() == 1 && groups_[0].buffers.size() == 1;
  return one && !groups_[0].buffers[0]->memory() ? groups_[0].buffers[0] : nullptr;
}

void GradientReader::Part::add(const float* from, std::size_t n, const GradientBuffer& buffer) {
  if (!from) return;
  if (!g && !buffer.memory()) {
    g = from;
    return;
  }
  std::vector<float> here(n);
  if (buffer.memory())
    buffer.memory()->read(here.data(), from, n * sizeof(float));
  else
    std::copy_n(from, n, here.begin());
  if (g)
    for (std::size_t i = 0; i < n; ++i) here[i] = g[i] + here[i];
  sum = std::move(here);
  g = sum.data();
}

GradientReader::Part& GradientReader::next_part() {
  Part& part = parts_[used_++];
  part.g = nullptr;
  return part;
}

// Null for no parts, a part itself if there is one, else their sum.
const float* GradientReader::total(std::vector<const float*>& parts, std::size_t n,
                                   std::vector<float>& sum) {
  std::erase(parts, nullptr);
  if (parts.size() < 2) return parts.empty() ? nullptr : parts[0];
  sum.resize(n);
  add_up(sum.data(), parts, n, in_order_);
  return sum.data();
}

const float* GradientReader::find_sum(std::size_t index, std::size_t size) {
  parts_.resize(groups_.size());
  used_ = 0;
  std::vector<const float*> parts;
  for (const Group& group : groups_) {
    Part& part = next_part();
    for (const GradientBuffer* buffer : group.buffers) part.add(buffer->find(index), size, *buffer);
    parts.push_back(part.g);
  }
  return total(parts, size, sum_);
}

const float* GradientReader::find(std::size_t index, std::size_t size) {
  const float* const g = find_sum(index, size);
  const auto at = buffers_.shown_.find(index);
  if (at == buffers_.shown_.end() || !at->second.live || !at->second.changed()) return g;
  std::vector<float> corrected(size, 0.0f);
  if (g) std::copy_n(g, size, corrected.begin());
  at->second.correct(corrected.data());
  sum_ = std::move(corrected);
  return sum_.data();
}

std::vector<std::uint32_t> GradientReader::rows(std::size_t table) const {
  std::vector<std::uint32_t> all = rows_of_buffers(table);
  const auto at = buffers_.shown_rows_.find(table);
  if (at == buffers_.shown_rows_.end()) return all;
  const std::vector<std::uint32_t> written = at->second.changed_rows();
  const auto middle = all.insert(all.end(), written.begin(), written.end());
  std::inplace_merge(all.begin(), middle, all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

const float* GradientReader::find_row(std::size_t table, std::uint32_t row) {
  const float* const g = find_row_sum(table, row);
  const auto at = buffers_.shown_rows_.find(table);
  if (at == buffers_.shown_rows_.end() || !at->second.live || !at->second.changed(row)) return g;
  std::vector<float> corrected(at->second.row_size, 0.0f);
  if (g) std::copy_n(g, corrected.size(), corrected.begin());
  at->second.correct(row, corrected.data());
  sum_ = std::move(corrected);
  return sum_.data();
}

std::vector<std::uint32_t> GradientReader::rows_of_buffers(std::size_t table) const {
  std::vector<std::uint32_t> all;
  for (const Group& group : groups_)
    for (const GradientBuffer* buffer : group.buffers) {
      const RowGradients* const r = buffer->find_rows(table);
      if (!r) continue;
      if (r->whole_written()) {
        all.resize(r->row_count());
        for (std::uint32_t row = 0; row < all.size(); ++row) all[row] = row;
        return all;
      }
      all.insert(all.end(), r->rows().begin(), r->rows().end());
    }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// As a merge does: in a buffer that has used the table as a whole, rows are added to that; then all
// of these, and all rows of other buffers, are added up for themselves.
const float* GradientReader::find_row_sum(std::size_t table, std::uint32_t row) {
  parts_.resize(3 * groups_.size());
  used_ = 0;
  std::size_t n = 0;
  std::vector<const float*> wholes, rows;
  for (const Group& group : groups_) {
    Part &whole = next_part(), &own = next_part();
    for (const GradientBuffer* buffer : group.buffers) {
      const RowGradients* const r = buffer->find_rows(table);
      if (!r) continue;
      n = r->row_size();
      if (r->whole_written()) whole.add(r->whole() + row * n, n, *buffer);
      own.add(r->find(row), n, *buffer);
    }
    if (whole.g && own.g) {
      Part& both = next_part();
      both.sum.assign(whole.g, whole.g + n);
      for (std::size_t i = 0; i < n; ++i) both.sum[i] += own.g[i];
      wholes.push_back(both.sum.data());
    } else {
      (whole.g ? wholes : rows).push_back(whole.g ? whole.g : own.g);
    }
  }
  const float* const all = total(wholes, n, sum_);
  const float* const used = total(rows, n, rows_sum_);
  if (!all || !used) return all ? all : used;
  std::vector<float> sum(n);
  for (std::size_t i = 0; i < n; ++i) sum[i] = all[i] + used[i];
  sum_ = std::move(sum);
  return sum_.data();
}

}  // namespace dynet
