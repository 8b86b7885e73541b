#pragma once

#include "dynet-like/train/sgd.h"
#include "tests/param/plant.h"
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace dynet {

inline std::vector<float> random_values(std::size_t n, std::uint64_t key, float scale = 1.0f) {
  const RandomStream random(key);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(random.normal(i)) * scale;
  return values;
}

/// The values of all parameters and tables, then the state of a trainer.
inline std::vector<float> values_and_state(const ParameterCollection& pc, const Trainer& trainer) {
  std::vector<float> all = test::all_values(pc);
  for (const Trainer::StateView& s : trainer.state_views())
    for (const float* a : s.arrays) all.insert(all.end(), a, a + s.dim.size());
  return all;
}

inline void begin_average(Trainer& trainer, MovingAverage kind, float beta,
                          std::uint64_t every = 1) {
  if (kind == MovingAverage::Exponential)
    trainer.exponential_moving_average(beta, every);
  else if (kind == MovingAverage::Cumulative)
    trainer.cumulative_moving_average(every);
}

/// A parameter or a row of a table, and what the papers say happens to it, in double.
struct BookTrainer {
  std::vector<double> w, a, b, c;  // values and state

  explicit BookTrainer(const std::vector<float>& values)
      : w(values.begin(), values.end()), a(w.size()), b(w.size()), c(w.size()) {}
};

/// Makes a trainer, or a copy of one of the same class.
struct TrainerMaker {
  std::function<std::unique_ptr<Trainer>(const ParameterCollection&)> make;
  std::function<std::unique_ptr<Trainer>(const Trainer&)> copy;

  std::unique_ptr<Trainer> operator()(const ParameterCollection& pc) const { return make(pc); }
};

struct TrainerCase {
  std::string name;
  TrainerMaker make;
  /// Step t, from 1, with gradient g.
  std::function<void(BookTrainer&, const std::vector<double>& g, int t)> step;
  bool distribution = false;  ///< values are probabilities
};

inline std::vector<TrainerCase> trainer_cases() {
  using Values = std::vector<double>;
  // The settings as floats, as the trainers keep them.
  const double lr = 0.05f, mom = 0.9f, b1 = 0.8f, b2 = 0.99f, rho = 0.9f, decay = 0.1f;
  const auto each = [](auto f) {
    return [f](BookTrainer& p, const Values& g, int t) {
      for (std::size_t i = 0; i < g.size(); ++i) f(p.w[i], g[i], p.a[i], p.b[i], p.c[i], t);
    };
  };
  // Kingma and Ba, section 2, in the form with epsilon outside the correction.
  const auto adam = [=](double g, double& m, double& v, int t) {
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    return lr * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t)) * m;
  };
  const auto make = []<class T>(auto... settings) {
    return TrainerMaker{
        [=](const ParameterCollection& pc) { return std::make_unique<T>(pc, settings...); },
        [](const Trainer& t) { return std::make_unique<T>(static_cast<const T&>(t)); }};
  };
  return {
      {"SimpleSGDTrainer", make.operator()<SimpleSGDTrainer>(0.05f),
       each([=](double& w, double g, double&, double&, double&, int) { w -= lr * g; })},
      {"CyclicalSGDTrainer", make.operator()<CyclicalSGDTrainer>(0.01f, 0.05f, 10.0f, 0.99f),
       each([=](double& w, double g, double&, double&, double&, int t) {
         const int steps = std::max(t - 2, 0), place = steps % 20;  // the first rate serves twice
         const double height = place <= 10 ? place / 10.0 : 2 - place / 10.0;
         const double low = 0.01f, high = 0.05f, gamma = 0.99f;
         w -= (low + (high - low) * height * std::pow(gamma, steps)) * g;
       })},
      {"MomentumSGDTrainer", make.operator()<MomentumSGDTrainer>(0.05f, 0.9f),
       each([=](double& w, double g, double& v, double&, double&, int) {
         v = mom * v - lr * g;
         w += v;
       })},
      {"AdagradTrainer", make.operator()<AdagradTrainer>(0.05f),
       each([=](double& w, double g, double& v, double&, double&, int) {
         v += g * g;
         w -= lr * g / std::sqrt(v + 1e-20);
       })},
      {"AdadeltaTrainer", make.operator()<AdadeltaTrainer>(1e-6f, 0.9f),
       each([=](double& w, double g, double& v, double& u, double&, int) {
         v = rho * v + (1 - rho) * g * g;
         const double d = -std::sqrt(u + 1e-6) / std::sqrt(v + 1e-6) * g;
         u = rho * u + (1 - rho) * d * d;
         w += d;
       })},
      {"RMSPropTrainer", make.operator()<RMSPropTrainer>(0.05f, 1e-20f, 0.9f),
       each([=](double& w, double g, double& v, double&, double&, int) {
         v = rho * v + (1 - rho) * g * g;
         w -= lr * g / std::sqrt(v + 1e-20);
       })},
      {"AdamTrainer", make.operator()<AdamTrainer>(0.05f, 0.8f, 0.99f),
       each([=](double& w, double g, double& m, double& v, double&, int t) {
         const double step = adam(g, m, v, t);
         w -= step / (std::sqrt(v) + 1e-8);
       })},
      {"AmsgradTrainer", make.operator()<AmsgradTrainer>(0.05f, 0.8f, 0.99f),
       each([=](double& w, double g, double& m, double& v, double& most, int t) {
         const double step = adam(g, m, v, t);
         most = std::max(most, v);
         w -= step / (std::sqrt(most) + 1e-8);
       })},
      {"AdamWTrainer", make.operator()<AdamWTrainer>(0.05f, 0.8f, 0.99f, 1e-8f, 0.1f),
       each([=](double& w, double g, double& m, double& v, double&, int t) {
         const double step = adam(g, m, v, t);
         w = w - lr * decay * w - step / (std::sqrt(v) + 1e-8);
       })},
      {"EGTrainer", make.operator()<EGTrainer>(0.05f, 0.9f),
       [=](BookTrainer& p, const Values& g, int) {
         double sum = 0;
         for (std::size_t i = 0; i < g.size(); ++i) {
           p.a[i] = mom * p.a[i] - lr * g[i];
           sum += p.w[i] * std::exp(p.a[i]);
         }
         for (std::size_t i = 0; i < g.size(); ++i) p.w[i] *= std::exp(p.a[i]) / sum;
       },
       true},
  };
}

/// Values for a new parameter: away from zero, and a distribution where that is asked for.
inline std::vector<float> first_values(const TrainerCase& c, std::size_t n, std::uint64_t key) {
  std::vector<float> w = random_values(n, key);
  if (!c.distribution) return w;
  float sum = 0;
  for (float& x : w) sum += x = std::abs(x) + 0.1f;
  for (float& x : w) x /= sum;
  return w;
}

}  // namespace dynet
