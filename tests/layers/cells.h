#pragma once

#include "tests/layers/naive.h"

namespace naive {

inline Vector joined(Vector a, const Vector& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Vector values(const dynet::Parameter& p) { return to_double(as_vector(p.values())); }

template <class F>
Vector each(std::size_t n, F f) {
  Vector y(n);
  for (std::size_t k = 0; k < n; ++k) y[k] = f(k);
  return y;
}

/// One of a batch of vectors.
inline Vector element(const std::vector<float>& x, unsigned size, unsigned b) {
  return to_double(part(x, b * size, (b + 1) * size));
}
inline std::vector<float> element(const dynet::Expression& x, unsigned b) {
  return as_vector(x.value().batch_elem(b));
}

/// Variational masks by layer; none: no dropout.
struct CellMasks : Masks {
  std::vector<Vector> cell;
};

inline State start(const State& before, unsigned layers, unsigned hidden) {
  State s = before;
  if (s.h.empty()) s.h.assign(layers, Vector(hidden, 0.0));
  if (s.c.empty()) s.c.assign(layers, Vector(hidden, 0.0));
  return s;
}

/// A step of CoupledLSTMBuilder, FastLSTMBuilder (`blind`) or DeepLSTMBuilder (`deep`).
inline State peephole_step(const dynet::RNNBuilder& builder, unsigned layers, unsigned hidden,
                           bool blind, bool deep, const State& given, const Vector& x,
                           const CellMasks& masks = {}) {
  const auto p = builder.get_parameter_collection().parameters_list();
  const State before = start(given, layers, hidden);
  State after;
  Vector in = x;
  for (unsigned l = 0; l < layers; ++l) {
    const dynet::Parameter* q = &p[11 * l];
    if (deep && l > 0) in = joined(in, x);
    Vector h = before.h[l], c = before.c[l];
    if (!masks.input.empty()) in = masked(in, masks.input[l]);
    if (!masks.output.empty()) h = masked(h, masks.output[l]);
    if (!masks.cell.empty()) c = masked(c, masks.cell[l]);
    const auto sums = [&](unsigned first, const Vector* cell) {
      const Vector bias = values(q[first + (cell ? 3 : 2)]);
      Vector a = plus(plus(bias, times(q[first], in)), times(q[first + 1], h));
      return cell && !blind ? plus(a, times(q[first + 2], *cell)) : a;
    };
    const Vector i = sums(0, &c), u = sums(8, nullptr);
    const Vector cell = each(hidden, [&](std::size_t k) {
      return logistic(i[k]) * std::tanh(u[k]) + (1 - logistic(i[k])) * c[k];
    });
    const Vector o = sums(4, &cell);
    in = each(hidden, [&](std::size_t k) { return logistic(o[k]) * std::tanh(cell[k]); });
    after.c.push_back(cell);
    after.h.push_back(in);
  }
  return after;
}

inline State gru_step(const dynet::RNNBuilder& builder, unsigned layers, unsigned hidden,
                      const State& given, Vector x, const CellMasks& masks = {}) {
  const auto p = builder.get_parameter_collection().parameters_list();
  const State before = start(given, layers, hidden);
  State after;
  for (unsigned l = 0; l < layers; ++l) {
    const dynet::Parameter* q = &p[9 * l];
    Vector h = before.h[l];
    if (!masks.input.empty()) x = masked(x, masks.input[l]);
    if (!masks.output.empty()) h = masked(h, masks.output[l]);
    const auto sums = [&](unsigned k, const Vector& v) {
      return plus(plus(values(q[k + 2]), times(q[k], x)), times(q[k + 1], v));
    };
    const Vector z = sums(0, h), r = sums(3, h);
    const Vector reset = each(hidden, [&](std::size_t k) { return logistic(r[k]) * h[k]; });
    const Vector u = sums(6, reset);
    x = each(hidden, [&](std::size_t k) {
      return (1 - logistic(z[k])) * before.h[l][k] + logistic(z[k]) * std::tanh(u[k]);
    });
    after.h.push_back(x);
  }
  after.c = after.h;
  return after;
}

/// The initial state of a network, one for each of the states or one for all, put there too.
inline std::vector<dynet::Expression> initial_state(dynet::ComputationGraph& g, unsigned components,
                                                    unsigned layers, unsigned hidden,
                                                    bool one_for_all, std::vector<State>& states) {
  const auto batch = one_for_all ? 1u : static_cast<unsigned>(states.size());
  std::vector<dynet::Expression> h0;
  for (unsigned k = 0; k < components * layers; ++k) {
    const std::vector<float> x = numbers(hidden * batch, 100 + k);
    h0.push_back(input(g, dynet::Dim({hidden}, batch), x));
    for (unsigned b = 0; b < states.size(); ++b)
      (k < layers && components == 2 ? states[b].c : states[b].h)
          .push_back(element(x, hidden, b % batch));
  }
  return h0;
}

/// Parameters away from where the constructor puts them, so that each one counts.
inline void spread(const dynet::ParameterCollection& pc, std::uint64_t seed = 1) {
  for (dynet::Parameter p : pc.parameters_list())
    if (p.is_updated()) p.set_value(numbers(p.dim().size(), seed++));
}

/// The same of the rows of tables.
inline void spread_tables(const dynet::ParameterCollection& pc, std::uint64_t seed) {
  for (dynet::LookupParameter table : pc.lookup_parameters_list())
    for (unsigned row = 0; row < table.size(); ++row)
      table.initialize(row, numbers(table.dim().size(), seed++));
}

/// The random nodes of a graph from a node on, in order: dropout masks.
inline std::vector<Vector> drawn(const dynet::Expression& any, std::size_t from = 0) {
  std::vector<Vector> all;
  for (dynet::NodeId id = static_cast<dynet::NodeId>(from); id < any.pg->size(); ++id) {
    const dynet::Node& n = any.pg->store().nodes[id];
    if (std::string(n.form->name.value) != "random_bernoulli") continue;
    dynet::Expression e = any;
    e.i = id;
    e.serial = any.pg->store().origins[id].serial;
    all.push_back(to_double(as_vector(e.value())));
  }
  return all;
}

}  // namespace naive
