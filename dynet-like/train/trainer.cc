#include "dynet-like/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/workers.h"

namespace dynet {
namespace {

// The place of the first value that is not finite, or n.
std::size_t find_bad(const float* g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(g[i])) return i;
  return n;
}

void scale_floats(float* v, std::size_t n, float s) {
  for (std::size_t i = 0; i < n; ++i) v[i] *= s;
}

float keep_factor(const ParameterStorage& p) {
  return 1.0f - p.collection->effective_weight_decay();
}

}  // namespace

Trainer::Trainer(const ParameterCollection& pc, real lr, std::size_t arrays)
    : learning_rate(lr), collection_(pc), arrays_(arrays) {}

bool Trainer::trains(const ParameterStorage& p) const {
  return p.updated && collection_.node().contains(p.collection);
}

std::string Trainer::relative_name(const ParameterStorage& p) const {
  return p.name.substr(collection_.get_fullname().size() - 1);
}

Trainer::State* Trainer::find_state(const ParameterStorage& p) {
  auto& all = p.is_lookup ? tables_ : dense_;
  return p.index < all.size() && !all[p.index].empty() ? &all[p.index] : nullptr;
}

// All memory that the update needs, so that nothing can fail once it has begun.
void Trainer::prepare_state(const GradientLane& lane) {
  const auto prepare = [&](const ParameterStorage& p, bool has_gradient) {
    if (!has_gradient || !trains(p)) return;
    if (find_state(p)) return;
    State fresh;
    for (std::size_t k = 0; k < arrays_; ++k) fresh.emplace_back(p.size());
    auto& all = p.is_lookup ? tables_ : dense_;
    if (p.index >= all.size()) all.resize(p.index + 1);
    all[p.index] = std::move(fresh);
  };
  ParameterBank& bank = collection_.bank();
  for (auto& p : bank.parameters) prepare(*p, lane.find(p->index));
  for (auto& p : bank.tables) prepare(*p, lane.find_rows(p->index));
}

void Trainer::update_slice(ParameterStorage& p, std::size_t at, std::size_t n, const float* g,
                           float scale, float keep) {
  if (n == 0) return;
  Slice s{n, p.values + at, g, {}, scale, keep};
  State* state = find_state(p);
  if (!g && !state) {  // nothing to go by: only the weight decay is left
    if (keep != 1.0f) scale_floats(s.w, n, keep);
    return;
  }
  for (std::size_t k = 0; k < arrays_; ++k) s.state[k] = (*state)[k].data() + at;
  apply(s);
}

void Trainer::update_table(ParameterStorage& p, const RowGradients* r, float scale) {
  const float keep = keep_factor(p);
  if (r && r->whole_written()) {
    update_slice(p, 0, p.size(), r->whole(), scale, keep);
    return;
  }
  const std::size_t row_size = p.row_size();
  if (sparse_updates_enabled) {
    for (std::size_t k = 0; r && k < r->rows().size(); ++k)
      update_slice(p, r->rows()[k] * row_size, row_size, r->row_gradient(k), scale, 1.0f);
    if (keep != 1.0f) scale_floats(p.values, p.size(), keep);
    return;
  }
  std::size_t unused = 0;  // first row of a run of rows without gradient
  for (std::size_t row = 0; r && row < p.rows; ++row)
    if (const float* g = r->find(static_cast<std::uint32_t>(row))) {
      update_slice(p, unused * row_size, (row - unused) * row_size, nullptr, scale, keep);
      update_slice(p, row * row_size, row_size, g, scale, keep);
      unused = row + 1;
    }
  update_slice(p, unused * row_size, (p.rows - unused) * row_size, nullptr, scale, keep);
}

void Trainer::update() {
  ParameterBank& bank = collection_.bank();
  float scale = 1.0f;
  try {
    scale = clip_gradients();
  } catch (const NumericError&) {
    forget_gradients(bank, collection_.node());
    throw;
  }
  const GradientLane* lane = bank.gradients.merge();
  if (lane && arrays_ > 0) prepare_state(*lane);
  const std::vector<Piece>& pieces = dense_pieces();
  begin_update(step_ + 1);
  bank.changes.fetch_add(1, std::memory_order_relaxed);
  ++step_;
  ++updates;
  ++updates_since_status;
  update_dense(pieces, lane, scale);
  for (auto& p : bank.tables)
    if (trains(*p)) update_table(*p, lane ? lane->find_rows(p->index) : nullptr, scale);
  forget_gradients(bank, collection_.node());
}

// Pieces for several threads to share out; the numbers do not depend on how they are cut.
const std::vector<Trainer::Piece>& Trainer::dense_pieces() {
  // Smaller ones lose more on the way between processors than they gain.
  constexpr std::size_t kPiece = 1 << 18;
  std::vector<Piece>& pieces = pieces_;
  pieces.clear();
  for (auto& p : collection_.bank().parameters) {
    if (!trains(*p)) continue;
    const std::size_t size = workers_ ? kPiece : std::max<std::size_t>(p->size(), 1);
    for (std::size_t at = 0; at < p->size(); at += size)
      pieces.push_back({p.get(), at, std::min(size, p->size() - at)});
  }
  return pieces;
}

void Trainer::update_dense(const std::vector<Piece>& pieces, const GradientLane* lane,
                           float scale) {
  const auto update = [&](unsigned job) {
    const Piece& piece = pieces[job];
    const float* g = lane ? lane->find(piece.p->index) : nullptr;
    update_slice(*piece.p, piece.at, piece.n, g ? g + piece.at : nullptr, scale,
                 keep_factor(*piece.p));
  };
  const auto jobs = static_cast<unsigned>(pieces.size());
  if (workers_)
    workers_->run(jobs, update);
  else
    for (unsigned job = 0; job < jobs; ++job) update(job);
}

float Trainer::clip_gradients() {
  if (!clipping_enabled) return 1.0f;
  if (!(clip_threshold >= 0))
    throw ArgumentError("Trainer: clip_threshold must not be negative, got " +
                        std::to_string(clip_threshold));
  const double norm = std::sqrt(gradient_squared_norm(collection_.bank(), collection_.node()));
  if (!std::isfinite(norm)) throw_bad_gradient();
  if (norm <= static_cast<double>(clip_threshold)) return 1.0f;
  ++clips;
  ++clips_since_status;
  return static_cast<float>(static_cast<double>(clip_threshold) / norm);
}

void Trainer::throw_bad_gradient() const {
  const auto fail = [](const ParameterStorage& p, const float* g, std::size_t i, std::string row) {
    std::ostringstream message;
    message << "Trainer: the gradient of " << (p.is_lookup ? "lookup parameter " : "parameter ")
            << p.name << " " << to_string(p.dim) << row << " is " << g[i] << " at value " << i
            << "; nothing was updated";
    throw NumericError(message.str());
  };
  ParameterBank& bank = collection_.bank();
  if (GradientLane* lane = bank.gradients.merge()) {
    for (auto& p : bank.parameters) {
      const float* g = trains(*p) ? lane->find(p->index) : nullptr;
      if (!g) continue;
      if (const std::size_t i = find_bad(g, p->size()); i < p->size()) fail(*p, g, i, "");
    }
    for (auto& p : bank.tables) {
      const RowGradients* r = trains(*p) ? lane->find_rows(p->index) : nullptr;
      if (!r) continue;
      const std::size_t n = p->row_size();
      for (std::size_t row = 0; row < p->rows; ++row) {
        const float* g =
            r->whole_written() ? r->whole() + row * n : r->find(static_cast<std::uint32_t>(row));
        if (!g) continue;
        if (const std::size_t i = find_bad(g, n); i < n)
          fail(*p, g, i, " of row " + std::to_string(row));
      }
    }
  }
  throw NumericError("Trainer: the norm of the gradients is not finite; nothing was updated");
}

void Trainer::restart() {
  dense_.clear();
  tables_.clear();
  step_ = 0;
}

void Trainer::restart(real new_learning_rate) {
  restart();
  learning_rate = new_learning_rate;
}

std::string Trainer::status() {
  std::ostringstream out;
  out << "[lr=" << learning_rate << " clips=" << clips_since_status
      << " updates=" << updates_since_status << "]";
  clips_since_status = updates_since_status = 0;
  return out.str();
}

std::vector<Trainer::Field> Trainer::fields() {
  return {{"learning_rate", &learning_rate},
          {"clipping_enabled", &clipping_enabled},
          {"clip_threshold", &clip_threshold},
          {"sparse_updates_enabled", &sparse_updates_enabled},
          {"clips", &clips},
          {"updates", &updates},
          {"step", &step_}};
}

std::map<std::string, double> Trainer::numbers() const {
  std::map<std::string, double> all;
  for (const Field& f : const_cast<Trainer*>(this)->fields())
    all[f.name] = std::visit([](auto* x) { return static_cast<double>(*x); }, f.value);
  return all;
}

std::vector<Trainer::StateView> Trainer::state_views() const {
  std::vector<StateView> views;
  const auto add = [&](const ParameterStorage& p) {
    const State* state = const_cast<Trainer*>(this)->find_state(p);
    if (!state || !collection_.node().contains(p.collection)) return;
    StateView view{relative_name(p), p.full_dim(), {}};
    for (const StateArray& a : *state) view.arrays.push_back(a.data());
    views.push_back(std::move(view));
  };
  for (auto& p : collection_.bank().parameters) add(*p);
  for (auto& p : collection_.bank().tables) add(*p);
  return views;
}

std::vector<std::string> Trainer::differences(const TrainerSnapshot& s) const {
  if (s.kind != kind()) return {"a " + s.kind + " was saved, not a " + kind()};
  std::vector<std::string> found;
  const auto mine = numbers();
  for (auto& [name, value] : mine)
    if (!s.numbers.contains(name)) found.push_back(s.kind + " has no setting " + name);
  for (auto& [name, value] : s.numbers)
    if (!mine.contains(name)) found.push_back(s.kind + " has an unknown setting " + name);
  std::map<std::string, const ParameterStorage*> here;
  const auto add = [&](const ParameterStorage& p) {
    if (collection_.node().contains(p.collection)) here[relative_name(p)] = &p;
  };
  for (auto& p : collection_.bank().parameters) add(*p);
  for (auto& p : collection_.bank().tables) add(*p);
  std::set<std::string> seen;
  for (const TrainerSnapshot::Entry& e : s.entries) {
    const auto p = here.find(e.name);
    const std::string what = s.kind + " state of " + e.name;
    if (p == here.end())
      found.push_back(what + " fits no parameter");
    else if (p->second->full_dim() != e.dim)
      found.push_back(what + " is " + to_string(e.dim) + " in the file and " +
                      to_string(p->second->full_dim()) + " here");
    else if (e.arrays.size() != arrays_)
      found.push_back(what + " has " + std::to_string(e.arrays.size()) + " arrays, not " +
                      std::to_string(arrays_));
    if (!seen.insert(e.name).second) found.push_back(what + " comes twice");
  }
  return found;
}

void Trainer::restore(TrainerSnapshot&& s) {
  const ParameterBank& bank = collection_.bank();
  std::map<std::string, const ParameterStorage*> here;
  for (auto& p : bank.parameters) here[p->name] = p.get();
  for (auto& p : bank.tables) here[p->name] = p.get();
  const std::string& full = collection_.get_fullname();
  std::vector<State> dense(bank.parameters.size()), tables(bank.tables.size());
  for (TrainerSnapshot::Entry& e : s.entries) {
    const ParameterStorage& p = *here.at(full + e.name.substr(1));
    (p.is_lookup ? tables : dense)[p.index] = std::move(e.arrays);
  }
  const std::vector<Field> mine = fields();
  dense_.swap(dense);
  tables_.swap(tables);
  for (const Field& f : mine)
    std::visit(
        [&](auto* x) {
          if (const auto n = s.numbers.find(f.name); n != s.numbers.end())
            *x = static_cast<std::remove_reference_t<decltype(*x)>>(n->second);
        },
        f.value);
}

}  // namespace dynet
