// Calls that only look change no bit of training.

#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/train/rules.h"

namespace looking_test {

using namespace dynet;

namespace {

/// Settings that decide what becomes of gradients.
struct Mode {
  std::string name;
  bool sparse = true;
  MovingAverage average = MovingAverage::None;
  float decay = 0;
};

const std::vector<Mode> kModes{
    {"sparse tables"},
    {"weight decay", true, MovingAverage::None, 0.01f},
    {"dense tables", false},
    {"dense tables, weight decay", false, MovingAverage::None, 0.01f},
    {"exponential average", true, MovingAverage::Exponential},
    {"dense tables, cumulative average", false, MovingAverage::Cumulative},
};

struct Model {
  const TrainerCase& kind;
  const Mode& mode;
  ParameterCollection pc{mode.decay}, sub = pc.add_subcollection("sub");
  Parameter often, seldom, late, never, frozen;
  LookupParameter rows, whole, both, untouched;
  std::unique_ptr<Trainer> trainer;

  Model(const TrainerCase& c, const Mode& m) : kind(c), mode(m) {
    const auto dense = [&](ParameterCollection& where, const char* name, std::uint64_t key) {
      Parameter p = where.add_parameters({5}, name);
      p.set_value(first_values(c, 5, key));
      return p;
    };
    often = dense(pc, "often", 1);
    seldom = dense(sub, "seldom", 2);
    late = dense(pc, "late", 3);
    never = dense(sub, "never", 4);
    frozen = dense(pc, "frozen", 5);
    frozen.set_updated(false);
    std::uint64_t key = 10;
    for (LookupParameter* t : {&rows, &whole, &both, &untouched}) {
      *t = pc.add_lookup_parameters(6, {3});
      for (unsigned row = 0; row < 6; ++row) t->initialize(row, first_values(c, 3, ++key));
    }
    trainer = c.make(pc);
    trainer->sparse_updates_enabled = m.sparse;
    begin_average(*trainer, m.average, 0.9f, m.average == MovingAverage::Exponential ? 2 : 1);
  }

  // A backward pass, as graphs make them: adds to what it uses.
  void pass(std::uint64_t t, unsigned number) {
    const std::uint64_t key = 1000 * t + 10 * number;
    GradientBuffer& to = pc.bank().gradients.mine();
    const auto add = [&](const Parameter& p, std::uint64_t k) {
      add_to(to.use(p.stored().index, 5), random_values(5, key + k, 0.3f));
    };
    const auto of = [&](const LookupParameter& p) -> RowGradients& {
      return to.rows(p.stored().index, 6, 3);
    };
    add(often, 1);
    if (t % 3 == 0 && number != 1) add(seldom, 2);
    if (t > 4) add(late, 3);
    add_to(of(rows).use_row(t % 4), random_values(3, key + 4, 0.3f));
    if (t % 2) add_to(of(rows).use_row(number % 4), random_values(3, key + 5, 0.3f));
    if (t % 2) add_to(of(whole).use_whole(), random_values(18, key + 6, 0.3f));
    add_to(of(both).use_row((t + number) % 5), random_values(3, key + 7, 0.3f));
    if (t % 3 == 1 && t % 4)  // alone: a look at several passes adds rows to the whole at once
      add_to(of(both).use_whole(), random_values(18, key + 8, 0.3f));
  }

  /// Values, state and counters after some updates, with a look wherever there may be one.
  std::vector<float> train(const std::function<void(Model&)>& look) {
    for (std::uint64_t t = 1; t <= 9; ++t) {
      look(*this);
      for (unsigned number = 0; number < (t % 4 ? 1 : 3); ++number) {
        pass(t, number);
        look(*this);
        look(*this);
      }
      trainer->update();
      look(*this);
    }
    std::vector<float> all = values_and_state(pc, *trainer);
    for (const auto& [name, number] : trainer->numbers())
      if (name != "clips") all.push_back(static_cast<float>(number));
    return all;
  }
};

struct Look {
  std::string name;
  std::function<void(Model&)> look;
};

const std::vector<Look> kLooks{
    {"gradients",
     [](Model& m) {
       for (const Parameter& p : m.pc.parameters_list()) CHECK(p.gradients().is_valid());
     }},
    {"gradients of one", [](Model& m) { m.never.gradients(); }},
    {"gradients, printed and copied",
     [](Model& m) {
       std::ostringstream out;
       for (const Parameter& p : m.pc.parameters_list())
         out << p.gradients() << as_vector(p.gradients())[0] << p.gradients()->batch_elem(0);
     }},
    {"row_gradient",
     [](Model& m) {
       for (const LookupParameter& p : m.pc.lookup_parameters_list())
         for (unsigned row = 0; row < 6; ++row) p.row_gradient(row);
     }},
    {"gradient_l2_norm",
     [](Model& m) { CHECK(m.pc.gradient_l2_norm() >= m.sub.gradient_l2_norm()); }},
    {"clip_gradients", [](Model& m) { CHECK(m.trainer->clip_gradients() <= 1); }},
    {"values",
     [](Model& m) {
       std::ostringstream out;
       for (const Parameter& p : m.pc.parameters_list()) out << p.values();
     }},
    {"rows",
     [](Model& m) {
       for (const LookupParameter& p : m.pc.lookup_parameters_list()) {
         p.values();
         p.row(2);
       }
     }},
    {"settings",
     [](Model& m) {
       for (const Parameter& p : m.pc.parameters_list()) CHECK(p.is_updated() == (p != m.frozen));
       m.rows.is_updated(), m.rows.get_fullname(), m.rows.current_weight_decay(), m.rows.size();
       m.pc.size(), m.pc.parameter_count(), m.pc.updated_parameter_count();
       m.pc.get_weight_decay_lambda(), m.pc.get_seed();
     }},
    {"status and numbers",
     [](Model& m) {
       m.trainer->status();
       m.trainer->numbers();
       m.trainer->schedule().rate(3);
       m.trainer->differences({m.trainer->kind(), m.trainer->numbers(), {}});
     }},
    {"graphs that train nothing",
     [](Model& m) {
       ComputationGraph g;
       as_vector((const_lookup(g, m.rows, 3) + const_parameter(g, m.both)).value());
       Expression x = const_parameter(g, m.often) + parameter(g, m.never);
       as_vector(squared_norm(x).value());
     }},
    {"state_views", [](Model& m) { m.trainer->state_views(); }},
    {"a trainer's text",
     [](Model& m) {
       std::ostringstream out;
       m.trainer->save(out);
     }},
    {"a file",
     [](Model& m) {
       const TemporaryFolder folder;
       dynet::save(folder / "m", m.pc, *m.trainer);
     }},
};

}  // namespace

TEST_CASE("looking changes no bit of training, whatever the trainer") {
  for (const TrainerCase& c : trainer_cases())
    for (const Mode& mode : kModes) {
      CAPTURE(c.name, mode.name);
      const std::vector<float> plain = Model(c, mode).train([](Model&) {});
      for (const Look& look : kLooks) {
        INFO("looking at " << look.name);
        CHECK(same_bits(Model(c, mode).train(look.look), plain));
      }
    }
}

}  // namespace looking_test
