#include "dynet-like/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/param/gradient_reader.h"
#include "dynet-like/train/lazy_rows.h"
#include "dynet-like/train/on_device.h"

namespace dynet {
namespace {

// The index of the first value that is not finite, or n.
std::size_t find_bad(const float* g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(g[i])) return i;
  return n;
}

}  // namespace

Trainer::Trainer(const ParameterCollection& pc, real lr, const TrainerRule& rule)
    : learning_rate(lr), collection_(pc), rule_(rule) {
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

std::string Trainer::relative_name(const ParameterStorageBase& p) const {
  return p.name.substr(collection_.get_fullname().size() - 1);
}

Trainer::State* Trainer::find_state(const ParameterStorageBase& p) {
  auto& all = p.is_lookup ? tables_ : dense_;
  return p.index < all.size() && !all[p.index].empty() ? &all[p.index] : nullptr;
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
  if (!std::isfinite(scale))
    throw ArgumentError("Trainer: gradients cannot count " + std::to_string(scale) + " times");
  need_finite("Trainer", "learning_rate", learning_rate);
  if (checks_norm()) check_threshold();
  collect_outcome();
  bool made = true;
  if (!update_on_device(chosen, dropped, scale)) made = update_on_host(chosen, dropped, scale);
  throw_pending_error();
  return made;
}

void Trainer::drop_gradients(const ParameterFilter& dropped) {
  if (dropped)
    forget_gradients(collection_.bank(), dropped);
  else
    forget_gradients(collection_.bank(), collection_.node());
}

bool Trainer::update_on_host(const ParameterFilter& chosen, const ParameterFilter& dropped,
                             real scale) {
  ParameterBank& bank = collection_.bank();
  const GradientBuffer* buffer = bank.gradients.merge();
  float factor = scale;
  try {
    if (checks_norm()) factor = clip(gradient_squared_norm(bank, buffer, chosen), chosen, scale);
  } catch (const NumericError&) {
    drop_gradients(dropped);
    if (!skip_non_finite) throw;
    ++skipped;
    ++skipped_since_status;
    return false;
  }
  prepare(chosen, buffer);
  begin_update(step_ + 1, constants_);
  count_update();
  for_each_piece([&](const Piece& piece) {
    const float* g = buffer ? buffer->find(piece.p->index) : nullptr;
    update_slice(*piece.p, piece.at, piece.n, g ? g + piece.at : nullptr, factor,
                 decay_factor(*piece.p));
  });
  for (auto& p : bank.tables)
    if (chosen(*p)) update_table(*p, buffer ? buffer->find_rows(p->index) : nullptr, factor);
  for (auto* all : {&bank.parameters, &bank.tables})
    for (auto& p : *all)
      if (chosen(*p)) p->changed();
  drop_gradients(dropped);
  if (average_kind_ && ++average_waited_ >= average_every_) update_averages();
  if (schedule_) learning_rate = schedule_.rate(++scheduled_);
  return true;
}

void Trainer::count_update() {
  ++step_;
  ++updates;
  ++updates_since_status;
}

// All memory that the update needs, on the host, so that nothing can fail once it has begun.
void Trainer::prepare(const ParameterFilter& chosen, const GradientBuffer* buffer) {
  ParameterBank& bank = collection_.bank();
  chosen_.clear();
  for (auto& p : bank.parameters) {
    if (!chosen(*p)) continue;
    chosen_.push_back(p.get());
    p->finish_rows();
    if (average_kind_ || (buffer && buffer->find(p->index))) prepare_state(*p);
  }
  for (auto& p : bank.tables) {
    if (!chosen(*p)) continue;
    const bool has_gradient = buffer && buffer->find_rows(p->index);
    if (average_kind_ || has_gradient) prepare_state(*p);
    prepare_lazy_rows(*p, has_gradient);
  }
  for (auto* all : {&bank.parameters, &bank.tables})
    for (auto& p : *all)
      if (State* state = chosen(*p) ? find_state(*p) : nullptr)
        for (StateArray& a : *state) a.data();  // which copies it to the host
  cut(chosen_, rule_.whole);
}

// True if there was none yet.
bool Trainer::prepare_state(ParameterStorageBase& p) {
  if (arrays() == 0) return false;
  auto& all = p.is_lookup ? tables_ : dense_;
  if (p.index < all.size() && all[p.index].size() == arrays()) return false;
  p.finish_rows();
  begin_parameter(p);
  State fresh;
  for (std::size_t k = 0; k < arrays(); ++k) fresh.emplace_back(p.size());
  if (p.index >= all.size()) all.resize(p.index + 1);
  State& state = all[p.index];
  for (std::size_t k = 0; k < state.size(); ++k) std::swap(fresh[k], state[k]);
  if (averages_ > 0) {  // as if it had always been what it is now
    const double b = average_beta_, n = static_cast<double>(averages_);
    const auto part = static_cast<float>(
        moving_average() == MovingAverage::Exponential ? 1 - std::pow(b, n) : 1.0);
    for (std::size_t i = 0; i < p.size(); ++i) fresh.back().data()[i] = part * p.data[i];
  }
  state.swap(fresh);
  return true;
}

void Trainer::prepare_lazy_rows(ParameterStorageBase& p, bool has_gradient) {
  LazyRows* lazy = p.index < lazy_.size() ? lazy_[p.index].get() : nullptr;
  if (!sparse_updates_enabled || !sparse_updates_exact) {
    if (lazy) lazy_[p.index].reset();
    p.finish_rows();  // another trainer's rows
    return;
  }
  if (!lazy && (has_gradient || find_state(p))) {
    if (p.index >= lazy_.size()) lazy_.resize(p.index + 1);
    lazy_[p.index] = std::make_unique<LazyRows>(p, rule_, find_state(p));
    lazy = lazy_[p.index].get();
  }
  if (lazy) {
    lazy->reserve();
    lazy->attach();
  } else {
    p.finish_rows();
  }
}

void Trainer::update_slice(ParameterStorageBase& p, std::size_t at, std::size_t n, const float* g,
                           float scale, float decay_factor) {
  if (n == 0) return;
  TrainerSlice s{n, p.data + at, g, {}, constants_.data(), scale, decay_factor};
  State* state = rule_.arrays ? find_state(p) : nullptr;
  if (!g && !state) {  // nothing to go by: only the weight decay is left
    scale_values(s.w, n, static_cast<double>(decay_factor));
    return;
  }
  for (std::size_t k = 0; k < rule_.arrays; ++k) s.state[k] = (*state)[k].data() + at;
  rule_.apply(s);
}

// Rows of a table that are contiguous; `g` likewise, or null.
void Trainer::update_rows(ParameterStorageBase& p, std::size_t first, std::size_t rows,
                          const float* g, float scale, float decay_factor) {
  const std::size_t n = p.row_size(), each = rule_.whole ? 1 : rows;
  for (std::size_t row = 0; row < rows; row += each)
    update_slice(p, (first + row) * n, each * n, g ? g + row * n : nullptr, scale, decay_factor);
}

void Trainer::update_table(ParameterStorageBase& p, const RowGradients* r, float scale) {
  const float factor = decay_factor(p);
  LazyRows* lazy = p.index < lazy_.size() ? lazy_[p.index].get() : nullptr;
  if (r && r->whole_written()) {
    p.finish_rows();
    update_rows(p, 0, p.rows, r->whole(), scale, factor);
    return;
  }
  const std::size_t used = r ? r->rows().size() : 0;
  if (lazy) {
    for (std::size_t k = 0; k < used; ++k) lazy->finish(r->rows()[k]);
    lazy->miss({constants_, factor});
    for (std::size_t k = 0; k < used; ++k) {
      update_rows(p, r->rows()[k], 1, r->row_gradient(k), scale, factor);
      lazy->took_last(r->rows()[k]);
    }
    return;
  }
  if (sparse_updates_enabled) {
    for (std::size_t k = 0; k < used; ++k)
      update_rows(p, r->rows()[k], 1, r->row_gradient(k), scale, 1.0f);
    scale_values(p.data, p.size(), static_cast<double>(factor));
    return;
  }
  std::size_t unused = 0;  // first row of a run of rows without gradient
  for (std::size_t row = 0; r && row < p.rows; ++row)
    if (const float* g = r->find(static_cast<std::uint32_t>(row))) {
      update_rows(p, unused, row - unused, nullptr, scale, factor);
      update_rows(p, row, 1, g, scale, factor);
      unused = row + 1;
    }
  update_rows(p, unused, p.rows - unused, nullptr, scale, factor);
}

// Pieces for several threads to share out; the numbers do not depend on how they are cut.
void Trainer::cut(const std::vector<ParameterStorageBase*>& parameters, bool whole) {
  // Smaller ones lose more on the way between CPUs than they gain.
  constexpr std::size_t kPiece = 1 << 18;
  pieces_.clear();
  for (ParameterStorageBase* p : parameters) {
    const std::size_t size = workers_ && !whole ? kPiece : std::max<std::size_t>(p->size(), 1);
    for (std::size_t at = 0; at < p->size(); at += size)
      pieces_.push_back({p, at, std::min(size, p->size() - at)});
  }
}

template <class F>
void Trainer::for_each_piece(F f) {
  const auto jobs = static_cast<unsigned>(pieces_.size());
  if (workers_)
    workers_->run(jobs, [&](unsigned job) { f(pieces_[job]); });
  else
    for (unsigned job = 0; job < jobs; ++job) f(pieces_[job]);
}

// Those that an average is kept of, in the whole collection.
std::vector<ParameterStorageBase*> Trainer::averaged() {
  std::vector<ParameterStorageBase*> all;
  for (auto* list : {&collection_.bank().parameters, &collection_.bank().tables})
    for (auto& p : *list)
      if (const State* s = contains(*p) ? find_state(*p) : nullptr; s && s->size() == arrays())
        all.push_back(p.get());
  return all;
}

// How much of the values goes into the n-th average.
float Trainer::average_part(std::uint64_t n) const {
  return moving_average() == MovingAverage::Exponential
             ? 1.0f - average_beta_
             : static_cast<float>(1.0 / static_cast<double>(n));
}

void Trainer::update_averages() {
  const std::vector<ParameterStorageBase*> all = averaged();
  for (ParameterStorageBase* p : all) p->finish_rows();
  cut(all, false);
  average_waited_ = 0;
  const float part = average_part(++averages_);
  for (ParameterStorageBase* p : all) find_state(*p)->back().data();  // here, before threads ask
  for_each_piece([&](const Piece& piece) {
    const float* __restrict w = piece.p->data + piece.at;
    float* __restrict a = find_state(*piece.p)->back().data() + piece.at;
    for (std::size_t i = 0; i < piece.n; ++i) a[i] += part * (w[i] - a[i]);
  });
}

float Trainer::clip_gradients() {
  collect_outcome();
  if (!checks_norm()) return 1;
  check_threshold();
  const auto chosen = [this](const ParameterStorageBase& p) { return trains(p); };
  return clip(gradient_squared_norm(collection_.bank(), chosen), chosen, 1);
}

// What the gradients are to be multiplied by, `scale` included.
float Trainer::clip(double squared_norm, const ParameterFilter& chosen, real scale) {
  const double norm = std::abs(static_cast<double>(scale)) * std::sqrt(squared_norm);
  if (!std::isfinite(norm)) throw_bad_gradient(chosen);
  const double threshold = clip_threshold;
  if (!clipping_enabled || norm <= threshold) return scale;
  ++clips;
  ++clips_since_status;
  return static_cast<float>(static_cast<double>(scale) * (threshold / norm));
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
  GradientReader reader(bank.gradients);
  for (auto& p : bank.parameters) {
    const float* g = chosen(*p) ? reader.find(p->index, p->size()) : nullptr;
    if (!g) continue;
    if (const std::size_t i = find_bad(g, p->size()); i < p->size()) fail(*p, g, i, "");
  }
  for (auto& p : bank.tables) {
    if (!chosen(*p)) continue;
    for (const std::uint32_t row : reader.rows(p->index)) {
      const float* g = reader.find_row(p->index, row);
      if (const std::size_t i = find_bad(g, p->row_size()); i < p->row_size())
        fail(*p, g, i, " of row " + std::to_string(row));
    }
  }
  throw NumericError("Trainer: the norm of the gradients is not finite; nothing was updated");
}

void Trainer::forget_state() {
  lazy_.clear();  // before the state that it makes up for missed updates with
  dense_.clear();
  tables_.clear();
  average_waited_ = averages_ = 0;
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
  out << "[lr=" << learning_rate << " clips=" << clips_since_status
      << " updates=" << updates_since_status;
  if (skipped_since_status) out << " skipped=" << skipped_since_status;
  out << "]";
  clips_since_status = updates_since_status = skipped_since_status = 0;
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
  for (auto* all : {&dense_, &tables_})
    for (State& s : *all)
      if (!s.empty()) s.resize(rule_.arrays);
  average_kind_ = static_cast<std::uint64_t>(kind);
  average_beta_ = beta;
  average_every_ = every;
  average_waited_ = averages_ = 0;
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
  if (averages_ == 0)
    throw ArgumentError("Trainer: there is no moving average yet to swap the parameters to");
  const std::vector<ParameterStorageBase*> all = averaged();
  for (ParameterStorageBase* p : all) {
    p->finish_rows();
    if (save_weights) weights_.emplace_back(p, StateArray(p->size()));
  }
  for (auto& [p, saved] : weights_) std::copy_n(p->data, p->size(), saved.data());
  const double b = average_beta_, n = static_cast<double>(averages_);
  const bool corrects = bias_correction && moving_average() == MovingAverage::Exponential;
  const auto factor = static_cast<float>(corrects ? 1 / (1 - std::pow(b, n)) : 1.0);
  for (ParameterStorageBase* p : all) {
    const float* a = find_state(*p)->back().data();
    for (std::size_t i = 0; i < p->size(); ++i) p->data[i] = factor * a[i];
    p->changed();
  }
  swapped_ = save_weights;
}

void Trainer::swap_params_to_weights() {
  if (!swapped_) throw ArgumentError("Trainer: the weights are where they belong");
  for (auto& [p, saved] : weights_) {
    p->finish_rows();
    std::copy_n(saved.data(), p->size(), p->data);
    p->changed();
  }
  weights_.clear();
  swapped_ = false;
}

}  // namespace dynet
