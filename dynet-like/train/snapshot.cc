// State of a trainer: views, comparison, restoring, text format.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <istream>
#include <ostream>
#include <set>
#include <type_traits>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/train/trainer.h"
#include "dynet-like/train/update.h"

namespace dynet {
namespace {

// True if a number of a file is valid for a setting of this type.
template <class Value>
bool can_hold(const Value& value, double x) {
  constexpr double kMost = 1ull << 53;  // larger integers have no exact double
  if (std::holds_alternative<bool*>(value)) return x == 0 || x == 1;
  if (std::holds_alternative<std::uint64_t*>(value))
    return x >= 0 && x <= kMost && x == std::floor(x);
  return true;
}

// Sets plain number and word formats on a stream, and restores its own formats at destruction.
class PlainFormat {
 public:
  explicit PlainFormat(std::ios_base& stream)
      : stream_(stream), flags_(stream.flags(std::ios::dec | std::ios::skipws)) {
    stream.width(0);
  }
  PlainFormat(const PlainFormat&) = delete;
  PlainFormat& operator=(const PlainFormat&) = delete;
  ~PlainFormat() { stream_.flags(flags_); }

 private:
  std::ios_base& stream_;
  std::ios_base::fmtflags flags_;
};

}  // namespace

std::vector<Trainer::Field> Trainer::fields() {
  LearningRateSchedule& s = schedule_;
  return {{"learning_rate", &learning_rate},
          {"clipping_enabled", &clipping_enabled},
          {"clip_threshold", &clip_threshold},
          {"sparse_updates_enabled", &sparse_updates_enabled},
          {"skip_non_finite", &skip_non_finite},
          {"clips", &clips},
          {"updates", &updates},
          {"skipped", &skipped},
          {"step", &step_},
          {"schedule_kind", &s.kind_},
          {"schedule_high", &s.high_},
          {"schedule_low", &s.low_},
          {"schedule_warm_up", &s.warm_up_},
          {"schedule_updates", &s.updates_},
          {"schedule_step_size", &s.step_size_},
          {"schedule_gamma", &s.gamma_},
          {"scheduled", &scheduled_},
          {"average_kind", &averaging_.kind_},
          {"average_beta", &averaging_.beta_},
          {"average_every", &averaging_.every_},
          {"average_waited", &averaging_.waited_},
          {"averages", &averaging_.count_}};
}

std::vector<Trainer::Field> Trainer::with(std::vector<Field> fields,
                                          std::initializer_list<Field> more) {
  fields.insert(fields.end(), more);
  return fields;
}

std::map<std::string, double> Trainer::numbers() const {
  collect_outcome();
  std::map<std::string, double> all;
  for (const Field& f : const_cast<Trainer*>(this)->fields())
    all[f.name] = std::visit([](auto* x) { return static_cast<double>(*x); }, f.value);
  return all;
}

std::vector<Trainer::StateView> Trainer::state_views() const {
  need_weights("saving");
  collect_outcome();
  std::vector<StateView> views;
  const auto add = [&](ParameterStorageBase& p) {
    if (!contains(p)) return;
    const TrainerState::Arrays* const state = state_.find(p);
    if (!state) return;
    StateView view{relative_name(p), p.full_dim(), {}};
    for (const StateArray& a : *state) view.arrays.push_back(a.data());
    views.push_back(std::move(view));
  };
  for (auto& p : collection_.bank().parameters) add(*p);
  for (auto& p : collection_.bank().tables) add(*p);
  return views;
}

Trainer::Trainer(const Trainer& other)
    : UpdateCounters(other),
      learning_rate(other.learning_rate),
      clipping_enabled(other.clipping_enabled),
      clip_threshold(other.clip_threshold),
      sparse_updates_enabled(other.sparse_updates_enabled),
      skip_non_finite(other.skip_non_finite),
      collection_(other.collection_),
      rule_(other.rule_),
      builder_(std::make_unique<UpdateBuilder>(rule_)) {
  other.need_weights("a copy of a trainer");
  other.collect_outcome();
  UpdateCounters::operator=(other);  // after the line above, which may change them
  step_ = other.step_;
  schedule_ = other.schedule_;
  scheduled_ = other.scheduled_;
  averaging_ = other.averaging_;
  workers_ = other.workers_;
  const auto copy = [&](ParameterStorageBase& p) {
    if (!contains(p)) return;
    const TrainerState::Arrays* const state = other.state_.find(p);
    if (!state) return;
    for (const StateArray& a : *state) {
      StateArray& own = state_[p].emplace_back(a.size());
      std::copy_n(a.data(), a.size(), own.data());
    }
  };
  for (auto& p : collection_.bank().parameters) copy(*p);
  for (auto& p : collection_.bank().tables) copy(*p);
}

std::vector<std::string> Trainer::differences(const TrainerSnapshot& s) const {
  if (s.kind != kind()) return {"a " + s.kind + " was saved, not a " + kind()};
  std::vector<std::string> found;
  std::set<std::string> known;
  for (const Field& f : const_cast<Trainer*>(this)->fields()) {
    known.insert(f.name);
    const auto saved = s.numbers.find(f.name);
    if (saved == s.numbers.end()) {
      if (!f.if_missing) found.push_back(s.kind + " has no setting " + f.name);
    } else if (!can_hold(f.value, saved->second)) {
      found.push_back(s.kind + " cannot have a setting " + f.name + " of " +
                      std::to_string(saved->second));
    }
  }
  for (auto& [name, value] : s.numbers) {
    if (name == "sparse_updates_exact") {  // written by version 0.1, usually 0
      if (value != 0)
        found.push_back(s.kind +
                        " was saved with sparse_updates_exact, which is not supported: load the "
                        "model without its trainer and start a new one, with "
                        "sparse_updates_enabled = false for the same updates");
    } else if (!known.contains(name)) {
      found.push_back(s.kind + " has an unknown setting " + name);
    }
  }
  const auto average = s.numbers.find("average_kind");
  const bool averages = average != s.numbers.end() && average->second != 0;
  std::map<std::string, const ParameterStorageBase*> here;
  const auto add = [&](const ParameterStorageBase& p) {
    if (contains(p)) here[relative_name(p)] = &p;
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
    // An average without updates so far has no array.
    else if (e.arrays.size() != rule_.arrays && e.arrays.size() != rule_.arrays + averages)
      found.push_back(what + " has " + std::to_string(e.arrays.size()) + " arrays, not " +
                      std::to_string(rule_.arrays + averages));
    if (!seen.insert(e.name).second) found.push_back(what + " comes twice");
  }
  return found;
}

void Trainer::restore(TrainerSnapshot&& s) {
  const ParameterBank& bank = collection_.bank();
  std::map<std::string, const ParameterStorageBase*> here;
  for (auto& p : bank.parameters) here[p->name] = p.get();
  for (auto& p : bank.tables) here[p->name] = p.get();
  const std::string& full = collection_.get_fullname();
  TrainerState state;
  for (TrainerSnapshot::Entry& e : s.entries) {
    const ParameterStorageBase& p = *here.at(full + e.name.substr(1));
    state[p] = std::move(e.arrays);
  }
  const std::vector<Field> mine = fields();
  std::vector<double> values;
  for (const Field& f : mine) {
    const auto saved = s.numbers.find(f.name);
    values.push_back(saved != s.numbers.end() ? saved->second : f.if_missing.value());
  }
  collect_outcome();
  pending_error_.clear();
  forget_state();
  weights_.clear();  // the saved weights are obsolete
  swapped_ = false;
  state_.swap(state);
  for (std::size_t i = 0; i < mine.size(); ++i)  // no allocation from here on
    std::visit([&](auto* x) { *x = static_cast<std::remove_reference_t<decltype(*x)>>(values[i]); },
               mine[i].value);
}

// Words and numbers, separated by white space:
//   kind, number of settings, name and value of each, number of parameters with state, and for each
//   its quoted name, rank and sizes, number of arrays and all their values.
// Numbers have the shortest digits that restore them exactly, independent of the stream's flags and
// locale; `inf`, `-inf`, `nan` and `-nan` are valid.
void Trainer::save(std::ostream& out) const {
  const auto settings = numbers();
  const auto states = state_views();
  const auto put = [&](auto number, char end) {
    char digits[32];
    char* const last = std::to_chars(digits, digits + sizeof digits - 1, number).ptr;
    *last = end;
    out.write(digits, last + 1 - digits);
  };
  const PlainFormat plain(out);
  out << kind() << ' ';
  put(settings.size(), '\n');
  for (const auto& [name, value] : settings) {
    out << name << ' ';
    put(value, '\n');
  }
  put(states.size(), '\n');
  for (const StateView& s : states) {
    out << std::quoted(s.name) << ' ';
    put(s.dim.nd, ' ');
    for (unsigned i = 0; i < s.dim.nd; ++i) put(s.dim.d[i], ' ');
    put(s.arrays.size(), '\n');
    for (const float* a : s.arrays)
      for (std::size_t i = 0; i < s.dim.size(); ++i) put(a[i], i + 1 < s.dim.size() ? ' ' : '\n');
  }
  if (!out) throw FileError("Trainer: the stream takes no more text");
}

void Trainer::populate(std::istream& in) {
  const auto need = [](bool holds, const std::string& why) {
    if (!holds) throw FileError("Trainer: the text is not of a saved trainer: " + why);
  };
  std::string word;
  const auto text = [&](const char* what) -> const std::string& {
    need(static_cast<bool>(in >> word), std::string(what) + " is missing");
    return word;
  };
  const auto next = [&]<class T>(T value, const char* what) {
    const std::string& digits = text(what);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    need(error == std::errc() && end == digits.data() + digits.size(),
         std::string(what) + " is no number, " + quoted_printable(digits.substr(0, 40)));
    return value;
  };
  const PlainFormat plain(in);
  TrainerSnapshot s;
  s.kind = text("the kind");
  for (auto n = next(std::size_t(), "the number of settings"); n > 0; --n) {
    const std::string name = text("a setting");  // NOLINT: a copy; the next call overwrites it
    s.numbers[name] = next(double(), "the value of a setting");
  }
  std::size_t known = 0;  // upper limit on sizes in the file, before memory is allocated
  for (auto* list : {&collection_.bank().parameters, &collection_.bank().tables})
    for (auto& p : *list) known = std::max(known, p->size());
  for (auto n = next(std::size_t(), "the number of states"); n > 0; --n) {
    TrainerSnapshot::Entry e;
    need(static_cast<bool>(in >> std::quoted(e.name)), "a name is missing");
    const auto rank = next(unsigned(), "a rank");
    need(rank <= kMaxTensorDim, "a rank is " + std::to_string(rank));
    std::vector<long> sizes;
    for (unsigned i = 0; i < rank; ++i) sizes.push_back(next(unsigned(), "a size"));
    e.dim = Dim(sizes);
    const auto arrays = next(std::size_t(), "a number of arrays");
    need(arrays <= TrainerSlice::kMaxArrays + 1, "there are too many arrays");
    need(e.dim.size() <= known,
         "the state of " + quoted_printable(e.name) + " is larger than any parameter");
    for (std::size_t k = 0; k < arrays; ++k) {
      e.arrays.emplace_back(e.dim.size());
      for (std::size_t i = 0; i < e.dim.size(); ++i)
        e.arrays.back().data()[i] = next(float(), "a value");
    }
    s.entries.push_back(std::move(e));
  }
  std::string all;
  for (const std::string& d : differences(s)) all += (all.empty() ? "" : "; ") + d;
  if (!all.empty()) throw FileError("Trainer: the text does not fit: " + printable(all));
  restore(std::move(s));
}

void Trainer::populate(std::istream& in, real new_learning_rate) {
  need_finite("Trainer::populate", "learning_rate", new_learning_rate);
  populate(in);
  learning_rate = new_learning_rate;
}

}  // namespace dynet
