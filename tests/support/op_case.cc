#include "tests/support/op_case.h"

#include <iostream>

#include "dynet-like/base/random.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/run/executor.h"
#include "tests/support/prelude.h"

namespace dynet::test {

std::vector<BadShapes> bad_shapes(const std::string& text) {
  std::vector<BadShapes> all(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "|") {
      all.emplace_back();
    } else if (word == "index:") {
      all.back().type = Throws::index_error;
    } else if (word == "argument:") {
      all.back().type = Throws::argument_error;
    } else {
      Dim d;
      std::istringstream sizes(word);
      char mark = 0;
      for (unsigned n; sizes >> mark && mark != '}' && sizes >> n;)
        if (mark == 'X')
          d.bd = n;
        else
          d.add_dim(n);
      if (mark != '}') throw std::invalid_argument("no shapes: " + text);
      all.back().operands.push_back(d);
    }
  }
  return all;
}

namespace {

// Repetitions of the 14 draws of shapes.
constexpr unsigned kRepeat = DYNET_SANITIZED ? 4 : 16;

std::string text(const std::vector<Dim>& dims) {
  std::string s;
  for (const Dim& d : dims) s += to_string(d) + " ";
  return s;
}

/// The largest difference, relative to values above one; infinite where only one is NaN or
/// infinite.
template <class A, class B>
double difference(const A* a, const B* b, std::size_t n) {
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / std::max({1.0, std::abs(x), std::abs(y)});
    worst = std::max(worst, std::isfinite(d) ? d : kInfinity);
  }
  return worst;
}

template <class T>
bool any_nan(const T* v, std::size_t n) {
  return std::any_of(v, v + n, [](T x) { return std::isnan(x); });
}

/// Draws operand values that are exact in float.
class Values {
 public:
  Values(const OpCase& c, std::uint64_t seed) : case_(c), random_(seed) {}

  std::vector<Array> draw(const std::vector<Dim>& dims) {
    std::vector<Array> xs;
    std::size_t total = 0;
    for (const Dim& d : dims) total += d.size();
    std::vector<std::size_t> grid(total);
    std::iota(grid.begin(), grid.end(), 0);
    for (std::size_t i = total; i > 1; --i) std::swap(grid[i - 1], grid[random_.bits(next_++) % i]);
    std::size_t k = 0;
    for (const Dim& d : dims) {
      Array x{d, std::vector<double>(d.size())};
      for (double& e : x.v) {
        const double spread = case_.high - case_.low;
        if (case_.distinct)
          e = case_.low +
              spread * (static_cast<double>(grid[k++]) + 0.5) / static_cast<double>(total);
        else
          do {
            e = case_.low + spread * random_.uniform(next_++);
          } while (std::any_of(case_.kinks.begin(), case_.kinks.end(),
                               [&](double kink) { return std::abs(e - kink) < 0.02; }));
        e = static_cast<double>(static_cast<float>(e));
      }
      xs.push_back(std::move(x));
    }
    return xs;
  }
  std::vector<float> weights(std::size_t n) {
    std::vector<float> w(n);
    for (float& e : w) e = static_cast<float>(0.25 + random_.uniform(next_++));
    return w;
  }

 private:
  const OpCase& case_;
  RandomStream random_;
  std::uint64_t next_ = 0;
};

std::vector<float> floats(const std::vector<double>& v) {
  std::vector<float> f;
  for (double x : v) f.push_back(static_cast<float>(x));
  return f;
}

Expression constant_of(ComputationGraph& g, const Array& x) { return input(g, x.dim, floats(x.v)); }

/// A parameter has no batch; a batched variable is a reshaped vector.
Expression variable_of(ComputationGraph& g, ParameterCollection& model, const Array& x) {
  const bool flat = x.dim.bd != 1;
  Parameter p = model.add_parameters(flat ? Dim({static_cast<unsigned>(x.dim.size())}) : x.dim,
                                     ParameterInitConst(0));
  p.set_value(floats(x.v));
  const Expression e = parameter(g, p);
  return flat ? reshape(e, x.dim) : e;
}

/// A constant with as many nodes as a variable, so that both have one depth in the graph.
Expression as_far_constant_of(ComputationGraph& g, const Array& x) {
  if (x.dim.bd == 1) return constant_of(g, x);
  return reshape(constant_of(g, {Dim({static_cast<unsigned>(x.dim.size())}), x.v}), x.dim);
}

/// Sum of all elements of y with random weights.
Expression weighted(ComputationGraph& g, const Expression& y, Values& values) {
  const Dim d = y.dim();
  const Expression e = sum_elems(cmult(y, input(g, d, values.weights(d.size()))));
  return d.bd == 1 ? e : sum_batches(e);
}

/// Calls f for drawn operand shapes, with a seed for each; returns the number of draws.
template <class F>
unsigned for_shapes(const OpCase& c, unsigned repeat, F f) {
  struct Kind {
    Shapes::Kind kind;
    unsigned count;
  };
  // Cases without sizes of zero draw more plain and batched shapes.
  const unsigned none = c.empty ? 3 : 0;
  std::uint64_t seed = 1;
  for (const Kind& k : {Kind{Shapes::plain, 5 - none / 3}, Kind{Shapes::batched, 8 - none / 3 * 2},
                        Kind{Shapes::ones, 1}, Kind{Shapes::empty, none}})
    for (unsigned n = 0; n < std::min(k.count * repeat, c.draws); ++n) {
      ++seed;
      Shapes shapes(k.kind, seed);
      f(c.shapes(shapes), seed);
    }
  return static_cast<unsigned>(seed - 1);
}

Arrays with_variant(const std::vector<Array>& xs, unsigned variant) {
  Arrays a;
  a.assign(xs.begin(), xs.end());
  a.variant = variant;
  return a;
}

Operand operand(ComputationGraph& g, unsigned variant) {
  Operand x;
  x.graph = &g;
  x.variant = variant;
  return x;
}

}  // namespace

unsigned check_values(const OpCase& c) {
  return for_shapes(c, kRepeat, [&](const std::vector<Dim>& dims, std::uint64_t seed) {
    Values values(c, seed);
    const std::vector<Array> xs = values.draw(dims);
    ComputationGraph g;
    Operand x = operand(g, static_cast<unsigned>(seed));
    for (const Array& a : xs) x.push_back(constant_of(g, a));
    const Expression y = c.build(x);
    const Array expected = c.reference(with_variant(xs, x.variant));
    INFO(c.name << " of " << text(dims) << "gives " << y.dim() << ", expected " << expected.dim);
    REQUIRE(y.dim() == expected.dim);
    for (const NodeOrigin& o : g.store().origins)  // the caller's place, not one in the library
      REQUIRE(std::string_view(o.file).find("tests/") != std::string_view::npos);
    const std::size_t n = expected.v.size();
    Executor<double> in_double(g.store());
    in_double.forward(y.i);
    CHECK(difference(in_double.value(y.i), expected.v.data(), n) <= c.value_tolerance);
    Executor<float> in_float(g.store());
    in_float.forward(y.i);
    CHECK(difference(in_float.value(y.i), expected.v.data(), n) <= c.float_tolerance);
    if (!c.random) CHECK(difference(y.value().v, expected.v.data(), n) <= c.float_tolerance);
  });
}

namespace {

/// Checks backward of a loss against central differences, and float against double.
void check_loss(const OpCase& c, ComputationGraph& g, const Expression& loss,
                const std::vector<Expression>& operands) {
  GradientCheckOptions all;
  all.max_elements = 0;
  const GradientReport report = check_gradients(loss, all);
  INFO(report);
  CHECK(report.ok(c.gradient_tolerance));
  Executor<double> in_double(g.store());
  Executor<float> in_float(g.store());
  in_double.backward(loss.i);
  in_float.backward(loss.i);
  for (const Expression& e : operands)
    CHECK(difference(in_float.gradient(e.i), in_double.gradient(e.i), e.dim().size()) <=
          10 * c.float_tolerance);
}

}  // namespace

unsigned check_gradients_of(const OpCase& c) {
  return for_shapes(c, kRepeat, [&](const std::vector<Dim>& dims, std::uint64_t seed) {
    Values values(c, seed);
    const std::vector<Array> xs = values.draw(dims);
    const std::size_t n = xs.size();
    const auto variant = static_cast<unsigned>(seed);
    std::vector<unsigned> masks;
    const unsigned all = (1u << n) - 1;
    for (unsigned m = 0; m <= all; ++m)
      if (n <= 3 || m == all || (m & (m - 1)) == 0) masks.push_back(m);
    if (seed % 4) masks = {masks[mix_bits(seed) % masks.size()]};
    for (unsigned mask : masks) {
      ComputationGraph g;
      ParameterCollection model;
      Operand x = operand(g, variant);
      for (std::size_t k = 0; k < n; ++k)
        x.push_back(mask >> k & 1 ? variable_of(g, model, xs[k]) : constant_of(g, xs[k]));
      INFO(c.name << " of " << text(dims) << "with variables " << mask);
      const Expression loss = weighted(g, c.build(x), values);
      check_loss(c, g, loss, x);
      // Constants only: backward computes nothing, gradients are zero.
      if (mask == 0) {
        g.backward(loss);
        for (const Expression& e : x) {
          const Tensor d = e.gradient();
          CHECK(std::all_of(d.v, d.v + d.d.size(), [](float v) { return v == 0; }));
        }
      }
    }
    if (seed % 4 == 0) {
      INFO(c.name << " of " << text(dims) << "with several users of operands and result");
      ComputationGraph g;
      ParameterCollection model;
      Operand x = operand(g, variant);
      for (const Array& a : xs) x.push_back(variable_of(g, model, a));
      const Expression y = c.build(x);
      const Expression again = c.build(x);
      const Expression loss = weighted(g, y, values) + weighted(g, again, values) * 0.5f +
                              weighted(g, y + y, values) * 0.25f;
      check_loss(c, g, loss, x);
    }
    const bool equal =
        std::all_of(dims.begin(), dims.end(), [&](const Dim& d) { return d == dims[0]; });
    if (seed % 4 < 2 && n > 1 && equal && c.same_operand) {
      INFO(c.name << " of " << text(dims) << "with one operand in all places");
      ComputationGraph g;
      ParameterCollection model;
      Operand x = operand(g, variant);
      x.assign(n, variable_of(g, model, xs[0]));
      check_loss(c, g, weighted(g, c.build(x), values), x);
    }
  });
}

void check_large(const OpCase& c, const std::vector<Dim>& dims) {
  INFO(c.name << " of " << text(dims));
  constexpr double kStep = 1e-4;
  Values values(c, 1);
  const std::vector<Array> xs = values.draw(dims);
  ComputationGraph g(false);
  ParameterCollection model;
  Operand x = operand(g, 1);
  for (const Array& a : xs) x.push_back(variable_of(g, model, a));
  const Expression y = c.build(x), again = c.build(x);
  const Array expected = c.reference(with_variant(xs, 1));
  REQUIRE(y.dim() == expected.dim);
  const std::size_t n = expected.v.size();
  Executor<double> in_double(g.store());
  in_double.forward(y.i);
  CHECK(difference(in_double.value(y.i), expected.v.data(), n) <= 1e-9);
  CHECK(difference(y.value().v, expected.v.data(), n) <= c.float_tolerance);

  const std::vector<float> weights = values.weights(n);
  const Expression both = cmult(y + again, input(g, y.dim(), weights));
  g.backward(sum_batches(sum_elems(both)), true);
  std::vector<Array> before = xs, after = xs;
  double slope = 0, squares = 0;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const std::vector<float> direction = values.weights(xs[k].v.size());
    const Tensor gradient = x[k].gradient();
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const auto along = static_cast<double>(direction[i]);
      before[k].v[i] -= kStep * along;
      after[k].v[i] += kStep * along;
      slope += static_cast<double>(gradient.v[i]) * along;
      squares += std::pow(static_cast<double>(gradient.v[i]) * along, 2);
    }
  }
  const Array low = c.reference(with_variant(before, 1)),
              high = c.reference(with_variant(after, 1));
  double difference = 0;
  for (std::size_t i = 0; i < n; ++i)
    difference += static_cast<double>(weights[i]) * (high.v[i] - low.v[i]) / kStep;
  CHECK(std::abs(slope - difference) <= 1e-6 + 1e-5 * std::sqrt(squares));
}

namespace {

enum class Sharing { none, as_needed, all, most };

template <class T>
struct Results {
  std::vector<T> values, gradients;
};

template <class T>
Results<T> run(const GraphStore& graph, NodeId loss, PlanPolicy policy) {
  Executor<T> e(graph, policy);
  e.backward(loss);
  Results<T> r;
  for (NodeId id = 0; id <= loss; ++id) {
    const std::size_t n = graph.nodes[id].dim.size();
    const T *v = e.value(id), *d = e.gradient(id);
    r.values.insert(r.values.end(), v, v + n);
    r.gradients.insert(r.gradients.end(), d, d + n);
  }
  return r;
}

template <class T>
void compare_plans(const GraphStore& graph, NodeId loss, double tolerance) {
  const auto reset = [&] {
    for (const auto& bank : graph.banks) bank->gradients.clear();
  };
  reset();
  const Results<T> one = run<T>(graph, loss, PlanPolicy::in_order);
  reset();
  const Results<T> many = run<T>(graph, loss, PlanPolicy::in_batches);
  reset();
  const std::size_t n = one.values.size();
  // A value does not depend on its batch.
  CHECK(difference(one.values.data(), many.values.data(), n) == 0);
  CHECK(difference(one.gradients.data(), many.gradients.data(), n) <= tolerance);
}

constexpr unsigned kCopies = 6;
constexpr unsigned kMany = 41, kSharing = 35;  // of kMany nodes, kSharing share operands

/// Replaces a third of the elements by extreme values, in some draws all elements.
void make_extreme(const OpCase& c, std::uint64_t seed, std::vector<Array>& xs) {
  Shapes random(Shapes::plain, seed);
  const bool whole = random.below(4) == 0;
  for (Array& x : xs)
    for (double& e : x.v)
      if (whole || random.below(3) == 0)
        e = static_cast<double>(static_cast<float>(c.extremes[random.below(c.extremes.size())]));
}

void build_nodes(const OpCase& c, const std::vector<Dim>& dims, std::uint64_t seed, Sharing sharing,
                 bool extreme, Nodes& made) {
  Values values(c, seed);
  ComputationGraph& g = made.graph;
  ParameterCollection& model = made.model;
  std::vector<Operand> operands;
  const unsigned copies = sharing == Sharing::most ? kMany : kCopies;
  for (unsigned copy = 0; copy < copies; ++copy) {
    Operand x = operand(g, copy);
    std::vector<Array> xs = values.draw(dims);
    if (extreme) make_extreme(c, seed * kCopies + copy, xs);
    for (std::size_t k = 0; k < xs.size(); ++k) {
      const bool shared = sharing == Sharing::all ||
                          (sharing == Sharing::most && copy < kSharing) ||
                          (sharing == Sharing::as_needed &&
                           std::find(c.shared.begin(), c.shared.end(), k) != c.shared.end());
      if (shared && copy > 0)
        x.push_back(operands[0][k]);
      else
        x.push_back(copy % 3 == 2 ? as_far_constant_of(g, xs[k]) : variable_of(g, model, xs[k]));
    }
    operands.push_back(std::move(x));
  }
  // Nodes are built in another order than their operands, so that operands of a batch are not
  // adjacent.
  std::vector<Expression> losses;
  for (unsigned copy = 0; copy < copies; ++copy)
    made.results.push_back(c.build(operands[copy * 5 % copies]));
  for (const Expression& y : made.results) losses.push_back(weighted(g, y, values));
  made.loss = sum(losses);
}

void check_batch(const OpCase& c, const std::vector<Dim>& dims, std::uint64_t seed,
                 Sharing sharing) {
  Nodes made;
  build_nodes(c, dims, seed, sharing, false, made);
  ComputationGraph& g = made.graph;
  const std::vector<Expression>& results = made.results;
  const Expression loss = made.loss;

  INFO(c.name << " of " << text(dims) << "as " << kCopies << " nodes, sharing "
              << static_cast<int>(sharing));
  compare_plans<double>(g.store(), loss.i, 1e-11);
  compare_plans<float>(g.store(), loss.i, 10 * c.float_tolerance);

  const OpForm& form = *g.store().nodes[results[0].i].form;
  CHECK((form.batch.value.batches || form.batch.value.why_not));
  if (form.batch.value.batches && sharing != Sharing::none) {
    Plan plan;
    PlanMaker(PlanPolicy::in_batches).make(g.store(), 0, loss.i + 1, plan);
    bool together = false;
    for (const Step& s : plan.steps) {
      std::size_t found = 0;
      for (const Expression& y : results)
        found +=
            std::count(plan.order.data() + s.first, plan.order.data() + s.first + s.count, y.i);
      together = together || found == kCopies;
    }
    CHECK(together);
  }
}

}  // namespace

double largest_difference(const float* a, const float* b, std::size_t n) {
  return difference(a, b, n);
}

unsigned for_nodes(const OpCase& c, Draw draw, unsigned repeat,
                   const std::function<void(const Nodes&)>& look) {
  if (draw == Draw::extremes && c.extremes.empty()) return 0;
  const auto each = [&](const std::vector<Dim>& dims, std::uint64_t seed) {
    Nodes made;
    const Sharing sharing = draw == Draw::shared  ? Sharing::most
                            : draw == Draw::large ? Sharing::as_needed
                                                  : static_cast<Sharing>(seed % 3);
    build_nodes(c, dims, seed, sharing, draw == Draw::extremes, made);
    INFO(c.name << " of " << text(dims) << "as " << made.results.size() << " nodes, sharing "
                << static_cast<int>(sharing));
    look(made);
  };
  if (draw == Draw::small || draw == Draw::extremes) return for_shapes(c, repeat, each);
  for (std::uint64_t seed = 1; seed <= repeat; ++seed) {
    Shapes shapes(draw == Draw::large     ? Shapes::large
                  : draw == Draw::borders ? Shapes::borders
                  : seed % 2 == 0         ? Shapes::plain
                                          : Shapes::batched,
                  seed);
    each(c.shapes(shapes), seed);
  }
  return repeat;
}

unsigned check_batches(const OpCase& c) {
  return for_shapes(c, kRepeat, [&](const std::vector<Dim>& dims, std::uint64_t seed) {
    for (Sharing s : {Sharing::none, Sharing::as_needed, Sharing::all})
      if (seed % 4 == 0 || seed % 3 == static_cast<unsigned>(s)) check_batch(c, dims, seed, s);
  });
}

unsigned check_extremes(const OpCase& c) {
  if (c.extremes.empty()) return 0;
  return for_shapes(c, 8, [&](const std::vector<Dim>& dims, std::uint64_t seed) {
    Values values(c, seed);
    std::vector<Array> xs = values.draw(dims);
    make_extreme(c, seed, xs);
    ComputationGraph g;
    ParameterCollection model;
    Operand x = operand(g, static_cast<unsigned>(seed));
    for (const Array& a : xs) x.push_back(variable_of(g, model, a));
    const Expression y = c.build(x);
    const Expression loss = weighted(g, y, values);
    const Array expected = c.reference(with_variant(xs, x.variant));
    INFO(c.name << " of " << text(dims) << "with extreme values, draw " << seed);
    Executor<double> in_double(g.store());
    Executor<float> in_float(g.store());
    in_double.backward(loss.i);
    in_float.backward(loss.i);
    const std::size_t n = expected.v.size();
    CHECK(difference(in_double.value(y.i), expected.v.data(), n) <= 100 * c.value_tolerance);
    CHECK(difference(in_float.value(y.i), expected.v.data(), n) <= 10 * c.float_tolerance);
    for (const Expression& e : x) {
      CHECK_FALSE(any_nan(in_double.gradient(e.i), e.dim().size()));
      CHECK_FALSE(any_nan(in_float.gradient(e.i), e.dim().size()));
    }
  });
}

namespace {

/// Checks that the message has the operation, the shapes and the line.
template <class E>
void check_throws(const OpCase& c, const Operand& x) {
  const E e = thrown<E>([&] { c.build(x); });
  const std::string text = e.what();
  INFO(text);
  CHECK(text.find_first_of(": ") == text.find(": "));
  for (const Expression& operand : x)
    CHECK(text.find(": " + to_string(operand.dim()) + "  ") != std::string::npos);
  CHECK(std::string(e.where().file).find("tests/ops/") != std::string::npos);
  CHECK(text.find("\n  at " + to_string(e.where())) != std::string::npos);
}

}  // namespace

unsigned check_bad_shapes(const OpCase& c) {
  for (const BadShapes& bad : c.bad) {
    INFO(c.name << " of " << text(bad.operands));
    Shapes shapes(Shapes::plain, 1);
    const std::vector<Dim> good = c.shapes(shapes);
    Values values(c, 1);
    const std::vector<Array> xs = values.draw(good), wrong = values.draw(bad.operands);
    ComputationGraph g;
    Operand x = operand(g, 0), y = operand(g, 0);
    for (const Array& a : xs) x.push_back(constant_of(g, a));
    for (const Array& a : wrong) y.push_back(constant_of(g, a));
    const std::size_t size = g.size();
    if (bad.type == Throws::shape_error) check_throws<ShapeError>(c, y);
    if (bad.type == Throws::index_error) check_throws<IndexError>(c, y);
    if (bad.type == Throws::argument_error) check_throws<ArgumentError>(c, y);
    CHECK(g.size() == size);
    // The graph is usable after the error.
    const Expression e = c.build(x);
    const Array expected = c.reference(with_variant(xs, 0));
    Executor<float> run(g.store());
    run.forward(e.i);
    CHECK(difference(run.value(e.i), expected.v.data(), expected.v.size()) <= c.float_tolerance);
  }
  return static_cast<unsigned>(c.bad.size());
}

void check_all(const std::string& title, const std::vector<OpCase>& cases,
               unsigned (*check)(const OpCase&), unsigned least) {
  std::map<std::string, unsigned> draws;
  unsigned total = 0;
  for (const OpCase& c : cases) {
    const unsigned n = check(c);
    draws[c.name.substr(0, c.name.find_first_of(" ,"))] += n;
    total += n;
  }
  for (const auto& [name, n] : draws) {
    INFO(title << ": " << name << " has " << n << " draws");
    CHECK(n >= least);
  }
  std::cout << title << ": " << total << " draws of " << draws.size() << " operations\n";
}

}  // namespace dynet::test
