#include "dynet-like/train/update.h"

#include <algorithm>
#include <cmath>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/flush_subnormals.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/param/norm.h"
#include "dynet-like/param/on_device.h"
#include "dynet-like/train/update_loops.h"

namespace dynet {

static_assert(UpdatePart::kMaxState == TrainerSlice::kMaxArrays);

void HostUpdater::update(const Update& u) {
  // Allocates first, so that nothing can fail after the first change.
  if (workers_)
    pieces_.reserve(std::max({count_pieces(u.steps, rule_.whole), count_pieces(u.decays, false),
                              count_pieces(u.averages, false)}));
  constants_ = u.constants;
  scale_ = u.scale;
  if (u.checks_norm) {
    check_norm(u);
    if (!std::isfinite(outcome_.norm)) return;
    scale_ = clipped_scale(u.scale, outcome_.norm, u.threshold);
  }
  const FlushSubnormals flush;
  for_each_piece(u.steps, rule_.whole, [this](const Piece& p) {
    step(*p.part, p.at, p.n, p.part->g ? p.part->g + p.at : nullptr);
  });
  for (const UpdatePart& part : u.steps)
    if (part.rows) step_rows(part);
  for_each_piece(u.decays, false, [](const Piece& p) {
    scale_values(p.part->w + p.at, p.n, static_cast<double>(p.part->decay_factor));
  });
  for (const UpdatePart& part : u.decays)
    if (part.rows) step_rows(part);
  for_each_piece(u.averages, false, [&](const Piece& p) {
    const float* __restrict w = p.part->w + p.at;
    float* __restrict a = p.part->state[0] + p.at;
    for (std::size_t i = 0; i < p.n; ++i) a[i] += u.average * (w[i] - a[i]);
  });
}

void HostUpdater::check_norm(const Update& u) {
  const FlushSubnormals flush;  // squares of small gradients
  outcome_ = {0, u.steps.size()};
  double sum = 0;
  for (std::size_t k = 0; k < u.steps.size(); ++k) {
    const UpdatePart& part = u.steps[k];
    if (part.g) sum += squared_norm(part.g, part.n * part.count);
    for (std::size_t row = 0; part.row_g && row < part.count; ++row)
      sum += squared_norm(part.row_g[row], part.n);
    if (!std::isfinite(sum) && outcome_.bad_step == u.steps.size()) outcome_.bad_step = k;
  }
  outcome_.norm = std::abs(static_cast<double>(u.scale)) * std::sqrt(sum);
}

void HostUpdater::step(const UpdatePart& part, std::size_t at, std::size_t n,
                       const float* g) const {
  TrainerSlice s{n, part.w + at, g, {}, constants_.data(), scale_, part.decay_factor};
  for (std::size_t k = 0; k < rule_.arrays; ++k)
    s.state[k] = part.state[k] ? part.state[k] + at : nullptr;
  if (!g && !(rule_.arrays && s.state[0]))  // without gradient and state: only weight decay
    return scale_values(s.w, n, static_cast<double>(part.decay_factor));
  rule_.apply(s);
}

// Consecutive rows without gradients form one slice.
void HostUpdater::step_rows(const UpdatePart& part) const {
  for (std::size_t k = 0; k < part.count;) {
    std::size_t end = k + 1;
    while (!part.row_g && !rule_.whole && end < part.count &&
           part.rows[end] == part.rows[end - 1] + 1)
      ++end;
    step(part, part.rows[k] * part.n, (end - k) * part.n, part.row_g ? part.row_g[k] : nullptr);
    k = end;
  }
}

// Parts without rows are split into pieces for several threads; results are independent of the
// split.
// `whole`: the n values of a part, or of each of its rows, depend on each other and are not split.
std::size_t HostUpdater::size_of_pieces(const UpdatePart& part, bool whole) const {
  constexpr std::size_t kLeast = 1 << 18;  // smaller pieces are not worth the cache traffic
  return std::max<std::size_t>(1, whole ? part.n : workers_ ? kLeast : part.n * part.count);
}

std::size_t HostUpdater::count_pieces(const std::vector<UpdatePart>& parts, bool whole) const {
  std::size_t count = 0;
  for (const UpdatePart& part : parts)
    if (!part.rows) count += 1 + part.n * part.count / size_of_pieces(part, whole);
  return count;
}

template <class F>
void HostUpdater::for_each_piece(const std::vector<UpdatePart>& parts, bool whole, F f) {
  const auto each = [&](auto take) {
    for (const UpdatePart& part : parts) {
      if (part.rows) continue;
      const std::size_t all = part.n * part.count, size = size_of_pieces(part, whole);
      for (std::size_t at = 0; at < all; at += size)
        take(Piece{&part, at, std::min(size, all - at)});
    }
  };
  if (!workers_) return each(f);
  pieces_.clear();
  each([this](const Piece& piece) { pieces_.push_back(piece); });
  if (pieces_.size() > 1)
    workers_->run(static_cast<unsigned>(pieces_.size()), [&](unsigned k) {
      const FlushSubnormals flush;  // of this thread
      f(pieces_[k]);
    });
  else
    for (const Piece& piece : pieces_) f(piece);
}

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
