#include "dynet-like/param/meeting.h"

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

LanesOnDevice::LanesOnDevice(ParameterBank& bank, const ParameterFilter& which)
    : all_(bank.gradients) {
  bool on_host = false;  // which is found out without memory of the heap
  all_.for_each([&](const GradientLane& l) { on_host = on_host || (!l.memory() && !l.empty()); });
  if (on_host || all_.written_through_show()) return;
  const auto found = all_.in_order();
  for (const auto& [key, there] : found) lanes_.push_back(there);
  if (lanes_.empty()) return;
  lane = lanes_[0];
  if (lanes_.size() == 1) return;
  for (GradientLane* l : lanes_)
    if (l->memory()->number() < lane->memory()->number()) lane = l;
  meeting.sorted = !GradientLanes::is_number(found[0].first);
  lane = &all_.make(lane->memory());
  made_ = true;
  for (GradientLane* l : lanes_) meeting.lanes.push_back(l->memory().get());
  meeting.unify.resize(lanes_.size());
  try {
    for (auto& p : bank.parameters)
      if (which(*p)) meet(*p);
    for (auto& p : bank.tables)
      if (which(*p)) meet_in_table(*p);
  } catch (...) {
    all_.drop(*lane);
    throw;
  }
}

LanesOnDevice::~LanesOnDevice() {
  if (made_) all_.drop(*lane);
}

DeviceSums LanesOnDevice::sums(std::size_t n) const {
  return {.n = n, .each = lanes_.size(), .sorted = meeting.sorted};
}

// The next sum's parts; find(lane) is null for nothing. False if all are.
template <class Find>
bool LanesOnDevice::collect(Find find) {
  parts_.clear();
  bool any = false;
  for (GradientLane* l : lanes_) {
    parts_.push_back(find(*l));
    any = any || parts_.back();
  }
  return any;
}

void LanesOnDevice::meet(const ParameterStorageBase& p) {
  if (!collect([&](GradientLane& l) { return l.find(p.index); })) return;
  meeting.sums.push_back(sums(p.size()));
  add_sum(meeting.sums.back(), lane->use(p.index, p.size()).g, parts_);
}

void LanesOnDevice::meet_in_table(const ParameterStorageBase& p) {
  std::vector<std::uint32_t> rows;
  for (std::size_t k = 0; k < lanes_.size(); ++k) {
    const RowGradients* const r = lanes_[k]->find_rows(p.index);
    if (!r || r->rows().empty()) continue;
    if (r->whole_written())
      meeting.unify[k].push_back(rows_into_whole(*r));
    else
      rows.insert(rows.end(), r->rows().begin(), r->rows().end());
  }
  const auto collect_of = [&](auto find) {
    return collect([&](GradientLane& l) -> const float* {
      const RowGradients* const r = l.find_rows(p.index);
      return r ? find(*r) : nullptr;
    });
  };
  const auto to = [&]() -> RowGradients& { return lane->rows(p.index, p.rows, p.row_size()); };
  if (collect_of([](const RowGradients& r) { return r.whole_written() ? r.whole() : nullptr; })) {
    meeting.sums.push_back(sums(p.size()));
    add_sum(meeting.sums.back(), to().use_whole().g, parts_);
  }
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  DeviceSums all = sums(p.row_size());
  for (const std::uint32_t row : rows) {
    collect_of([&](const RowGradients& r) { return r.whole_written() ? nullptr : r.find(row); });
    add_sum(all, to().use_row(row).g, parts_);
  }
  meeting.sums.push_back(std::move(all));
}

}  // namespace dynet
