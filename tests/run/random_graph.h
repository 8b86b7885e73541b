#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/choices.h"

/// Graphs of random operations over shared subexpressions and repeated parameters, with attributes
/// that differ in one field. Equal seeds make equal graphs.
class RandomGraph {
 public:
  /// Parameters and pointed-to values of the graphs.
  struct Model {
    dynet::ParameterCollection pc;
    dynet::Parameter w, v, b, gate;
    dynet::LookupParameter table;
    // Targets of the graph's pointers.
    float number = 0.5f;
    unsigned index = 1;
    std::vector<unsigned> rows{0, 2};
    // Attributes that differ from graph to graph of one structure.
    unsigned turn = 0;  ///< added to the numbers of single rows
    float weight = 1;   ///< of what is multiplied with a number
    explicit Model(unsigned h)
        : w(pc.add_parameters({h, h})),
          v(pc.add_parameters({h, h})),
          b(pc.add_parameters({h})),
          gate(pc.add_parameters({4 * h, h})),
          table(pc.add_lookup_parameters(7, {h})) {}
  };

  RandomGraph(dynet::ComputationGraph& graph, Model& model, unsigned h, std::uint64_t seed)
      : g_(graph), m_(model), h_(h), own_(seed), choices_(own_) {}
  RandomGraph(dynet::ComputationGraph& graph, Model& model, unsigned h, Choices& choices)
      : g_(graph), m_(model), h_(h), own_(0), choices_(choices) {}
  RandomGraph(const RandomGraph&) = delete;
  RandomGraph& operator=(const RandomGraph&) = delete;

  /// Adds the nodes and returns the loss.
  dynet::Expression build() {
    start();
    grow(10 + below(50));
    return loss();
  }
  /// Parts of `build`: the first three vectors, n more, and a loss of some of them.
  void start() {
    for (unsigned k = 0; k < 3; ++k) vectors_.push_back(source());
  }
  void grow(unsigned n) {
    for (unsigned k = 0; k < n; ++k) vectors_.push_back(next());
  }
  dynet::Expression loss() {
    std::vector<dynet::Expression> losses;
    for (const dynet::Expression& x : vectors_)
      if (below(3) == 0) losses.push_back(loss(x));  // the other vectors may be unused
    losses.push_back(loss(vectors_.back()));
    return dynet::sum(losses);
  }
  /// Drops vectors that a revert has removed.
  void forget_stale() {
    std::erase_if(vectors_, [](const dynet::Expression& x) { return x.is_stale(); });
  }
  /// All expressions of shape {h}, or batches of them.
  const std::vector<dynet::Expression>& vectors() const { return vectors_; }

 private:
  unsigned below(unsigned n) { return choices_.below(n); }
  float number() { return choices_.number(); }
  std::vector<float> numbers(std::size_t n) {
    std::vector<float> x(n);
    for (float& f : x) f = number();
    return x;
  }
  std::vector<unsigned> indices(unsigned limit) { return {below(limit), below(limit)}; }
  /// A random vector; it has at most two batch elements.
  const dynet::Expression& any() {  // often a recent one, so that graphs are deep
    const auto size = static_cast<unsigned>(vectors_.size());
    return vectors_[below(2) ? below(size) : size - 1 - below(size < 4 ? size : 4)];
  }

  dynet::Expression source() {
    using namespace dynet;
    switch (below(11)) {
      case 9:
        return cmult(constant(g_, {h_}, 2.0f), input(g_, &m_.number));
      case 10:
        return below(2) ? lookup(g_, m_.table, &m_.rows) : one_hot(g_, h_, &m_.index);
      case 0:
        return input(g_, {h_}, numbers(h_));
      case 1:
        return input(g_, Dim({h_}, 2), numbers(2 * h_));
      case 2:
        return lookup(g_, m_.table, indices(7));
      case 3:
        return const_lookup(g_, m_.table, below(7));
      case 4:
        return constant(g_, {h_}, below(2) ? 0.5f : -0.25f);
      case 5:
        return one_hot(g_, h_, below(h_));
      case 6:
        return parameter(g_, m_.b);
      case 7:
        return random_uniform(g_, {h_}, -1.0f, below(2) ? 1.0f : 0.5f);
      default:
        return lookup(g_, m_.table, (below(7) + m_.turn) % 7);
    }
  }

  dynet::Expression next() {
    using namespace dynet;
    const Expression x = any(), y = any(), z = any();
    const Expression W = parameter(g_, below(2) ? m_.w : m_.v);
    switch (below(40)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return source();
      case 4:
        return elu(x, below(2) ? 1.0f : 2.0f);
      case 5:
        return x * ((below(2) ? 0.5f : -0.75f) * m_.weight);
      case 6:
        return tanh(x);
      case 7:
        return logistic(x);
      case 8:
        return rectify(x);
      case 9:
        return softsign(x);
      case 10:
        return log(square(x) + 1.0f);
      case 11:
        return sqrt(square(x) + (below(2) ? 1.0f : 2.0f));
      case 12:
        return exp(-abs(x));
      case 13:
        return log_sigmoid(x);
      case 14:
        return cube(tanh(x));
      case 15:
        return tanh(x + y);
      case 16:
        return x - y;
      case 17:
        return cmult(x, tanh(y));
      case 18:
        return cdiv(x, square(y) + 1.0f);
      case 19:
        return below(2) ? max(x, y) : min(x, y);
      case 20:
      case 21:
        return tanh(W * x);
      case 22:
        return tanh(affine_transform({x, W, y}));
      case 23:
        return tanh(affine_transform({parameter(g_, m_.b), W, x, parameter(g_, m_.v), y}));
      case 24:
        return softmax(x);
      case 25:
        return log_softmax(x) * 0.1f;
      case 26: {  // parts swapped
        const unsigned cut = 1 + below(h_ - 1);
        return concatenate({pick_range(x, cut, h_), pick_range(x, 0, cut)});
      }
      case 27:
        return reshape(reshape(x, {1, h_}), {h_});
      case 28:
        return transpose(transpose(x));
      case 29:
        return nobackprop(x) + y;
      case 30:
        return dropout(x, below(2) ? 0.5f : 0.25f);
      case 31:
        return noise(x, 0.1f);
      case 32:
        return average({x, y, z});
      case 33:
        return cmult(x, sum_elems(y) * 0.1f);
      case 34:
        return x + tanh(below(2) ? pick(y, below(h_)) : pick(y, &m_.index));
      case 35:
        return pick_batch_elem(concatenate_to_batch({sum_batches(x), sum_batches(y)}), below(2)) *
               0.5f;
      case 36: {
        if (below(2)) {  // handles of second results are operands of all other operations
          const float forget = below(2) ? 1.0f : 0.5f;
          const Expression w = parameter(g_, m_.gate);
          LSTMCellState s;
          switch (below(5)) {
            case 0:
              s = lstm_cell(affine_transform({zeros4(), w, x}), {z}, forget);
              break;
            case 1:
              s = lstm_step({zeros4(), w, x}, {z}, forget);
              break;
            case 2: {
              std::vector<Expression> xs(1 + below(3), x);
              xs.back() = y;
              const Expression sums = affine_transform({zeros4(), w, concatenate_cols(xs)});
              const bool starts = y.dim().bd <= sums.dim().bd && z.dim().bd <= sums.dim().bd;
              s = starts && below(2) ? lstm_sequence(sums, w, {y, z}, forget, below(2) == 1)
                                     : lstm_sequence(sums, w, forget, below(2) == 1);
              return pick(below(2) ? s.h : s.c, below(static_cast<unsigned>(xs.size())), 1);
            }
            default:
              s = lstm_step({zeros4(), w, x, w, y}, {z}, forget);
          }
          return below(2) ? s.h : s.c;
        }
        const Expression gates =
            below(2)
                ? vanilla_lstm_gates(x, parameter(g_, m_.gate), zeros4(), below(2) ? 1.0f : 0.0f)
                : vanilla_lstm_gates(x, y, parameter(g_, m_.gate), parameter(g_, m_.gate), zeros4(),
                                     1.0f);
        const Expression c = vanilla_lstm_c(tanh(z), gates);
        return vanilla_lstm_h(c, gates);
      }
      case 37:
        return pick(concatenate_cols({x, y}), below(2), 1);
      case 38:
        return tanh(transpose(parameter(g_, m_.w)) * x);
      default:
        return colwise_add(x, parameter(g_, m_.b)) * 0.5f;
    }
  }

  dynet::Expression zeros4() { return dynet::zeros(g_, {4 * h_}); }

  dynet::Expression loss(const dynet::Expression& x) {
    using namespace dynet;
    switch (below(6)) {
      case 0:
        return sum_batches(sum_elems(x));
      case 1:
        if (below(2)) {
          const Expression w = parameter(g_, m_.w);
          return sum_batches(x.dim().bd == 1 ? linear_cross_entropy({w, x}, below(h_))
                                             : linear_cross_entropy({w, x}, indices(h_)));
        }
        return sum_batches(x.dim().bd == 1 ? pickneglogsoftmax(x, below(h_))
                                           : pickneglogsoftmax(x, indices(h_)));
      case 2:
        return sum_batches(squared_norm(x));
      case 3:
        return mean_batches(dot_product(x, any()));
      case 4:
        return sum_batches(squared_distance(x, any()));
      default:
        return sum_batches(pick(x, below(h_)));
    }
  }

  dynet::ComputationGraph& g_;
  Model& m_;
  unsigned h_;
  Choices own_;
  Choices& choices_;
  std::vector<dynet::Expression> vectors_;
};
