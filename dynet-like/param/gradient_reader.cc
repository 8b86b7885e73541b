#include "dynet-like/param/gradient_reader.h"

#include <algorithm>
#include <cstring>

namespace dynet {
namespace {

// Sums the parts in the order of their bits. An odd-even transposition sort of whole blocks:
// exchanging integers keeps every bit pattern, NaN included, and the inner loops vectorize.
void add_sorted(float* out, const std::vector<const float*>& parts, std::size_t n) {
  constexpr std::size_t kBlock = 256;
  const std::size_t lanes = parts.size();
  std::vector<std::int32_t> block(lanes * kBlock);
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t m = std::min(kBlock, n - at);
    for (std::size_t l = 0; l < lanes; ++l)
      std::memcpy(&block[l * kBlock], parts[l] + at, m * sizeof(float));
    for (std::size_t round = 0; round < lanes; ++round)
      for (std::size_t l = round % 2; l + 1 < lanes; l += 2) {
        std::int32_t* a = &block[l * kBlock];
        std::int32_t* b = a + kBlock;
        for (std::size_t i = 0; i < m; ++i) {
          const std::int32_t low = std::min(a[i], b[i]), high = std::max(a[i], b[i]);
          a[i] = low;
          b[i] = high;
        }
      }
    std::vector<float> lane(kBlock);
    std::memcpy(out + at, block.data(), m * sizeof(float));
    for (std::size_t l = 1; l < lanes; ++l) {
      std::memcpy(lane.data(), &block[l * kBlock], m * sizeof(float));
      for (std::size_t i = 0; i < m; ++i) out[at + i] += lane[i];
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

GradientReader::GradientReader(GradientLanes& lanes) : lanes_(lanes), lock_(lanes.mutex_) {
  lanes.settle_shown();
  for (const auto& e : lanes.entries_) {
    if (!e.active || e.lane->empty()) continue;
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const Group& g) { return g.key == e.thread; });
    if (at == groups_.end())
      groups_.push_back({e.thread, {e.lane.get()}});
    else  // the host's comes first
      at->lanes.insert(e.lane->memory() ? at->lanes.end() : at->lanes.begin(), e.lane.get());
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const Group& a, const Group& b) { return a.key < b.key; });
  in_order_ = !groups_.empty() && GradientLanes::is_number(groups_[0].key);
}

GradientLane* GradientReader::only_lane() const {
  const bool one = groups_.size() == 1 && groups_[0].lanes.size() == 1;
  return one && !groups_[0].lanes[0]->memory() ? groups_[0].lanes[0] : nullptr;
}

void GradientReader::Part::add(const float* from, std::size_t n, const GradientLane& lane) {
  if (!from) return;
  if (!g && !lane.memory()) {
    g = from;
    return;
  }
  std::vector<float> here(n);
  if (lane.memory())
    lane.memory()->read(here.data(), from, n * sizeof(float));
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
    for (const GradientLane* lane : group.lanes) part.add(lane->find(index), size, *lane);
    parts.push_back(part.g);
  }
  return total(parts, size, sum_);
}

const float* GradientReader::find(std::size_t index, std::size_t size) {
  const float* const g = find_sum(index, size);
  const auto at = lanes_.shown_.find(index);
  if (at == lanes_.shown_.end() || !at->second.live || !at->second.changed()) return g;
  std::vector<float> corrected(size, 0.0f);
  if (g) std::copy_n(g, size, corrected.begin());
  at->second.correct(corrected.data());
  sum_ = std::move(corrected);
  return sum_.data();
}

std::vector<std::uint32_t> GradientReader::rows(std::size_t table) const {
  std::vector<std::uint32_t> all = rows_of_lanes(table);
  const auto at = lanes_.shown_rows_.find(table);
  if (at == lanes_.shown_rows_.end()) return all;
  const std::vector<std::uint32_t> written = at->second.changed_rows();
  const auto middle = all.insert(all.end(), written.begin(), written.end());
  std::inplace_merge(all.begin(), middle, all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

const float* GradientReader::find_row(std::size_t table, std::uint32_t row) {
  const float* const g = find_row_sum(table, row);
  const auto at = lanes_.shown_rows_.find(table);
  if (at == lanes_.shown_rows_.end() || !at->second.live || !at->second.changed(row)) return g;
  std::vector<float> corrected(at->second.row_size, 0.0f);
  if (g) std::copy_n(g, corrected.size(), corrected.begin());
  at->second.correct(row, corrected.data());
  sum_ = std::move(corrected);
  return sum_.data();
}

std::vector<std::uint32_t> GradientReader::rows_of_lanes(std::size_t table) const {
  std::vector<std::uint32_t> all;
  for (const Group& group : groups_)
    for (const GradientLane* lane : group.lanes) {
      const RowGradients* const r = lane->find_rows(table);
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

// As a merge does: in a lane that has used the table as a whole, rows are added to that; then all
// of these, and all rows of other lanes, are added up for themselves.
const float* GradientReader::find_row_sum(std::size_t table, std::uint32_t row) {
  parts_.resize(3 * groups_.size());
  used_ = 0;
  std::size_t n = 0;
  std::vector<const float*> wholes, rows;
  for (const Group& group : groups_) {
    Part &whole = next_part(), &own = next_part();
    for (const GradientLane* lane : group.lanes) {
      const RowGradients* const r = lane->find_rows(table);
      if (!r) continue;
      n = r->row_size();
      if (r->whole_written()) whole.add(r->whole() + row * n, n, *lane);
      own.add(r->find(row), n, *lane);
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
