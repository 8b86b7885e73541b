#include "dynet-like/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/graph/observer.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/train/update.h"

namespace dynet {
namespace {

// The index of the first value that is not finite, or n.
std::size_t find_bad(const float* g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(g[i])) return i;
  return n;
}

// Tells the observer of the process of an update.
struct ObservedUpdate {
  Observer* const observer = find_observer();
  ObservedUpdate() {
    if (observer) observer->begin_update();
  }
  ~ObservedUpdate() {
    if (observer) observer->end_update();
  }
  ObservedUpdate(const ObservedUpdate&) = delete;
  ObservedUpdate& operator=(const ObservedUpdate&) = delete;
};

}  // namespace

Trainer::Trainer(const ParameterCollection& pc, real lr, const TrainerRule& rule)
    : learning_rate(lr),
      collection_(pc),
      rule_(rule),
      builder_(std::make_unique<UpdateBuilder>(rule)) {
  need_finite("Trainer", "learning_rate", lr);
}

Trainer::~Trainer() = default;

void Trainer::need_fraction(const char* who, const char* name, real value) {
  if (!(value >= 0 && value < 1))
    throw ArgumentError(std::string(who) + ": needs 0 <= " + name + " < 1, got " +
                        std::to_string(value));
}

void Trainer::need_positive(const char* who, const char* name, real value) {
  if (!(value > 0 && std::isfinite(value)))
    throw ArgumentError(std::string(who) + ": " + name + " must be finite and above 0, got " +
                        std::to_string(value));
}

void Trainer::need_finite(const char* who, const char* name, real value) {
  if (!std::isfinite(value))
    throw ArgumentError(std::string(who) + ": " + name + " must be finite, got " +
                        std::to_string(value));
}

bool Trainer::contains(const ParameterStorageBase& p) const {
  return collection_.node().contains(p.collection);
}

bool Trainer::trains(const ParameterStorageBase& p) const { return p.updated && contains(p); }

float Trainer::decay_factor(const ParameterStorageBase& p) {
  return 1.0f - p.collection->effective_weight_decay();
}

std::string Trainer::relative_name(const ParameterStorageBase& p) const {
  return p.name.substr(collection_.get_fullname().size() - 1);
}

bool Trainer::update(real scale) {
  return update_chosen([this](const ParameterStorageBase& p) { return trains(p); }, nullptr, scale);
}

bool Trainer::update(const ParameterCollection& part) {
  if (!collection_.node().contains(&part.node()))
    throw ArgumentError("Trainer: the collection " + part.get_fullname() +
                        " is not part of the trainer's, " + collection_.get_fullname());
  const auto chosen = [&](const ParameterStorageBase& p) {
    return part.node().contains(p.collection);
  };
  return update_chosen([&](const ParameterStorageBase& p) { return p.updated && chosen(p); },
                       chosen, 1);
}

bool Trainer::update(const std::vector<Parameter>& parameters,
                     const std::vector<LookupParameter>& tables) {
  std::vector<const ParameterStorageBase*> all;
  const auto add = [&](const ParameterHandle& handle) {
    const ParameterStorageBase& p = handle.stored();
    if (p.bank != &collection_.bank() || !contains(p))
      throw ArgumentError("Trainer: the parameter " + p.name +
                          " is not in the trainer's collection, " + collection_.get_fullname());
    all.push_back(&p);
  };
  for (const Parameter& p : parameters) add(p);
  for (const LookupParameter& p : tables) add(p);
  std::sort(all.begin(), all.end());
  const auto chosen = [&](const ParameterStorageBase& p) {
    return std::binary_search(all.begin(), all.end(), &p);
  };
  return update_chosen([&](const ParameterStorageBase& p) { return p.updated && chosen(p); },
                       chosen, 1);
}

bool Trainer::update_chosen(const ParameterFilter& chosen, const ParameterFilter& dropped,
                            real scale) {
  need_weights("update");
  const ObservedUpdate observed;
  if (!std::isfinite(scale))
    throw ArgumentError("Trainer: gradients cannot count " + std::to_string(scale) + " times");
  need_finite("Trainer", "learning_rate", learning_rate);
  if (checks_norm()) check_threshold();
  collect_outcome();
  const bool made = make_update(chosen, dropped, scale);
  throw_pending_error();
  return made;
}

void Trainer::drop_gradients(const ParameterFilter& dropped) {
  if (dropped)
    forget_gradients(collection_.bank(), dropped);
  else
    forget_gradients(collection_.bank(), collection_.node());
}

// Runs on a device if a single buffer there holds all gradients.
bool Trainer::make_update(const ParameterFilter& chosen, const ParameterFilter& dropped,
                          real scale) {
  ParameterBank& bank = collection_.bank();
  const GradientBuffer* buffer = rule_.device.value.kernel ? bank.gradients.only() : nullptr;
  if (!buffer || !buffer->memory()) buffer = bank.gradients.merge();
  builder_->begin(buffer ? buffer->memory() : nullptr, workers_);
  Update& next = builder_->next;

  build(chosen, buffer);
  begin_update(step_ + 1, constants_);
  next.checks_norm = checks_norm();
  next.threshold = clipping_enabled ? static_cast<double>(clip_threshold)
                                    : std::numeric_limits<double>::infinity();
  next.rule = rule_.device.value.kernel;
  next.constants = constants_;
  next.scale = scale;
  builder_->run();
  if (builder_->on_host()) {
    if (!finish_on_host(chosen, dropped)) return false;
  } else {
    pending_ = {next.checks_norm, clipping_enabled, skip_non_finite, averaging_};
  }
  ++step_;
  count_update();
  drop_gradients(dropped);
  averaging_.advance();
  if (schedule_) learning_rate = schedule_.rate(++scheduled_);
  return true;
}

// True if the update was made. Updates the counters.
bool Trainer::finish_on_host(const ParameterFilter& chosen, const ParameterFilter& dropped) {
  const Update& made = builder_->next;
  const double norm = made.checks_norm ? builder_->outcome().norm : 0;
  if (std::isfinite(norm)) {
    if (made.checks_norm && norm > made.threshold) count_clip();
    values_changed(collection_.bank(), chosen);
    return true;
  }
  drop_fresh_state();
  try {
    throw_bad_gradient(chosen);
  } catch (const NumericError&) {
    drop_gradients(dropped);
    if (!skip_non_finite) throw;
  }
  count_skip();
  return false;
}

// Collects the parts of an update for the chosen parameters, and the averages if they are due.
void Trainer::build(const ParameterFilter& chosen, const GradientBuffer* buffer) {
  for (auto& p : collection_.bank().parameters) {
    if (!chosen(*p)) continue;
    if (builder_->on_host()) p->copy_to_host();
    const float* const g = buffer ? buffer->find(p->index) : nullptr;
    if (stays(*p, g)) continue;
    const bool is_step = g && builder_->on_host();
    UpdatePart other{};
    UpdatePart& part = is_step ? builder_->add_step(*p) : other;
    describe(*p, g, part);
    part.g = g;
    if (!is_step) builder_->add(*p, part);
  }
  for (auto& p : collection_.bank().tables)
    if (chosen(*p)) build_table(*p, buffer ? buffer->find_rows(p->index) : nullptr);
  if (averaging_.is_due()) build_averages();
}

// True if the update leaves a parameter unchanged.
bool Trainer::stays(const ParameterStorageBase& p, bool has_gradient) const {
  return p.size() == 0 ||
         (!has_gradient && decay_factor(p) == 1 && !averaging_.enabled() && !state_.find(p));
}

// Fills in all values of a parameter, except the gradient.
void Trainer::describe(ParameterStorageBase& p, bool has_gradient, UpdatePart& part) {
  if (has_gradient || averaging_.enabled()) prepare_state(p);
  part.n = p.size();
  part.decay_factor = decay_factor(p);
  part.w = builder_->values(p);
  if (rule_.whole && p.is_lookup) {
    part.n = p.row_size();
    part.count = p.rows;
  }
  TrainerState::Arrays* const state = rule_.arrays ? state_.find(p) : nullptr;
  for (std::size_t k = 0; state && k < rule_.arrays; ++k)
    part.state[k] = builder_->state((*state)[k]);
}

void Trainer::build_table(ParameterStorageBase& p, const RowGradients* r) {
  UpdateBuilder& b = *builder_;
  if (b.on_host()) p.copy_to_host();
  if (stays(p, r)) return;
  UpdatePart part{};
  describe(p, r, part);
  if (r && r->whole_written()) {
    b.unify(*r);
    part.g = r->whole();
    b.add(p, part);
  } else if (sparse_updates_enabled) {
    const UpdatePart decay{.n = p.size(), .decay_factor = part.decay_factor, .w = part.w};
    part.decay_factor = 1;
    if (r) b.add_used_rows(p, part, *r);
    b.add(p, decay);
  } else if (r) {
    b.add_used_rows(p, part, *r);
    b.add_other_rows(p, part, *r);
  } else {
    b.add(p, part);
  }
}

void Trainer::build_averages() {
  UpdateBuilder& b = *builder_;
  b.next.average = averaging_.next_part();
  for (ParameterStorageBase* p : averaged()) {
    if (b.on_host()) p->copy_to_host();
    b.next.averages.push_back({.n = p->size(),
                               .decay_factor = 1,
                               .w = b.values(*p),
                               .state = {b.state(state_.find(*p)->back())}});
  }
}

// Allocates missing state arrays.
void Trainer::prepare_state(ParameterStorageBase& p) {
  if (arrays() == 0) return;
  const TrainerState::Arrays* const old = state_.find(p);
  if (old && old->size() == arrays()) return;
  p.copy_to_host();
  begin_parameter(p);
  TrainerState::Arrays fresh;
  for (std::size_t k = 0; k < arrays(); ++k) fresh.emplace_back(p.size());
  TrainerState::Arrays& state = state_[p];
  builder_->fresh.push_back({&p, state.size()});
  for (std::size_t k = 0; k < state.size(); ++k) std::swap(fresh[k], state[k]);
  if (averaging_.count() > 0) {  // a new average starts as that of a constant value
    const auto part = static_cast<float>(averaging_.weight_of_constant());
    for (std::size_t i = 0; i < p.size(); ++i) fresh.back().data()[i] = part * p.data[i];
  }
  state.swap(fresh);
}

// Drops state arrays that were allocated for an update that failed.
void Trainer::drop_fresh_state() {
  for (const UpdateBuilder::Fresh& fresh : builder_->fresh) state_[*fresh.p].resize(fresh.arrays);
}

// All parameters of the collection with an average.
std::vector<ParameterStorageBase*> Trainer::averaged() {
  std::vector<ParameterStorageBase*> all;
  for (auto* list : {&collection_.bank().parameters, &collection_.bank().tables})
    for (auto& p : *list)
      if (const auto* s = contains(*p) ? state_.find(*p) : nullptr; s && s->size() == arrays())
        all.push_back(p.get());
  return all;
}

float Trainer::clip_gradients() {
  collect_outcome();
  if (!checks_norm()) return 1;
  check_threshold();
  const auto chosen = [this](const ParameterStorageBase& p) { return trains(p); };
  const double norm = std::sqrt(gradient_squared_norm(collection_.bank(), chosen));
  if (!std::isfinite(norm)) throw_bad_gradient(chosen);
  const double threshold = clip_threshold;
  if (!clipping_enabled || norm <= threshold) return 1;
  count_clip();
  return clipped_scale(1, norm, threshold);
}

void Trainer::check_threshold() const {
  if (clipping_enabled && !(clip_threshold >= 0))
    throw ArgumentError("Trainer: clip_threshold must not be negative, got " +
                        std::to_string(clip_threshold));
}

void Trainer::throw_bad_gradient(const ParameterFilter& chosen) const {
  const auto fail = [](const ParameterStorageBase& p, const float* g, std::size_t i,
                       const std::string& row) {
    std::ostringstream message;
    message << "Trainer: the gradient of " << (p.is_lookup ? "lookup parameter " : "parameter ")
            << p.name << " " << to_string(p.dim) << row << " is " << g[i] << " at value " << i
            << "; nothing was updated";
    throw NumericError(message.str());
  };
  ParameterBank& bank = collection_.bank();
  const GradientBuffer& all = bank.gradients.merged();
  for (auto& p : bank.parameters) {
    const float* g = chosen(*p) ? all.find(p->index) : nullptr;
    if (!g) continue;
    if (const std::size_t i = find_bad(g, p->size()); i < p->size()) fail(*p, g, i, "");
  }
  for (auto& p : bank.tables) {
    const RowGradients* const r = chosen(*p) ? all.find_rows(p->index) : nullptr;
    for (std::uint32_t row = 0; r && row < p->rows; ++row) {
      const float* const g = r->gradient_of(row);
      if (!g) continue;
      if (const std::size_t i = find_bad(g, p->row_size()); i < p->row_size())
        fail(*p, g, i, " of row " + std::to_string(row));
    }
  }
  throw NumericError("Trainer: the norm of the gradients is not finite; nothing was updated");
}

// Waits for the last update on a device and corrects the counters.
void Trainer::collect_outcome() {
  if (!pending_.waits) return;
  pending_.waits = false;
  const UpdateOutcome outcome = builder_->outcome();
  if (std::isfinite(outcome.norm)) {
    if (pending_.clips && outcome.norm > builder_->next.threshold) count_clip();
    return;
  }
  --step_;
  uncount_update();
  if (schedule_) learning_rate = schedule_.rate(--scheduled_);
  averaging_ = pending_.before;
  drop_fresh_state();
  if (pending_.skips) return count_skip();
  const ParameterStorageBase& p = *builder_->steps[outcome.bad_step];
  pending_error_ = "Trainer: in the update before, the gradient of " +
                   std::string(p.is_lookup ? "lookup parameter " : "parameter ") + p.name + " " +
                   to_string(p.dim) + " was not finite; that update changed nothing";
}

void Trainer::throw_pending_error() {
  if (!pending_error_.empty()) throw NumericError(std::exchange(pending_error_, {}));
}

void Trainer::forget_state() {
  state_ = {};
  averaging_.restart();
}

void Trainer::restart() {
  need_weights("restart");
  collect_outcome();
  forget_state();
  step_ = 0;
}

void Trainer::restart(real new_learning_rate) {
  need_finite("Trainer::restart", "learning_rate", new_learning_rate);
  restart();
  learning_rate = new_learning_rate;
}

std::string Trainer::status() {
  collect_outcome();
  throw_pending_error();
  std::ostringstream out;
  out << "[lr=" << learning_rate;
  take_status(out);
  out << "]";
  if (const ProcessHooks* process = find_process_hooks()) process->print(out.str() + ' ');
  return out.str();
}

void Trainer::set_schedule(const LearningRateSchedule& schedule) {
  collect_outcome();
  schedule_ = schedule;
  scheduled_ = 0;
  if (schedule_) learning_rate = schedule_.rate(0);
}

void Trainer::need_weights(const char* who) const {
  if (swapped_)
    throw ArgumentError(std::string("Trainer: ") + who +
                        " while the averages replace the values; call "
                        "swap_params_to_weights first");
}

void Trainer::start_average(MovingAverage kind, real beta, std::uint64_t every) {
  need_weights("another moving average");
  need_fraction("exponential_moving_average", "beta", beta);
  if (every == 0) throw ArgumentError("Trainer: a moving average needs every > 0, got 0");
  collect_outcome();
  state_.keep(rule_.arrays);
  averaging_ = Averaging(kind, beta, every);
}

void Trainer::exponential_moving_average(real beta, std::uint64_t every) {
  start_average(MovingAverage::Exponential, beta, every);
}

void Trainer::cumulative_moving_average(std::uint64_t every) {
  start_average(MovingAverage::Cumulative, 0, every);
}

void Trainer::swap_params_to_moving_average(bool save_weights, bool bias_correction) {
  need_weights("a second swap");
  collect_outcome();
  if (averaging_.count() == 0)
    throw ArgumentError("Trainer: there is no moving average yet to swap the parameters to");
  const std::vector<ParameterStorageBase*> all = averaged();
  for (ParameterStorageBase* p : all) {
    p->copy_to_host();
    if (save_weights) weights_.emplace_back(p, StateArray(p->size()));
  }
  for (auto& [p, saved] : weights_) std::copy_n(p->data, p->size(), saved.data());
  const auto factor =
      static_cast<float>(bias_correction ? 1 / averaging_.weight_of_constant() : 1.0);
  for (ParameterStorageBase* p : all) {
    const float* a = state_.find(*p)->back().data();
    for (std::size_t i = 0; i < p->size(); ++i) p->data[i] = factor * a[i];
    p->changed();
  }
  swapped_ = save_weights;
}

void Trainer::swap_params_to_weights() {
  if (!swapped_) throw ArgumentError("Trainer: the weights are where they belong");
  for (auto& [p, saved] : weights_) {
    p->copy_to_host();
    std::copy_n(saved.data(), p->size(), p->data);
    p->changed();
  }
  weights_.clear();
  swapped_ = false;
}

}  // namespace dynet
