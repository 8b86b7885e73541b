#include "tests/layers/cells.h"

namespace tree_lstm_test {

using namespace dynet;
using naive::difference;
using naive::numbers;
using naive::State;
using naive::throws_here;
using naive::Vector;

namespace {

constexpr unsigned kIn = 3, kHidden = 4, kLayers = 2, kMost = 3;

/// A node over earlier ones; without an input if x is negative.
struct TreeNode {
  int id;
  std::vector<int> children;
  int x;
};

// Nodes with none, one, two and three children, one used twice, numbers out of order.
const std::vector<TreeNode> kTree{{4, {}, 1},  {1, {}, 2},        {0, {4, 1}, -1},
                                  {7, {0}, 3}, {3, {7, 1, 4}, 4}, {2, {3, 7}, 5}};

Vector input_of(int x, unsigned size = kIn) {
  return naive::to_double(numbers(size, 500 + static_cast<std::uint64_t>(x)));
}

/// The states of a tree, by node, one layer after another; `cell` computes one layer of a node from
/// its input, null for none, and its children's states.
template <class Cell>
std::vector<State> run_naive(Cell cell) {
  std::vector<State> states(8);
  for (const TreeNode& n : kTree) {
    Vector x = n.x < 0 ? Vector() : input_of(n.x);
    for (unsigned l = 0; l < kLayers; ++l) {
      std::vector<Vector> h, c;
      for (int child : n.children) {
        h.push_back(states[child].h[l]);
        c.push_back(states[child].c[l]);
      }
      Vector new_c;
      std::tie(new_c, x) = cell(l, x, h, c);
      states[n.id].c.push_back(new_c);
      states[n.id].h.push_back(x);
    }
  }
  return states;
}

std::pair<Vector, Vector> finish(const Vector& i, const Vector& o, const Vector& u,
                                 const std::vector<Vector>& f, const std::vector<Vector>& c) {
  Vector cell = naive::each(kHidden, [&](std::size_t k) {
    double sum = naive::logistic(i[k]) * std::tanh(u[k]);
    for (std::size_t j = 0; j < c.size(); ++j) sum += naive::logistic(f[j][k]) * c[j][k];
    return sum;
  });
  return {cell, naive::each(kHidden, [&](std::size_t k) {
            return naive::logistic(o[k]) * std::tanh(cell[k]);
          })};
}

void add_tree(TreeLSTMBuilder& tree, ComputationGraph& g, unsigned size = kIn) {
  for (const TreeNode& n : kTree) {
    const Expression x =
        n.x < 0 ? Expression()
                : input(g, {size}, numbers(size, 500 + static_cast<std::uint64_t>(n.x)));
    const Expression h = tree.add_input(n.id, n.children, x);
    CHECK(h.dim() == Dim({kHidden}));
    CHECK(tree.back().i == h.i);
  }
}

void check_states(TreeLSTMBuilder& tree, const std::vector<State>& states) {
  for (const TreeNode& n : kTree) {
    const auto h = tree.get_h(n.id), s = tree.get_s(n.id);
    REQUIRE(h.size() == kLayers);
    REQUIRE(s.size() == 2 * kLayers);
    for (unsigned l = 0; l < kLayers; ++l) {
      CHECK(difference(states[n.id].h[l], as_vector(h[l].value())) < 2e-6);
      CHECK(difference(states[n.id].c[l], as_vector(s[l].value())) < 2e-6);
    }
  }
  CHECK(as_vector(tree.final_h().back().value()) == as_vector(tree.back().value()));
  CHECK(tree.final_s().size() == 2 * kLayers);
}

}  // namespace

TEST_CASE("an N-ary tree LSTM computes what the paper says") {
  ParameterCollection pc;
  NaryTreeLSTMBuilder tree(kMost, kLayers, kIn, kHidden, pc);
  naive::spread(pc);
  const auto p = pc.parameters_list();
  const unsigned each = 8 + 5 * kMost + 2 * kMost * kMost;
  REQUIRE(p.size() == kLayers * each);
  const auto states = run_naive([&](unsigned l, const Vector& x, const std::vector<Vector>& h,
                                    const std::vector<Vector>& c) {
    const Parameter* q = &p[l * each];
    // Gates i, o, u, f: W and b; then for each child U and V of i, of o, U of u; then those of f.
    const auto start = [&](unsigned gate) {
      const Vector b = naive::values(q[2 * gate + 1]);
      return x.empty() ? b : naive::plus(b, naive::times(q[2 * gate], x));
    };
    Vector i = start(0), o = start(1), u = start(2);
    std::vector<Vector> f;
    for (unsigned k = 0; k < h.size(); ++k) {
      const Parameter* m = q + 8 + 5 * k;
      i = naive::plus(naive::plus(i, naive::times(m[0], h[k])), naive::times(m[1], c[k]));
      o = naive::plus(naive::plus(o, naive::times(m[2], h[k])), naive::times(m[3], c[k]));
      u = naive::plus(u, naive::times(m[4], h[k]));
    }
    for (unsigned j = 0; j < h.size(); ++j) {
      f.push_back(start(3));
      for (unsigned k = 0; k < h.size(); ++k) {
        const Parameter* m = q + 8 + 5 * kMost + 2 * (kMost * j + k);
        f[j] = naive::plus(naive::plus(f[j], naive::times(m[0], h[k])), naive::times(m[1], c[k]));
      }
    }
    return finish(i, o, u, f, c);
  });
  ComputationGraph g;
  tree.new_graph(g);
  tree.start_new_sequence();
  add_tree(tree, g);
  check_states(tree, states);
  const std::vector<int> four{0, 1, 2, 3};
  throws_here([&] { tree.add_input(9, four, {}); }, "at most 3 children, got 4", __LINE__);
}

TEST_CASE("a child-sum tree LSTM computes what the paper says") {
  ParameterCollection pc;
  ChildSumTreeLSTMBuilder tree(kLayers, kIn, kHidden, pc);
  naive::spread(pc);
  const auto p = pc.parameters_list();
  REQUIRE(p.size() == kLayers * 12);
  const auto states = run_naive(
      [&](unsigned l, const Vector& x, const std::vector<Vector>& h, const std::vector<Vector>& c) {
        const Parameter* q = &p[l * 12];
        const auto sums = [&](unsigned gate, const Vector& from) {
          Vector a = naive::values(q[3 * gate + 2]);
          if (!x.empty()) a = naive::plus(a, naive::times(q[3 * gate], x));
          return naive::plus(a, naive::times(q[3 * gate + 1], from));
        };
        Vector total(kHidden, 0.0);
        for (const Vector& each : h) total = naive::plus(total, each);
        std::vector<Vector> f;
        for (const Vector& each : h) f.push_back(sums(3, each));
        return finish(sums(0, total), sums(1, total), sums(2, total), f, c);
      });
  ComputationGraph g;
  tree.new_graph(g);
  tree.start_new_sequence();
  add_tree(tree, g);
  check_states(tree, states);
}

TEST_CASE("biases of tree LSTMs are zero at first") {
  ParameterCollection pc;
  const ChildSumTreeLSTMBuilder child_sum(pc, {1, 3, 5});
  const NaryTreeLSTMBuilder nary(2, 1, 3, 5, pc);
  unsigned biases = 0;
  for (const Parameter& p : pc.parameters_list())
    if (p.dim() == Dim({5})) {
      ++biases;
      for (const float x : as_vector(p.values())) CHECK(x == 0);
    }
  CHECK(biases >= 8);
}

TEST_CASE("tree LSTMs of sequences read a node, then its children, in one or both directions") {
  ParameterCollection pc;
  UnidirectionalTreeLSTMBuilder one(kLayers, kHidden, kHidden, pc);
  BidirectionalTreeLSTMBuilder two(kLayers, kHidden, kHidden, pc);
  naive::spread(pc);
  ComputationGraph g;
  for (TreeLSTMBuilder* tree : std::initializer_list<TreeLSTMBuilder*>{&one, &two}) {
    tree->new_graph(g);
    tree->start_new_sequence();
    add_tree(*tree, g, kHidden);
  }
  const auto read = [](const LSTMBuilder& lstm, unsigned hidden, const std::vector<Vector>& xs) {
    State s;
    for (const Vector& x : xs) s = naive::lstm_step(lstm, kLayers, hidden, 1, s, x);
    return s;
  };
  std::vector<State> states(8);
  std::vector<Vector> both(8);
  for (const TreeNode& n : kTree) {
    std::vector<Vector> xs, forward, backward;
    if (n.x >= 0) xs.push_back(input_of(n.x, kHidden));
    forward = backward = xs;
    for (int child : n.children) xs.push_back(states[child].h.back());
    for (int child : n.children) forward.push_back(both[child]);
    for (std::size_t k = n.children.size(); k-- > 0;) backward.push_back(both[n.children[k]]);
    states[n.id] = read(one.node_builder, kHidden, xs);
    both[n.id] = naive::joined(read(two.fwd_node_builder, kHidden / 2, forward).h.back(),
                               read(two.rev_node_builder, kHidden / 2, backward).h.back());
    CHECK(difference(both[n.id], as_vector(two.get_h(n.id).back().value())) < 2e-6);
  }
  check_states(one, states);
  CHECK(two.get_s(4).size() == 1);
}

TEST_CASE("trees of one minibatch are as trees alone") {
  ParameterCollection pc;
  ChildSumTreeLSTMBuilder sums(kLayers, kIn, kHidden, pc);
  NaryTreeLSTMBuilder nary(2, kLayers, kIn, kHidden, pc);
  for (TreeLSTMBuilder* tree : std::initializer_list<TreeLSTMBuilder*>{&sums, &nary}) {
    ComputationGraph g;
    tree->new_graph(g);
    const auto root = [&](const Expression& first, const Expression& second) {
      tree->start_new_sequence();
      tree->add_input(0, {}, first);
      tree->add_input(1, {}, second);
      return tree->add_input(2, {0, 1}, Expression());
    };
    const Expression a = input(g, Dim({kIn}, 2), numbers(2 * kIn, 1));
    const Expression b = input(g, Dim({kIn}, 2), numbers(2 * kIn, 2));
    const Expression y = root(a, b);
    for (unsigned k : {0u, 1u}) {
      const Expression alone = root(pick_batch_elem(a, k), pick_batch_elem(b, k));
      CHECK(difference(naive::to_double(as_vector(alone.value())), naive::element(y, k)) < 1e-6);
    }
  }
}

}  // namespace tree_lstm_test
