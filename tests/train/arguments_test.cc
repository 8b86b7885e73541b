// Settings that no training can have are told by name, value and rule, and change nothing.

#include "tests/train/rules.h"

namespace arguments_test {

using namespace dynet;

namespace {

const float kNaN = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

/// Text of f's ArgumentError, or the reason why there is none.
std::string told(const std::function<void()>& f) {
  try {
    f();
  } catch (const ArgumentError& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("of another type: ") + e.what();
  }
  return "nothing was thrown";
}

/// A setting of a trainer's constructor, or of a schedule, and what it cannot be.
struct Setting {
  const char* who;
  const char* name;
  std::function<void(const ParameterCollection&, real)> make;
  std::vector<real> bad;
};

void check(const std::string& message, const std::vector<std::string>& parts) {
  CAPTURE(message);
  for (const std::string& part : parts) CHECK(message.find(part) != std::string::npos);
}

void check_all(const std::vector<Setting>& settings) {
  const ParameterCollection pc;
  for (const Setting& s : settings)
    for (const real bad : s.bad)
      check(told([&] { s.make(pc, bad); }), {s.who, s.name, "got", std::to_string(bad)});
}

}  // namespace

TEST_CASE("constructors of trainers name the setting that cannot be") {
  using P = const ParameterCollection&;
  const std::vector<real> rates{kNaN, kInf, -kInf};
  const std::vector<real> fractions{kNaN, kInf, -kInf, -0.1f, 1.0f};
  const std::vector<real> epsilons{kNaN, kInf, -kInf, -1e-8f, 0.0f};
  const std::vector<real> not_negative{kNaN, kInf, -kInf, -0.1f};
  check_all({
      {"", "learning_rate", [](P c, real v) { SimpleSGDTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { MomentumSGDTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { AdagradTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { RMSPropTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { AdamTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { AmsgradTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { AdamWTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { EGTrainer(c, v); }, rates},
      {"", "learning_rate", [](P c, real v) { CyclicalSGDTrainer(c, v); }, rates},
      {"cyclical", "lowest", [](P c, real v) { CyclicalSGDTrainer(c, v); }, {-0.1f}},
      {"cyclical", "highest", [](P c, real v) { CyclicalSGDTrainer(c, 0.1f, v); }, not_negative},
      {"cyclical", "step_size", [](P c, real v) { CyclicalSGDTrainer(c, 0, 1, v); }, epsilons},
      {"cyclical",
       "gamma",
       [](P c, real v) { CyclicalSGDTrainer(c, 0, 1, 9, v); },
       {kNaN, kInf, -1, 1.5f}},
      {"MomentumSGDTrainer", "mom", [](P c, real v) { MomentumSGDTrainer(c, 1, v); }, fractions},
      {"AdagradTrainer", "eps", [](P c, real v) { AdagradTrainer(c, 1, v); }, epsilons},
      {"AdadeltaTrainer", "eps", [](P c, real v) { AdadeltaTrainer(c, v); }, epsilons},
      {"AdadeltaTrainer", "rho", [](P c, real v) { AdadeltaTrainer(c, 1, v); }, fractions},
      {"RMSPropTrainer", "eps", [](P c, real v) { RMSPropTrainer(c, 1, v); }, epsilons},
      {"RMSPropTrainer", "rho", [](P c, real v) { RMSPropTrainer(c, 1, 1, v); }, fractions},
      {"AdamTrainer", "beta_1", [](P c, real v) { AdamTrainer(c, 1, v); }, fractions},
      {"AdamTrainer", "beta_2", [](P c, real v) { AdamTrainer(c, 1, 0, v); }, fractions},
      {"AdamTrainer", "eps", [](P c, real v) { AdamTrainer(c, 1, 0, 0, v); }, epsilons},
      {"AmsgradTrainer", "beta_1", [](P c, real v) { AmsgradTrainer(c, 1, v); }, fractions},
      {"AmsgradTrainer", "beta_2", [](P c, real v) { AmsgradTrainer(c, 1, 0, v); }, fractions},
      {"AmsgradTrainer", "eps", [](P c, real v) { AmsgradTrainer(c, 1, 0, 0, v); }, epsilons},
      {"AdamWTrainer", "beta_1", [](P c, real v) { AdamWTrainer(c, 1, v); }, fractions},
      {"AdamWTrainer", "beta_2", [](P c, real v) { AdamWTrainer(c, 1, 0, v); }, fractions},
      {"AdamWTrainer", "eps", [](P c, real v) { AdamWTrainer(c, 1, 0, 0, v); }, epsilons},
      {"AdamWTrainer", "weight_decay", [](P c, real v) { AdamWTrainer(c, 1, 0, 0, 1, v); },
       not_negative},
      {"EGTrainer", "mom", [](P c, real v) { EGTrainer(c, 1, v); }, fractions},
      {"EGTrainer", "ne", [](P c, real v) { EGTrainer(c, 1, 0, v); }, {kNaN, kInf, 1, -1}},
  });
}

TEST_CASE("schedules name the number that cannot be") {
  using S = LearningRateSchedule;
  using P = const ParameterCollection&;
  const std::vector<real> rates{kNaN, kInf, -kInf, -0.1f};
  check_all({
      {"warm_up", "rate", [](P, real v) { S::warm_up(v, 3); }, rates},
      {"inverse_square_root", "rate", [](P, real v) { S::inverse_square_root(v, 3); }, rates},
      {"cosine", "rate", [](P, real v) { S::cosine(v, 3); }, rates},
      {"cosine", "lowest", [](P, real v) { S::cosine(1, 3, v); }, rates},
      {"cyclical", "lowest", [](P, real v) { S::cyclical(v, 1, 3); }, rates},
      {"cyclical", "highest", [](P, real v) { S::cyclical(0, v, 3); }, rates},
      {"cyclical", "step_size", [](P, real v) { S::cyclical(0, 1, v); }, {kNaN, kInf, 0, -1}},
      {"cyclical", "gamma", [](P, real v) { S::cyclical(0, 1, 3, v); }, {kNaN, kInf, -1, 1.5f}},
      {"factor", "factor", [](P, real v) { ReduceOnPlateau{v}; }, {kNaN, kInf, 0, 1, -1}},
      {"threshold", "threshold", [](P, real v) { ReduceOnPlateau(0.5f, 1, v); }, rates},
      {"lowest", "lowest", [](P, real v) { ReduceOnPlateau(0.5f, 1, 0, v); }, rates},
      {"factor",
       "factor",
       [](P, real v) {
         ReduceOnPlateau::State s;  // as from a file
         s.factor = v;
         ReduceOnPlateau{s};
       },
       {kNaN, 0, 1}},
  });
  check(told([] { S::inverse_square_root(1, 0); }), {"inverse_square_root", "warm_up", "got 0"});
  check(told([] { S::cosine(1, 3, 0, 3); }), {"cosine", "updates", "got 3"});
  ParameterCollection pc;
  EGTrainer eg(pc);
  check(told([&] { eg.enableCyclicalLR(0, kNaN); }), {"cyclical", "highest", "got nan"});
  CHECK_FALSE(eg.schedule());
}

TEST_CASE("a setting that was made impossible stops an update before anything is done") {
  for (const TrainerCase& c : trainer_cases())
    for (const real bad : {kNaN, kInf, -kInf}) {
      CAPTURE(c.name, bad);
      ParameterCollection pc(0.1f);
      auto p = pc.add_parameters({2}, ParameterInitConst(0.5f), "p");
      auto e = pc.add_lookup_parameters(2, {2}, ParameterInitConst(0.5f), "e");
      auto trainer = c.make(pc);
      trainer->exponential_moving_average(0.5f);
      plant(p, {1, 2});
      plant_row(e, 1, {1, 2});
      trainer->update();
      plant(p, {1, 2});
      plant_row(e, 1, {1, 2});
      const auto all = [&] {
        return std::pair(values_and_state(pc, *trainer), test::all_gradients(pc));
      };
      const auto before = all();
      auto numbers = trainer->numbers();
      const real good = trainer->learning_rate;
      trainer->learning_rate = bad;
      for (const auto& update : std::vector<std::function<void()>>{
               [&] { trainer->update(); }, [&] { trainer->update({p}, {e}); },
               [&] { trainer->update(pc); }})
        check(told(update), {"learning_rate must be finite", "got " + std::to_string(bad)});
      trainer->learning_rate = good;
      check(told([&] { trainer->restart(bad); }), {"learning_rate must be finite"});
      std::stringstream text;
      trainer->save(text);
      check(told([&] { trainer->populate(text, bad); }), {"learning_rate must be finite"});
      check(told([&] { trainer->update(bad); }), {"gradients cannot count"});
      if (bad != kInf) {
        trainer->clip_threshold = bad;
        check(told([&] { trainer->update(); }), {"clip_threshold", std::to_string(bad)});
        check(told([&] { trainer->clip_gradients(); }), {"clip_threshold", std::to_string(bad)});
        trainer->clip_threshold = 5;
      }
      check(told([&] { trainer->exponential_moving_average(bad); }), {"beta", std::to_string(bad)});
      CHECK(all() == before);
      CHECK(trainer->numbers() == numbers);
      CHECK(trainer->moving_average() == MovingAverage::Exponential);
      CHECK(trainer->update());
      CHECK(all() != before);
    }
}

}  // namespace arguments_test
