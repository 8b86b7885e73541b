// Updates of trainers on a device.

#include "dynet-like/train/on_device.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/param/device_gradients.h"
#include "dynet-like/param/on_device.h"
#include "dynet-like/train/lazy_rows.h"
#include "dynet-like/train/trainer.h"

namespace dynet {
namespace {

static_assert(UpdatePart::kMaxState < TrainerSlice::kMaxArrays);

// The rows of a table that have no gradient.
std::vector<std::uint32_t> unused_rows(const RowGradients& r) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < r.row_count(); ++row)
    if (!r.find(row)) rows.push_back(row);
  return rows;
}

}  // namespace

void TrainerOnDevice::begin(const std::shared_ptr<DeviceAllocator>& memory) {
  if (!updater_ || updater_->memory() != memory) {
    updater_.reset();
    updater_ = cuda::kDevices.make_updater(memory);
  }
  next = {};
  steps.clear();
  fresh.clear();
  changes_.clear();
  rows_.clear();
  addresses_.clear();
}

void TrainerOnDevice::add(ParameterStorageBase& p, const UpdatePart& part) {
  if (part.n == 0 || part.count == 0) return;
  if (part.g || part.row_g || part.state[0]) {
    next.steps.push_back(part);
    steps.push_back(&p);
  } else if (part.decay_factor != 1) {
    next.decays.push_back(part);
  } else {
    return;
  }
  if (changes_.empty() || changes_.back().p != &p) changes_.push_back({&p, part.w});
  Change& change = changes_.back();
  if (!part.rows) {
    change.whole = true;
    return;
  }
  change.rows.push_back(part);
  change.count += part.count;
}

void TrainerOnDevice::add_rows(ParameterStorageBase& p, UpdatePart part,
                               std::vector<std::uint32_t> rows, const RowGradients* r) {
  part.n = p.row_size();
  part.count = rows.size();
  if (r) {
    std::vector<float*>& g = addresses_.emplace_back();
    for (std::size_t k = 0; k < rows.size(); ++k) g.push_back(r->row_gradient(k));
    part.row_g = g.data();
  }
  rows_.push_back(std::move(rows));
  part.rows = rows_.back().data();
  add(p, part);
}

void TrainerOnDevice::copy_to_others(const Change& change) {
  ParameterStorageBase& p = *change.p;
  for (const DeviceValues& to : in_use_beside(p, *updater_->memory())) {
    if (change.whole || change.count == p.rows) {
      next.copies.push_back({to.memory, to.values, change.w, p.size()});
      continue;
    }
    for (const UpdatePart& part : change.rows)
      next.copies.push_back({to.memory, to.values, change.w, part.n, part.rows, part.count});
  }
}

void TrainerOnDevice::start() {
  for (const Change& c : changes_) copy_to_others(c);
  updater_->update(next);
  for (const Change& c : changes_) changed_on(*c.p, *updater_->memory());
}

// False, and nothing is done, if it is the host's.
bool Trainer::update_on_device(const ParameterFilter& chosen, const ParameterFilter& dropped,
                               real scale) {
  if (!rule_.device.value.kernel) return false;
  DeviceGradients buffers(collection_.bank(), chosen);
  if (!buffers.buffer) return false;
  GradientBuffer& buffer = *buffers.buffer;
  if (!on_device_) on_device_ = std::make_unique<TrainerOnDevice>();
  TrainerOnDevice& d = *on_device_;
  d.begin(buffer.memory());
  d.next.reduction = std::move(buffers.reduction);
  // Nothing is asked of the device for a parameter that stays as it is.
  const auto stays = [&](ParameterStorageBase& p, bool has_gradient) {
    return p.size() == 0 ||
           (!has_gradient && decay_factor(p) == 1 && !average_kind_ && !find_state(p));
  };
  const auto all_of = [&](ParameterStorageBase& p, bool has_gradient) {
    if ((has_gradient || average_kind_) && prepare_state(p)) d.fresh.push_back(&p);
    UpdatePart part{
        .n = p.size(), .decay_factor = decay_factor(p), .w = values_on(p, buffer.memory())};
    if (rule_.whole && p.is_lookup) {
      part.n = p.row_size();
      part.count = p.rows;
    }
    if (State* state = rule_.arrays ? find_state(p) : nullptr)
      for (std::size_t k = 0; k < rule_.arrays; ++k)
        part.state[k] = (*state)[k].on(buffer.memory());
    return part;
  };
  for (auto& p : collection_.bank().parameters) {
    float* const g = buffer.find(p->index);
    if (!chosen(*p) || stays(*p, g)) continue;
    UpdatePart part = all_of(*p, g);
    part.g = g;
    d.add(*p, part);
  }
  for (auto& p : collection_.bank().tables) {
    if (!chosen(*p)) continue;
    if (p->index < lazy_.size()) lazy_[p->index].reset();
    const RowGradients* const r = buffer.find_rows(p->index);
    if (stays(*p, r)) continue;
    UpdatePart part = all_of(*p, r);
    if (r && r->whole_written()) {
      if (!r->rows().empty()) d.next.sums.push_back(rows_into_whole(*r));
      part.g = r->whole();
      d.add(*p, part);
      continue;
    }
    std::vector<std::uint32_t> used;
    if (r) used.assign(r->rows().begin(), r->rows().end());
    if (sparse_updates_enabled && !sparse_updates_exact) {
      const UpdatePart decay{.n = p->size(), .decay_factor = part.decay_factor, .w = part.w};
      part.decay_factor = 1;
      if (r) d.add_rows(*p, part, std::move(used), r);
      d.add(*p, decay);
    } else if (r) {
      d.add_rows(*p, part, std::move(used), r);
      d.add_rows(*p, part, unused_rows(*r), nullptr);
    } else {
      d.add(*p, part);
    }
  }
  begin_update(step_ + 1, constants_);
  d.next.checks_norm = checks_norm();
  d.next.threshold = clipping_enabled ? static_cast<double>(clip_threshold)
                                      : std::numeric_limits<double>::infinity();
  d.next.rule = rule_.device.value.kernel;
  d.next.constants = constants_;
  d.next.scale = scale;
  d.average_waited = average_waited_;
  d.averages = averages_;
  const bool averages = average_kind_ && average_waited_ + 1 >= average_every_;
  if (averages) {
    d.next.average = average_part(averages_ + 1);
    for (ParameterStorageBase* p : averaged())
      d.next.averages.push_back({.n = p->size(),
                                 .decay_factor = 1,
                                 .w = values_on(*p, buffer.memory()),
                                 .state = {find_state(*p)->back().on(buffer.memory())}});
  }
  d.start();
  if (average_kind_) average_waited_ = averages ? 0 : average_waited_ + 1;
  averages_ += averages;
  d.waits = d.next.checks_norm;
  d.clips = clipping_enabled;
  d.skips = skip_non_finite;
  count_update();
  drop_gradients(dropped);
  if (schedule_) learning_rate = schedule_.rate(++scheduled_);
  return true;
}

// Makes the counters what they are when the last update has turned out to be what it is.
void Trainer::collect_outcome() {
  if (!on_device_ || !on_device_->waits) return;
  TrainerOnDevice& d = *on_device_;
  d.waits = false;
  const UpdateOutcome outcome = d.outcome();
  if (std::isfinite(outcome.norm)) {
    if (!d.clips || outcome.norm <= d.next.threshold) return;
    ++clips;
    ++clips_since_status;
    return;
  }
  --step_;
  --updates;
  if (updates_since_status > 0) --updates_since_status;
  if (schedule_) learning_rate = schedule_.rate(--scheduled_);
  average_waited_ = d.average_waited;
  averages_ = d.averages;
  for (ParameterStorageBase* p : d.fresh)
    if (State* state = find_state(*p)) state->clear();
  if (d.skips) {
    ++skipped;
    ++skipped_since_status;
    return;
  }
  const ParameterStorageBase& p = *d.steps[outcome.bad_step];
  pending_error_ = "Trainer: in the update before, the gradient of " +
                   std::string(p.is_lookup ? "lookup parameter " : "parameter ") + p.name + " " +
                   to_string(p.dim) + " was not finite; that update changed nothing";
}

void Trainer::throw_pending_error() {
  if (!pending_error_.empty()) throw NumericError(std::exchange(pending_error_, {}));
}

}  // namespace dynet
