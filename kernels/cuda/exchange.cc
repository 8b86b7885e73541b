#include "kernels/cuda/exchange.h"

#include <algorithm>
#include <utility>

#include "kernels/cuda/sums.h"

namespace dynet::cuda {
namespace {

// So many numbers travel alone: packing them costs more than a copy more.
constexpr std::size_t kAlone = std::size_t{1} << 16;

// One copy of n numbers among sums of one part each.
void add_copy(std::vector<DeviceSums>& all, std::size_t n, const float* from, float* to) {
  if (all.empty() || all.back().n != n) all.push_back({.n = n, .each = 1});
  all.back().to.push_back(to);
  all.back().parts.push_back(from);
}

}  // namespace

Exchange::Peer::Peer(int number)
    : before(make_driver(number, StreamKind::updates)),
      after(make_driver(number, StreamKind::updates)) {}

Exchange::Peer& Exchange::peer(const DeviceAllocator& memory) {
  const auto number = static_cast<std::size_t>(memory.number());
  if (number >= peers_.size()) peers_.resize(number + 1);
  if (!peers_[number]) peers_[number] = std::make_unique<Peer>(memory.number());
  return *peers_[number];
}

void Exchange::begin() {
  group_ = nullptr;
  reductions_.clear();
  broadcasts_.clear();
  for (auto& p : peers_)
    if (p) {
      p->before.begin_operation();
      p->after.begin_operation();
      p->sends = p->gets = false;
    }
}

// Parcels from one queue's device to another's, where `by`, in the stream of one of them, copies.
// Sets where they have arrived, if that was not given.
void Exchange::carry(Queue& from, Queue& to, Queue& by, std::vector<Parcel>& parcels) {
  std::size_t packed = 0;
  for (const Parcel& p : parcels) packed += p.n < kAlone ? p.n : 0;
  float* const pack = packed ? from.temporary(packed) : nullptr;
  float* const arrived = packed ? to.temporary(packed) : nullptr;
  std::vector<DeviceSums> packing, unpacking;
  std::size_t at = 0;
  for (Parcel& p : parcels) {
    if (p.n >= kAlone) {
      if (!p.to) p.to = to.temporary(p.n);
      continue;
    }
    add_copy(packing, p.n, p.from, pack + at);
    if (p.to)
      add_copy(unpacking, p.n, arrived + at, p.to);
    else
      p.to = arrived + at;
    at += p.n;
  }
  add_up(from, packing);
  for (const Parcel& p : parcels)
    if (p.n >= kAlone) by.copy(p.to, p.from, p.n * sizeof(float));
  if (packed) by.copy(arrived, pack, packed * sizeof(float));
  add_up(to, unpacking);
}

// Those of a reduction, if each has one buffer. Null if they do not work together.
Exchange::Group* Exchange::find_group(const GradientReduction& reduction) {
  const int here = here_.driver().memory()->number();
  std::vector<int> numbers;
  for (const DeviceAllocator* m : reduction.buffers) numbers.push_back(m->number());
  std::sort(numbers.begin(), numbers.end());
  if (!reduction.sorted || numbers.size() < 2 || numbers[0] != here ||
      std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end())
    return nullptr;
  const auto known = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const auto& g) { return g->numbers == numbers; });
  if (known != groups_.end()) return (*known)->devices ? known->get() : nullptr;
  std::vector<Driver*> drivers{&here_.driver()};
  for (std::size_t d = 1; d < numbers.size(); ++d)
    drivers.push_back(&peers_[static_cast<std::size_t>(numbers[d])]->before.driver());
  groups_.push_back(std::make_unique<Group>(Group{numbers, make_communicator(drivers)}));
  return groups_.back()->devices ? groups_.back().get() : nullptr;
}

// Whether the group does it: a parameter that all buffers have.
bool Exchange::reduce_together(const GradientReduction& reduction, const DeviceSums& sums) {
  if (!group_ || sums.to.size() != 1 ||
      std::find(sums.parts.begin(), sums.parts.end(), nullptr) != sums.parts.end())
    return false;
  Communicator::Sum together{{}, sums.to[0], sums.n};
  for (const int number : group_->numbers)
    for (std::size_t k = 0; k < reduction.buffers.size(); ++k)
      if (reduction.buffers[k]->number() == number) together.there.push_back(sums.parts[k]);
  reductions_.push_back(std::move(together));
  return true;
}

void Exchange::gather(const GradientReduction& reduction) {
  const DeviceAllocator* const memory = here_.driver().memory().get();
  const std::size_t buffers = reduction.buffers.size();
  // Here too, for a group works before all that `here` does.
  for (std::size_t k = 0; k < buffers; ++k) {
    Peer& there = peer(*reduction.buffers[k]);
    there.sends = true;
    add_up(there.before, reduction.unify[k]);
  }
  group_ = find_group(reduction);
  std::vector<DeviceSums> sums;
  for (const DeviceSums& s : reduction.sums)
    if (!reduce_together(reduction, s)) sums.push_back(s);
  for (std::size_t k = 0; k < buffers; ++k) {
    if (reduction.buffers[k] == memory) continue;
    std::vector<Parcel> parcels;
    std::vector<const float**> targets;
    for (DeviceSums& s : sums)
      for (std::size_t i = k; i < s.parts.size(); i += buffers)
        if (s.parts[i]) {
          parcels.push_back({s.parts[i], nullptr, s.n});
          targets.push_back(&s.parts[i]);
        }
    Peer& there = peer(*reduction.buffers[k]);
    carry(there.before, here_, there.before, parcels);
    for (std::size_t i = 0; i < parcels.size(); ++i) *targets[i] = parcels[i].to;
  }
  add_up(here_, sums);
}

// Whether the group does it: all values of a parameter, to all devices.
bool Exchange::spread_together(const std::vector<ValueCopy>& copies, std::size_t first,
                               std::size_t n) {
  if (!group_ || copies[first].rows || n + 1 != group_->numbers.size()) return false;
  Communicator::Spread together{copies[first].from, {nullptr}, copies[first].n};
  for (std::size_t d = 1; d < group_->numbers.size(); ++d)
    for (std::size_t i = first; i < first + n; ++i)
      if (copies[i].memory->number() == group_->numbers[d]) together.there.push_back(copies[i].to);
  if (together.there.size() != group_->numbers.size()) return false;
  broadcasts_.push_back(std::move(together));
  return true;
}

void Exchange::spread(const std::vector<ValueCopy>& copies) {
  std::vector<std::vector<Parcel>> all;  // by number of device
  for (std::size_t first = 0, n = 0; first < copies.size(); first += n) {
    n = 1;
    while (first + n < copies.size() && copies[first + n].from == copies[first].from &&
           !copies[first].rows)
      ++n;
    const bool together = spread_together(copies, first, n);
    for (std::size_t i = first; i < first + n; ++i) {
      const ValueCopy& c = copies[i];
      peer(*c.memory).gets = true;
      if (together) continue;
      const auto to = static_cast<std::size_t>(c.memory->number());
      if (to >= all.size()) all.resize(to + 1);
      for (std::size_t k = 0; k < c.count; ++k) {
        const std::size_t at = c.rows ? c.rows[k] * c.n : 0;
        all[to].push_back({c.from + at, c.to + at, c.n});
      }
    }
  }
  for (std::size_t d = 0; d < all.size(); ++d)
    if (!all[d].empty()) carry(here_, peers_[d]->after, peers_[d]->after, all[d]);
}

void Exchange::start() {
  Driver& driver = here_.driver();
  // What others write to may still be read here; if it is new, by whoever had it before.
  const bool grown = std::exchange(held_, here_.temporary_bytes()) != here_.temporary_bytes();
  for (auto& p : peers_)
    if (p && p->sends) {
      if (p->behind || grown) p->before.driver().wait_for(driver);
      p->before.flush();
      driver.wait_for(p->before.driver());
    }
  if (!reductions_.empty()) group_->devices->reduce(reductions_);
  here_.flush();
  if (!broadcasts_.empty()) group_->devices->broadcast(broadcasts_);
  for (auto& p : peers_)
    if (p) {
      p->behind = !p->gets;
      if (p->behind) continue;
      p->after.driver().wait_for(driver);
      p->after.flush();
      driver.wait_for(p->after.driver());
    }
}

void Exchange::forget() {
  for (auto& p : peers_)
    if (p) {
      p->before.forget();
      p->after.forget();
      p->behind = true;  // who knows what was started
    }
}

}  // namespace dynet::cuda
