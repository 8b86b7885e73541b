// Products that could be made at the same time and must not, against the CPU: those of one sum,
// those that add to one gradient, and those with as many operations between them as a device is
// given at once.

#include <random>

#include "tests/cuda/check_equal.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr unsigned kWide = 6, kNarrow = 4;

Expression numbers(ComputationGraph& g, unsigned n, unsigned key) {
  Floats v(n);
  for (unsigned i = 0; i < n; ++i) v[i] = std::sin(1 + 0.7f * static_cast<float>(i + 11 * key));
  return input(g, Dim({n}), v);
}

using Parameters = std::vector<Parameter>;
using Make = std::function<Expression(ComputationGraph&, Parameters&)>;

/// The loss and the gradients of all parameters.
std::vector<Floats> run(const Make& make, const std::vector<Dim>& dims, Device* device,
                        bool batched) {
  ParameterCollection pc;
  pc.set_seed(7);
  Parameters parameters;
  for (const Dim& d : dims) parameters.push_back(pc.add_parameters(d));
  DeviceGraph g(device, batched);
  const Expression loss = make(g, parameters);
  std::vector<Floats> all = {{as_scalar(g.forward(loss))}};
  g.backward(loss);
  for (const Parameter& p : parameters) all.push_back(as_vector(p.gradients()));
  return all;
}

/// A fault loses or repeats a term; sums of another order differ by rounding.
void check(const std::vector<Dim>& dims, const Make& make) {
  for (const bool batched : {true, false}) {
    CAPTURE(batched);
    const std::vector<Floats> host = run(make, dims, nullptr, batched),
                              device = run(make, dims, gpu(), batched);
    for (std::size_t k = 0; k < host.size(); ++k) {
      CAPTURE(k);
      check_near(host[k], device[k], 2e-4);
    }
  }
}

}  // namespace

TEST_CASE("products of one sum are added one after the other", "[cuda]") {
  const std::vector<Dim> dims = {{kWide}, {kWide, kWide}, {kWide, kWide}, {kWide, kNarrow}};
  const auto x = [](ComputationGraph& g, unsigned key) { return numbers(g, kWide, key); };
  SECTION("of matrices that are no parameters") {
    check(dims, [&](ComputationGraph& g, Parameters& p) {
      return sum_elems(tanh(affine_transform({parameter(g, p[0]), tanh(parameter(g, p[1])), x(g, 0),
                                              tanh(parameter(g, p[2])), x(g, 1)})));
    });
  }
  SECTION("beside one of another shape") {
    check(dims, [&](ComputationGraph& g, Parameters& p) {
      return sum_elems(
          tanh(affine_transform({parameter(g, p[0]), parameter(g, p[3]), numbers(g, kNarrow, 2),
                                 parameter(g, p[1]), x(g, 0), parameter(g, p[2]), x(g, 1)})));
    });
  }
  SECTION("of matrices too large to be one") {
    constexpr unsigned kLarge = 1500;  // twice its square is more than 2^22
    const std::vector<Dim> large = {{kLarge}, {kLarge, kLarge}, {kLarge, kLarge}};
    check(large, [&](ComputationGraph& g, Parameters& p) {
      return sum_elems(
          tanh(affine_transform({parameter(g, p[0]), parameter(g, p[1]), numbers(g, kLarge, 0),
                                 parameter(g, p[2]), numbers(g, kLarge, 1)})));
    });
  }
}

TEST_CASE("the parts of an LSTM's step are right with any number of operations between", "[cuda]") {
  const std::vector<Dim> dims = {{4 * kWide, kWide}, {4 * kWide, kWide}, {4 * kWide}};
  for (unsigned between = 60; between <= 68; ++between) {
    CAPTURE(between);
    check(dims, [&](ComputationGraph& g, Parameters& p) {
      const Expression x = numbers(g, kWide, 0);
      const Expression gates =
          vanilla_lstm_gates(x, x, parameter(g, p[0]), parameter(g, p[1]), parameter(g, p[2]));
      Expression other = numbers(g, kWide, 1);
      for (unsigned i = 0; i < between; ++i) other = i % 2 ? -other : sin(other);
      return sum_elems(cmult(other, vanilla_lstm_c(other, gates)));
    });
  }
}

namespace {

/// A graph of products: matrices that several nodes stand for, results and operands that come
/// again, and many operations between some.
class Program {
 public:
  static constexpr unsigned kSquares = 3;
  static std::vector<Dim> dims() {
    return {{kWide, kWide}, {kWide, kWide}, {kWide, kWide}, {kWide, kNarrow}, {kWide}};
  }

  Program(ComputationGraph& g, Parameters& p, unsigned seed) : g_(g), p_(p), random_(seed) {}

  Expression loss() {
    for (unsigned i = 0; i < 3; ++i) all_.push_back(numbers(g_, kWide, i));
    for (unsigned i = 0, n = 3 + below(4); i < n; ++i) {
      const unsigned kind = below(5);
      if (kind == 0) {
        all_.push_back(tanh(far_product()));
      } else if (kind == 1) {
        add_sentences();
      } else if (kind == 2) {
        all_.push_back(recurrent());
      } else {
        all_.push_back(tanh(sum_of_products()));
      }
    }
    std::vector<Expression> terms = {squared_norm(all_.back())};
    for (const Expression& e : all_)
      if (below(4) > 0) terms.push_back(sum_elems(e));
    return sum(terms);
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  Expression vector() { return all_[below(static_cast<unsigned>(all_.size()))]; }
  /// A node that there is, a new one, or what is made of one.
  Expression matrix() {
    const unsigned which = below(kSquares), how = below(8);
    if (how < 3 && known_[which].pg) return known_[which];
    known_[which] = parameter(g_, p_[which]);
    return how == 7 ? tanh(known_[which]) : how == 6 ? 0.5f * known_[which] : known_[which];
  }
  Expression sum_of_products() {
    std::vector<Expression> terms = {parameter(g_, p_[kSquares + 1])};
    for (unsigned i = 0, n = 1 + below(3); i < n; ++i) {
      terms.push_back(matrix());
      terms.push_back(vector());
    }
    if (below(3) == 0) {
      terms.push_back(parameter(g_, p_[kSquares]));
      terms.push_back(numbers(g_, kNarrow, below(5)));
    }
    return affine_transform(terms);
  }
  /// 50 to 80 operations behind another one.
  Expression far_product() {
    Expression e = matrix() * vector();
    for (unsigned i = 0, n = 50 + below(31); i < n; ++i) e = i % 2 ? -e : sin(e);
    return matrix() * e;
  }
  /// Each asks for its parameters itself.
  void add_sentences() {
    const unsigned v = below(kSquares), w = below(kSquares);
    for (unsigned i = 0, n = 2 + below(4); i < n; ++i) {
      const Expression outer = parameter(g_, p_[v]), inner = parameter(g_, p_[w]);
      all_.push_back(tanh(outer * tanh(inner * numbers(g_, kWide, i))));
    }
  }
  Expression recurrent() {
    const Expression w = matrix(), u = matrix();
    Expression h = vector();
    for (unsigned t = 0, n = 1 + below(4); t < n; ++t) h = tanh(w * vector() + u * h);
    return h;
  }

  ComputationGraph& g_;
  Parameters& p_;
  std::mt19937 random_;
  Expression known_[kSquares];
  std::vector<Expression> all_;
};

}  // namespace

TEST_CASE("random graphs of products", "[cuda]") {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    check(Program::dims(),
          [&](ComputationGraph& g, Parameters& p) { return Program(g, p, seed).loss(); });
  }
}
