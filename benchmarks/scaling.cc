// Detects superlinear costs: every operation with many operands, and graphs with shapes that are
// difficult for planner or executor, at doubling sizes. A ratio of 2 is linear, of 4 quadratic.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"

namespace {

using namespace dynet;
using Expressions = std::vector<Expression>;

constexpr unsigned kSize = 8;

struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({kSize, kSize}), v = pc.add_parameters({1, kSize}),
            b = pc.add_parameters({kSize});
  LookupParameter table = pc.add_lookup_parameters(1000, {kSize});
};

/// Builds a graph of size n and returns the loss.
using Build = std::function<Expression(ComputationGraph&, Model&, unsigned n)>;

enum class Mode { batched, unbatched, inference };

struct Case {
  std::string name;
  Build build;
  Mode mode = Mode::batched;
};

Expressions rows(ComputationGraph& g, Model& m, unsigned n) {
  Expressions all;
  for (unsigned i = 0; i < n; ++i) all.push_back(lookup(g, m.table, i % 1000));
  return all;
}

/// One operation with n rows as operands.
Case over(std::string name, Expression (*op)(const Expressions&)) {
  return {std::move(name), [op](ComputationGraph& g, Model& m, unsigned n) {
            return sum_batches(squared_norm(op(rows(g, m, n))));
          }};
}

/// Sums of n products: with one shared matrix or a matrix each, in one or several sums.
Expression products(ComputationGraph& g, Model& m, unsigned n, bool own, unsigned sums) {
  Expressions terms = {parameter(g, m.b)}, losses;
  const Expression w = parameter(g, m.w);
  for (const Expression& x : rows(g, m, n)) {
    terms.push_back(own ? w * 1.0f : w);
    terms.push_back(x);
  }
  for (unsigned s = 0; s < sums; ++s) {
    if (s > 0) terms[2] = tanh(affine_transform(terms));  // depends on the previous sum
    losses.push_back(squared_norm(affine_transform(terms)));
  }
  return sum(losses);
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      over("sum", [](const Expressions& x) { return sum(x); }),
      over("average", [](const Expressions& x) { return average(x); }),
      over("max", [](const Expressions& x) { return max(x); }),
      over("min", [](const Expressions& x) { return min(x); }),
      over("logsumexp", [](const Expressions& x) { return logsumexp(x); }),
      over("concatenate", [](const Expressions& x) { return concatenate(x); }),
      over("concatenate_cols", [](const Expressions& x) { return concatenate_cols(x); }),
      over("concatenate_to_batch", [](const Expressions& x) { return concatenate_to_batch(x); }),
  };
  const auto add = [&](const char* name, Build build, Mode mode = Mode::batched) {
    all.push_back({name, std::move(build), mode});
  };
  add("sum of one x, n times", [](ComputationGraph& g, Model& m, unsigned n) {
    return squared_norm(sum(Expressions(n, tanh(lookup(g, m.table, 1u)))));
  });
  add("affine_transform, one W",
      [](ComputationGraph& g, Model& m, unsigned n) { return products(g, m, n, false, 1); });
  add("affine_transform, one W, four sums",
      [](ComputationGraph& g, Model& m, unsigned n) { return products(g, m, n, false, 4); });
  add("affine_transform, n matrices",
      [](ComputationGraph& g, Model& m, unsigned n) { return products(g, m, n, true, 1); });
  add("affine_transform, n matrices, four sums",
      [](ComputationGraph& g, Model& m, unsigned n) { return products(g, m, n, true, 4); });
  add("lstm_cell", [](ComputationGraph& g, Model& m, unsigned n) {
    return squared_norm(lstm_cell(concatenate(rows(g, m, n + 3)), rows(g, m, n)).h);
  });
  add("n products with one W", [](ComputationGraph& g, Model& m, unsigned n) {
    Expressions losses;
    const Expression w = parameter(g, m.w);
    for (const Expression& x : rows(g, m, n)) losses.push_back(squared_norm(w * x));
    return sum(losses);
  });
  add("n users of one row", [](ComputationGraph& g, Model& m, unsigned n) {
    Expressions losses;
    const Expression x = tanh(lookup(g, m.table, 1u));
    for (unsigned i = 0; i < n; ++i) losses.push_back(squared_norm(x * static_cast<float>(i)));
    return sum(losses);
  });
  const Build chain = [](ComputationGraph& g, Model& m, unsigned n) {
    Expression x = lookup(g, m.table, 1u);
    for (unsigned i = 0; i < n; ++i) x = tanh(x);
    return squared_norm(x);
  };
  add("a chain", chain);
  add("a chain, unbatched", chain, Mode::unbatched);
  add("a chain, inference", chain, Mode::inference);
  const Build recurrence = [](ComputationGraph& g, Model& m, unsigned n) {
    Expression h = lookup(g, m.table, 0u);
    for (const Expression& x : rows(g, m, n))
      h = tanh(affine_transform({parameter(g, m.b), parameter(g, m.w), x, parameter(g, m.w), h}));
    return squared_norm(h);
  };
  add("a recurrence", recurrence);
  add("sums of products, each with a bias of its own",
      [](ComputationGraph& g, Model& m, unsigned n) {
        Expressions losses;
        const Expression w = parameter(g, m.w), x = parameter(g, m.b);
        for (const Expression& b : rows(g, m, n))
          losses.push_back(squared_norm(affine_transform({b, w, x})));
        return sum(losses);
      });
  const Build asked = [](ComputationGraph& g, Model& m, unsigned n) {
    Expression h = lookup(g, m.table, 0u);
    for (const Expression& x : rows(g, m, n)) {
      h = tanh(affine_transform({parameter(g, m.b), parameter(g, m.w), x, parameter(g, m.w), h}));
      h.value();
    }
    return squared_norm(h);
  };
  add("a recurrence, asked step by step", asked);
  add("the same, inference", asked, Mode::inference);
  add("n checkpoints, each reverted", [](ComputationGraph& g, Model& m, unsigned n) {
    Expression h = lookup(g, m.table, 0u);
    for (const Expression& x : rows(g, m, n)) {
      g.checkpoint();
      tanh(h + x).value();
      g.revert();
      h = h + x;
    }
    return squared_norm(h);
  });
  add("n parameters", [](ComputationGraph& g, Model& m, unsigned n) {
    Expressions losses;
    for (unsigned i = 0; i < n; ++i)
      losses.push_back(squared_norm(parameter(g, m.pc.add_parameters({2}))));
    return sum(losses);
  });
  add("n collections", [](ComputationGraph& g, Model& m, unsigned n) {
    Expressions losses;
    for (unsigned i = 0; i < n; ++i)
      losses.push_back(squared_norm(parameter(g, m.pc.add_subcollection().add_parameters({2}))));
    return sum(losses);
  });
  add("n attributes", [](ComputationGraph& g, Model& m, unsigned n) {
    Expressions losses;
    for (unsigned i = 0; i < n; ++i)
      losses.push_back(
          squared_norm(elu(lookup(g, m.table, 1u), 1.0f + 1e-3f * static_cast<float>(i))));
    return sum(losses);
  });
  add("n matrices of their own", [](ComputationGraph& g, Model& m, unsigned n) {
    Expressions losses;
    const Expression x = lookup(g, m.table, 1u);
    for (unsigned i = 0; i < n; ++i) losses.push_back(squared_norm((parameter(g, m.w) * 1.0f) * x));
    return sum(losses);
  });
  add("n / 4 shapes of operands", [](ComputationGraph& g, Model&, unsigned n) {
    Expressions losses;
    for (unsigned i = 0; i < n / 4; ++i) {  // shapes from base-4 digits, in pseudo-random order
      Dim dim;
      for (unsigned rest = i * 2654435761u % 16384; rest > 0; rest /= 4) dim.add_dim(1 + rest % 4);
      losses.push_back(sum_elems(ones(g, dim)));
    }
    return sum(losses);
  });
  return all;
}

struct Seconds {
  double build, forward, backward;
};

Seconds measure(const Case& c, unsigned n, int rounds) {
  Seconds best{1e9, 1e9, 1e9};
  for (int r = 0; r < rounds; ++r) {
    Model m;
    ComputationGraph g(c.mode != Mode::unbatched);
    g.set_inference(c.mode == Mode::inference);
    const double start = bench::now();
    const Expression loss = c.build(g, m, n);
    const double built = bench::now();
    loss.value();
    const double ran = bench::now();
    if (c.mode != Mode::inference) g.backward(loss);
    best.build = std::min(best.build, built - start);
    best.forward = std::min(best.forward, ran - built);
    best.backward = std::min(best.backward, bench::now() - ran);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What does twice the size cost? Times of the larger size in ms, and their ratios"};
  unsigned n = 5000;
  int rounds = 5;
  std::string only;
  app.add_option("--size", n, "the smaller size")->check(CLI::Range(16u, 1'000'000u));
  app.add_option("--rounds", rounds, "the best of so many counts")->check(CLI::Range(1, 1000));
  app.add_option("--only", only, "cases whose name contains this");
  CLI11_PARSE(app, argc, argv);
  std::printf("%u and %u     %19s %19s %19s\n", n, 2 * n, "build", "forward", "backward");
  for (const Case& c : cases()) {
    if (c.name.find(only) == std::string::npos) continue;
    const Seconds one = measure(c, n, rounds), two = measure(c, 2 * n, rounds);
    std::printf("%-40s", c.name.c_str());
    for (const double Seconds::*part : {&Seconds::build, &Seconds::forward, &Seconds::backward})
      std::printf("  %9.2f ms %5.2f", 1e3 * (two.*part), two.*part / one.*part);
    std::printf("\n");
    std::fflush(stdout);
  }
}
