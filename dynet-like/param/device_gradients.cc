#include "dynet-like/param/device_gradients.h"

#include <algorithm>
#include <utility>

namespace dynet {
namespace {

void add_sum(DeviceSums& sums, float* to, const std::vector<const float*>& parts) {
  sums.to.push_back(to);
  sums.parts.insert(sums.parts.end(), parts.begin(), parts.end());
}

}  // namespace

DeviceSums rows_into_whole(const RowGradients& r) {
  DeviceSums sums{.n = r.row_size(), .each = 2};
  for (std::size_t k = 0; k < r.rows().size(); ++k) {
    float* const to = r.whole() + r.rows()[k] * r.row_size();
    add_sum(sums, to, {to, r.row_gradient(k)});
  }
  return sums;
}

DeviceGradients::DeviceGradients(ParameterBank& bank, const ParameterFilter& which)
    : all_(bank.gradients) {
  const auto found = all_.in_order();
  for (const auto& [key, there] : found) {
    if (!there->memory()) return;
    buffers_.push_back(there);
  }
  if (buffers_.empty()) return;
  buffer = buffers_[0];
  if (buffers_.size() == 1) return;
  for (GradientBuffer* l : buffers_)
    if (l->memory()->number() < buffer->memory()->number()) buffer = l;
  reduction.sorted = !GradientBuffers::is_number(found[0].first);
  buffer = &all_.make(buffer->memory());
  made_ = true;
  for (GradientBuffer* l : buffers_) reduction.buffers.push_back(l->memory().get());
  reduction.unify.resize(buffers_.size());
  try {
    for (auto& p : bank.parameters)
      if (which(*p)) reduce(*p);
    for (auto& p : bank.tables)
      if (which(*p)) reduce_table(*p);
  } catch (...) {
    all_.drop(*buffer);
    throw;
  }
}

DeviceGradients::~DeviceGradients() {
  if (made_) all_.drop(*buffer);
}

DeviceSums DeviceGradients::sums(std::size_t n) const {
  return {.n = n, .each = buffers_.size(), .sorted = reduction.sorted};
}

// The next sum's parts; find(buffer) is null for nothing. False if all are.
template <class Find>
bool DeviceGradients::collect(Find find) {
  parts_.clear();
  bool any = false;
  for (GradientBuffer* l : buffers_) {
    parts_.push_back(find(*l));
    any = any || parts_.back();
  }
  return any;
}

void DeviceGradients::reduce(const ParameterStorageBase& p) {
  if (!collect([&](GradientBuffer& l) { return l.find(p.index); })) return;
  reduction.sums.push_back(sums(p.size()));
  add_sum(reduction.sums.back(), buffer->use(p.index, p.size()).g, parts_);
}

void DeviceGradients::reduce_table(const ParameterStorageBase& p) {
  std::vector<std::uint32_t> rows;
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    const RowGradients* const r = buffers_[k]->find_rows(p.index);
    if (!r || r->rows().empty()) continue;
    if (r->whole_written())
      reduction.unify[k].push_back(rows_into_whole(*r));
    else
      rows.insert(rows.end(), r->rows().begin(), r->rows().end());
  }
  const auto collect_of = [&](auto find) {
    return collect([&](GradientBuffer& l) -> const float* {
      const RowGradients* const r = l.find_rows(p.index);
      return r ? find(*r) : nullptr;
    });
  };
  const auto to = [&]() -> RowGradients& { return buffer->rows(p.index, p.rows, p.row_size()); };
  if (collect_of([](const RowGradients& r) { return r.whole_written() ? r.whole() : nullptr; })) {
    reduction.sums.push_back(sums(p.size()));
    add_sum(reduction.sums.back(), to().use_whole().g, parts_);
  }
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  DeviceSums all = sums(p.row_size());
  for (const std::uint32_t row : rows) {
    collect_of([&](const RowGradients& r) { return r.whole_written() ? nullptr : r.find(row); });
    add_sum(all, to().use_row(row).g, parts_);
  }
  reduction.sums.push_back(std::move(all));
}

}  // namespace dynet
