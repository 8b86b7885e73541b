#include "dynet-like/train/update_builder.h"

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/param/on_device.h"

namespace dynet {

void UpdateBuilder::begin(const std::shared_ptr<DeviceAllocator>& memory, Workers* workers) {
  if (memory && (!device_ || device_->memory() != memory)) {
    updater_ = &host_;
    device_.reset();
    device_ = cuda::kDevices.make_updater(memory);
  }
  updater_ = memory ? device_.get() : &host_;
  host_.set_workers(workers);
  next.clear();
  steps.clear();
  fresh.clear();
  changed_.clear();
  lists_.reset();
}

float* UpdateBuilder::values(ParameterStorageBase& p) {
  return on_host() ? p.data : values_on(p, updater_->memory());
}

void UpdateBuilder::add(ParameterStorageBase& p, const UpdatePart& part) {
  if (part.n == 0 || part.count == 0) return;
  if (part.g || part.row_g || part.state[0]) {
    next.steps.push_back(part);
    steps.push_back(&p);
  } else if (part.decay_factor != 1) {
    next.decays.push_back(part);
  } else {
    return;
  }
  if (!on_host() && (changed_.empty() || changed_.back() != &p)) changed_.push_back(&p);
}

void UpdateBuilder::add_rows(ParameterStorageBase& p, UpdatePart part,
                             std::span<const std::uint32_t> rows, const RowGradients* r) {
  part.n = p.row_size();
  part.count = rows.size();
  part.rows = rows.data();
  if (r) {
    float** const g = lists_.allocate_array<float*>(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) g[k] = r->row_gradient(k);
    part.row_g = g;
  }
  add(p, part);
}

void UpdateBuilder::add_other_rows(ParameterStorageBase& p, const UpdatePart& part,
                                   const RowGradients& r) {
  auto* const rows = lists_.allocate_array<std::uint32_t>(r.row_count());
  std::size_t count = 0;
  for (std::uint32_t row = 0; row < r.row_count(); ++row)
    if (!r.find(row)) rows[count++] = row;
  add_rows(p, part, {rows, count}, nullptr);
}

void UpdateBuilder::unify(const RowGradients& r) {
  if (on_host() || r.rows().empty()) return;
  UnifiedRows& rows = next.unify.emplace_back(UnifiedRows{r.row_size()});
  for (std::size_t k = 0; k < r.rows().size(); ++k) {
    rows.to.push_back(r.gradient_of(r.rows()[k]));
    rows.from.push_back(r.row_gradient(k));
  }
}

void UpdateBuilder::run() {
  updater_->update(next);
  for (ParameterStorageBase* p : changed_) changed_on(*p, *updater_->memory());
}

}  // namespace dynet
