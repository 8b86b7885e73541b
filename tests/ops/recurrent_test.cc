#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// x, h, Wx, Wh, b in the order of the arguments; without h and Wh for the first step.
Array gates(const Array& x, const Array* h, const Array& Wx, const Array* Wh, const Array& b,
            double forget_bias) {
  const unsigned n = b.dim.rows();
  const unsigned batch = std::max({x.dim.bd, h ? h->dim.bd : 1, b.dim.bd, Wx.dim.bd});
  return fill(Dim({n}, batch), [&](const Place& p) {
    const unsigned r = p[0], e = p[kBatch];
    double sum = b.at(r, 0, e);
    for (unsigned k = 0; k < x.dim.rows(); ++k) sum += Wx.at(r, k, e) * x.at(k, 0, e);
    if (h)
      for (unsigned k = 0; k < h->dim.rows(); ++k) sum += Wh->at(r, k, e) * h->at(k, 0, e);
    if (r >= n / 4 && r < n / 2) sum += forget_bias;
    return r < n / 4 * 3 ? sigmoid(sum) : std::tanh(sum);
  });
}

std::string of(unsigned children) { return " of " + std::to_string(children) + " children"; }

std::vector<Dim> cell_shapes(Shapes& s) {
  const unsigned h = s.size();
  return {Dim({h}, s.batch()), Dim({4 * h}, s.batch())};
}

constexpr char kBadCells[] = "{2} {7} | {2} {4} | {2,2} {8} | {2} {8,2} | {2X2} {8X3}";

/// The gates of the sums of a cell with so many predecessors, its value, and its output.
Array gates_of(const Array& sums, unsigned children) {
  const unsigned h = sums.dim.rows() / (3 + children);
  return fill(sums.dim, [&](const Place& p) {
    const bool forget = p[0] >= h && p[0] < (1 + children) * h;
    const double sum = sums.at(p) + (forget ? 0.5 : 0);
    return p[0] < (2 + children) * h ? sigmoid(sum) : std::tanh(sum);
  });
}
Array cell_of(const Array& gates, const Array* cells, unsigned children) {
  const unsigned h = gates.dim.rows() / (3 + children);
  unsigned batch = gates.dim.bd;
  for (unsigned k = 0; k < children; ++k) batch = std::max(batch, cells[k].dim.bd);
  return fill(Dim({h}, batch), [&](const Place& p) {
    const auto gate = [&](unsigned k) { return gates.at(k * h + p[0], 0, p[kBatch]); };
    double sum = gate(0) * gate(2 + children);
    for (unsigned k = 0; k < children; ++k) sum += gate(1 + k) * cells[k].at(p);
    return sum;
  });
}
Array output_of(const Array& cell, const Array& gates, unsigned children) {
  const unsigned h = cell.dim.rows();
  return fill(cell.dim, [&](const Place& p) {
    return gates.at((1 + children) * h + p[0], 0, p[kBatch]) * std::tanh(cell.at(p));
  });
}

/// Results of a cell that a case reads: both, one behind the other, or one of them.
struct Results {
  bool h, c;

  Expression of(const LSTMCellState& s) const {
    if (!c) return s.h;
    if (h) return concatenate({s.h, s.c, s.c});
    return average(std::vector<Expression>(17, s.c));  // the last operand is an alias
  }
  Array of(const Array& sums, const Array* cells, unsigned children) const {
    const Array gates = gates_of(sums, children), cell = cell_of(gates, cells, children),
                output = output_of(cell, gates, children);
    if (!h || !c) return h ? output : cell;
    const unsigned n = cell.dim.rows();
    return fill(Dim({3 * n}, cell.dim.bd), [&](Place p) {
      const Array& of = p[0] < n ? output : cell;
      p[0] %= n;
      return of.at(p);
    });
  }
  std::string name() const { return !c ? ", the output" : !h ? ", the cell" : ""; }
};

/// A cell with so many predecessors. The operands are the cells and the sums.
OpCase cell(unsigned children, Results results) {
  OpCase c;
  c.name = "lstm_cell" + of(children) + results.name();
  c.shapes = [=](Shapes& s) {
    const unsigned h = s.size();
    std::vector<Dim> all;
    for (unsigned k = 0; k < children; ++k) all.push_back(Dim({h}, s.batch()));
    all.push_back(Dim({(3 + children) * h}, s.batch()));
    return all;
  };
  c.build = [=](const Operand& x) {
    const std::vector<Expression> cells(x.begin(), x.begin() + children);
    return results.of(lstm_cell(x[children], cells, 0.5f));
  };
  c.reference = [=](const Arrays& x) { return results.of(x[children], x.data(), children); };
  const auto wrong = [&](const Dim& cell, const Dim& sums) {
    std::vector<Dim> all(children, cell);
    all.push_back(sums);
    c.bad.push_back({all});
  };
  const unsigned n = 3 + children;
  wrong(Dim({2}), Dim({2 * n + 1}));
  wrong(Dim({2}), Dim({2 * n, 2}));
  if (children > 0) {
    wrong(Dim({2}), Dim({n}));
    wrong(Dim({2, 2}), Dim({2 * n}));
    wrong(Dim({2}, 2), Dim({2 * n}, 3));
  }
  return c;
}

/// A cell with so many predecessors and its products. The operands are the cells, the vectors, the
/// bias and the matrices.
OpCase step(unsigned children, unsigned pairs, Results results) {
  OpCase c;
  c.name = "lstm_step" + of(children) + ", " + std::to_string(pairs) + " products" + results.name();
  c.shapes = [=](Shapes& s) {
    const unsigned h = s.size(), sums = (3 + children) * h;
    std::vector<Dim> all, matrices;
    for (unsigned k = 0; k < children; ++k) all.push_back(Dim({h}, s.batch()));
    for (unsigned k = 0; k < pairs; ++k) {
      const unsigned n = s.size();
      all.push_back(Dim({n}, s.batch()));
      matrices.push_back(Dim({sums, n}));
    }
    all.push_back(Dim({sums}));
    all.insert(all.end(), matrices.begin(), matrices.end());
    return all;
  };
  const unsigned bias = children + pairs;
  c.build = [=](const Operand& x) {
    const std::vector<Expression> cells(x.begin(), x.begin() + children);
    std::vector<Expression> sums = {x[bias]};
    for (unsigned k = 0; k < pairs; ++k)
      sums.insert(sums.end(), {x[bias + 1 + k], x[children + k]});
    return results.of(lstm_step(sums, cells, 0.5f));
  };
  c.reference = [=](const Arrays& x) {
    unsigned batch = 1;
    for (const Array& a : x) batch = std::max(batch, a.dim.bd);
    const Array sums = fill(Dim({x[bias].dim.rows()}, batch), [&](const Place& p) {
      double sum = x[bias].at(p[0], 0, p[kBatch]);
      for (unsigned k = 0; k < pairs; ++k)
        for (unsigned j = 0; j < x[children + k].dim.rows(); ++j)
          sum += x[bias + 1 + k].at(p[0], j, p[kBatch]) * x[children + k].at(j, 0, p[kBatch]);
      return sum;
    });
    return results.of(sums, x.data(), children);
  };
  for (unsigned k = 0; k <= pairs; ++k) c.shared.push_back(bias + k);
  const auto wrong = [&](const Dim& cell, const Dim& sums, const Dim& x) {
    std::vector<Dim> all(children, cell);
    for (unsigned k = 0; k < pairs; ++k) all.push_back(x);
    for (unsigned k = 0; k <= pairs; ++k) all.push_back(k == 0 ? sums : Dim({sums[0], 2}));
    c.bad.push_back({all});
  };
  const unsigned n = 3 + children;
  wrong(Dim({2}), Dim({2 * n + 1}), Dim({2}));
  if (pairs > 0) wrong(Dim({2}), Dim({2 * n}), Dim({3}));
  if (pairs > 0) wrong(Dim({2}), Dim({2 * n}), Dim({2, 2}));
  if (children > 0) wrong(Dim({3}), Dim({2 * n}), Dim({2}));
  if (children > 0) wrong(Dim({2, 2}), Dim({2 * n}), Dim({2}));
  if (children > 0 && pairs > 0) wrong(Dim({2}, 2), Dim({2 * n}), Dim({2}, 3));
  return c;
}

/// The same from a sum for each gate.
OpCase cell_of_gates(unsigned children) {
  OpCase test = cell(children, {true, true});
  test.name += ", a sum for each gate";
  test.shapes = [=](Shapes& s) {
    const unsigned h = s.size();
    std::vector<Dim> all;
    for (unsigned k = 0; k < 3 + 2 * children; ++k) all.push_back(Dim({h}, s.batch()));
    return all;
  };
  test.build = [=](const Operand& x) {
    const std::vector<Expression> cells(x.begin(), x.begin() + children);
    const LSTMCellState s = lstm_cell({x.begin() + children, x.end()}, cells, 0.5f);
    return concatenate({s.h, s.c, s.c});
  };
  test.reference = [=](const Arrays& x) {
    unsigned batch = 1;
    for (const Array& a : x) batch = std::max(batch, a.dim.bd);
    const unsigned h = x[0].dim.rows();
    Arrays operands(x);
    operands.resize(children);
    operands.push_back(fill(Dim({(3 + children) * h}, batch), [&](Place p) {
      const Array& of = x[children + p[0] / h];
      p[0] %= h;
      return of.at(p);
    }));
    return cell(children, {true, true}).reference(operands);
  };
  const std::vector<Dim> right(3 + 2 * children, Dim({2}));
  test.bad.clear();
  for (const Dim& wrong : {Dim({3}), Dim({2, 2}), Dim({2}, 3)}) {
    std::vector<Dim> all = right;
    all[0] = wrong;
    all[1] = Dim({2}, 2);
    test.bad.push_back({all});
  }
  test.bad.push_back({{right.begin() + 1, right.end()}});
  return test;
}

/// Gates of an input in parts or under masks: x in one or two parts, masks of x and h, h, Wx, Wh,
/// b.
OpCase gates_from(bool parts, bool masks) {
  OpCase c;
  c.name = std::string("vanilla_lstm_gates") + (masks ? "_dropout" : "") + (parts ? "_concat" : "");
  c.shapes = [=](Shapes& s) {
    const unsigned h = s.size();
    std::vector<Dim> x = {Dim({s.size()}, s.batch())};
    if (parts) x.push_back(Dim({s.size()}, s.batch()));
    unsigned in = 0;
    for (const Dim& d : x) in += d[0];
    std::vector<Dim> all = x;
    if (masks) all.insert(all.end(), {Dim({in}, s.batch()), Dim({h}, s.batch())});
    all.insert(all.end(), {Dim({h}, s.batch()), Dim({4 * h, in}), Dim({4 * h, h}), Dim({4 * h})});
    return all;
  };
  const std::size_t m = parts ? 2 : 1, k = m + (masks ? 2 : 0);
  c.build = [=](const Operand& x) {
    const std::vector<Expression> in(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(m));
    const Expression &h = x[k], &wx = x[k + 1], &wh = x[k + 2], &b = x[k + 3];
    if (parts && masks) return vanilla_lstm_gates_dropout_concat(in, h, wx, wh, b, x[m], x[m + 1]);
    if (parts) return vanilla_lstm_gates_concat(in, h, wx, wh, b);
    return vanilla_lstm_gates_dropout(x[0], h, wx, wh, b, x[m], x[m + 1]);
  };
  c.reference = [=](const Arrays& x) {
    Dim d = x[0].dim;
    for (std::size_t j = 1; j < m; ++j) d = Dim({d[0] + x[j].dim[0]}, std::max(d.bd, x[j].dim.bd));
    Array in = fill(d, [&](Place p) {
      std::size_t j = 0;
      while (p[0] >= x[j].dim[0]) p[0] -= x[j++].dim[0];
      return x[j].at(p);
    });
    Array h = x[k];
    const auto product = [](const std::vector<double>& v) { return v[0] * v[1]; };
    if (masks) {
      in = zip({in, x[m]}, product);
      h = zip({h, x[m + 1]}, product);
    }
    return gates(in, &h, x[k + 1], &x[k + 2], x[k + 3], 1);
  };
  const auto from = static_cast<unsigned>(k);
  c.shared = {from + 1, from + 2, from + 3};
  const auto wrong = [&](const Dim& x, const Dim& mask_x, const Dim& mask_h, const Dim& h,
                         const Dim& wx) {
    std::vector<Dim> dims = {x};
    if (parts) dims.push_back(Dim({1}));
    if (masks) dims.insert(dims.end(), {mask_x, mask_h});
    dims.insert(dims.end(), {h, wx, Dim({8, 2}), Dim({8})});
    c.bad.push_back({dims});
  };
  const unsigned in = parts ? 3 : 2;
  wrong(Dim({3}), Dim({in}), Dim({2}), Dim({2}), Dim({8, in}));
  wrong(Dim({2}), Dim({in}), Dim({2}), Dim({3}), Dim({8, in}));
  wrong(Dim({2}), Dim({in}), Dim({2}), Dim({2}), Dim({7, in}));
  wrong(Dim({2}, 2), Dim({in}), Dim({2}), Dim({2}, 3), Dim({8, in}));
  if (masks) wrong(Dim({2}), Dim({1}), Dim({2}), Dim({2}), Dim({8, in}));
  if (masks) wrong(Dim({2}), Dim({in}), Dim({3}), Dim({2}), Dim({8, in}));
  if (masks) wrong(Dim({2}, 2), Dim({in}, 3), Dim({2}), Dim({2}), Dim({8, in}));
  return c;
}

/// A whole sequence. The operands are the sums, the matrix and perhaps the initial state; by
/// `variant` it is reversed.
OpCase sequence(bool initial, Results results) {
  OpCase c;
  c.name = std::string("lstm_sequence") + (initial ? ", with a state" : "") + results.name();
  c.shapes = [=](Shapes& s) {
    const unsigned h = s.size(), batch = s.batch();
    std::vector<Dim> all = {Dim({4 * h, s.size()}, batch), Dim({4 * h, h})};
    for (unsigned k = 0; initial && k < 2; ++k) all.push_back(Dim({h}, batch == 1 ? 1 : s.batch()));
    return all;
  };
  const auto results_of = [=](const Array& output, const Array& cell) {
    if (!results.c) return output;
    if (!results.h) return cell;
    const unsigned n = output.dim.rows();
    return fill(Dim({2 * n, output.dim.cols()}, output.dim.bd), [&](Place p) {
      const Array& of = p[0] < n ? output : cell;
      p[0] %= n;
      return of.at(p);
    });
  };
  c.build = [=](const Operand& x) {
    const bool reverse = x.variant % 2 == 1;
    const LSTMCellState s = initial ? lstm_sequence(x[0], x[1], {x[2], x[3]}, 0.5f, reverse)
                                    : lstm_sequence(x[0], x[1], 0.5f, reverse);
    if (!results.c) return s.h;
    if (results.h) return concatenate({s.h, s.c});
    return average(std::vector<Expression>(17, s.c));  // the last operand is an alias
  };
  c.reference = [=](const Arrays& x) {
    const unsigned h = x[1].dim.cols(), length = x[0].dim.cols(), batch = x[0].dim.bd;
    const Dim state({h}, batch);
    const auto start = [&](unsigned k) {
      return fill(state, [&](const Place& p) { return initial ? x[k].at(p) : 0; });
    };
    Array output = start(2), cell = start(3);
    Array outputs = fill(Dim({h, length}, batch), [](const Place&) { return 0; }), cells = outputs;
    for (unsigned step = 0; step < length; ++step) {
      const unsigned t = x.variant % 2 == 1 ? length - 1 - step : step;
      const Array sums = fill(Dim({4 * h}, batch), [&](const Place& p) {
        double sum = x[0].at(p[0], t, p[kBatch]);
        for (unsigned k = 0; k < h; ++k) sum += x[1].at(p[0], k) * output.at(k, 0, p[kBatch]);
        return sum;
      });
      const Array gates = gates_of(sums, 1);
      cell = cell_of(gates, &cell, 1);
      output = output_of(cell, gates, 1);
      for (unsigned e = 0; e < batch; ++e)
        for (unsigned k = 0; k < h; ++k) {
          const std::size_t at = (std::size_t{e} * length + t) * h + k;
          outputs.v[at] = output.at(k, 0, e);
          cells.v[at] = cell.at(k, 0, e);
        }
    }
    return results_of(outputs, cells);
  };
  c.low = -0.6;  // larger weights make long sequences chaotic
  c.high = 0.6;
  c.bad =
      initial
          ? bad_shapes(
                "{8,3} {8,2} {3} {2} | {8,3} {8,2} {2} {2,2} | {8,3} {8,2} {2X2} {2} | "
                "{8,3X2} {8,2} {2} {2X3} | {8,3} {8,3} {2} {2}")
          : bad_shapes("{7,3} {7,2} | {8,3} {8,3} | {8,3} {4,2} | {8,3} {8,2X2} | {8,3,2} {8,2}");
  return c;
}

/// Operations on `n` operands of one shape.
OpCase on_alike(const char* name, std::size_t n) {
  OpCase c;
  c.name = name;
  c.shapes = [=](Shapes& s) {
    const Dim d = s.any();
    std::vector<Dim> all;
    for (std::size_t k = 0; k < n; ++k) {
      all.push_back(d.single_batch());
      all.back().bd = s.batch();
    }
    return all;
  };
  c.bad = bad_shapes(n == 2 ? "{2} {3} | {2} {2,2} | {2X2} {2X3}"
                            : "{2} {3} {2} | {2} {2} {2,2} | {2X2} {2} {2X3}");
  return c;
}

}  // namespace

std::vector<OpCase> recurrent_cases() {
  std::vector<OpCase> all;
  OpCase c;
  c.name = "vanilla_lstm_gates";
  c.shapes = [](Shapes& s) {
    const unsigned in = s.size(), h = s.size();
    return std::vector{Dim({in}, s.batch()), Dim({h}, s.batch()), Dim({4 * h, in}), Dim({4 * h, h}),
                       Dim({4 * h})};
  };
  c.build = [](const Operand& x) { return vanilla_lstm_gates(x[0], x[1], x[2], x[3], x[4]); };
  c.reference = [](const Arrays& x) { return gates(x[0], &x[1], x[2], &x[3], x[4], 1); };
  c.shared = {2, 3, 4};
  c.bad = bad_shapes(
      "{2} {2} {8,3} {8,2} {8} | {2} {2} {8,2} {8,3} {8} | {2} {2} {8,2} {8,2} {7} | {2} {2} {7,2} "
      "{7,2} {7} | {2} {2} {8,2} {4,2} {8} | {2X2} {2X3} {8,2} {8,2} {8}");
  all.push_back(c);

  c.name = "vanilla_lstm_gates of a first step";
  c.shapes = [](Shapes& s) {
    const unsigned in = s.size(), h = s.size();
    return std::vector{Dim({in}, s.batch()), Dim({4 * h, in}), Dim({4 * h})};
  };
  c.build = [](const Operand& x) { return vanilla_lstm_gates(x[0], x[1], x[2], 0.5f); };
  c.reference = [](const Arrays& x) { return gates(x[0], nullptr, x[1], nullptr, x[2], 0.5); };
  c.shared = {1, 2};
  c.bad = bad_shapes("{2} {8,3} {8} | {2} {7,2} {7}");
  all.push_back(c);

  c = {};
  c.name = "vanilla_lstm_c";
  c.shapes = cell_shapes;
  c.build = [](const Operand& x) { return vanilla_lstm_c(x[0], x[1]); };
  c.reference = [](const Arrays& x) {
    const unsigned h = x[0].dim.rows();
    return fill(Dim({h}, std::max(x[0].dim.bd, x[1].dim.bd)), [&](const Place& p) {
      const auto g = [&](unsigned k) { return x[1].at(k * h + p[0], 0, p[kBatch]); };
      return g(0) * g(3) + g(1) * x[0].at(p);
    });
  };
  c.bad = bad_shapes(kBadCells);
  all.push_back(c);

  c.name = "vanilla_lstm_h";
  c.build = [](const Operand& x) { return vanilla_lstm_h(x[0], x[1]); };
  c.reference = [](const Arrays& x) {
    const unsigned h = x[0].dim.rows();
    return fill(Dim({h}, std::max(x[0].dim.bd, x[1].dim.bd)), [&](const Place& p) {
      return x[1].at(2 * h + p[0], 0, p[kBatch]) * std::tanh(x[0].at(p));
    });
  };
  c.extremes = {1e4, -1e4};
  all.push_back(c);
  all.push_back(gates_from(true, false));
  all.push_back(gates_from(false, true));
  all.push_back(gates_from(true, true));
  constexpr Results kBoth{true, true}, kOutput{true, false}, kCell{false, true};
  for (const unsigned children : {0u, 1u, 2u, 6u})
    all.insert(all.end(), {cell(children, kBoth), cell(children, kOutput), cell(children, kCell),
                           cell_of_gates(children)});
  all.insert(all.end(), {step(0, 1, kBoth), step(1, 2, kBoth), step(2, 2, kBoth), step(4, 1, kBoth),
                         step(1, 0, kBoth), step(1, 1, kOutput), step(1, 2, kCell)});
  all.insert(all.end(), {sequence(false, kBoth), sequence(true, kBoth), sequence(true, kOutput),
                         sequence(false, kCell)});
  c = on_alike("gated", 2);
  c.build = [](const Operand& x) { return gated(x[0], x[1]); };
  c.reference = [](const Arrays& x) {
    return zip({x[0], x[1]}, [](const std::vector<double>& v) { return v[0] * sigmoid(v[1]); });
  };
  all.push_back(c);
  c = on_alike("coupled_update", 3);
  c.build = [](const Operand& x) { return coupled_update(x[0], x[1], x[2]); };
  c.reference = [](const Arrays& x) {
    return zip({x[0], x[1], x[2]}, [](const std::vector<double>& v) {
      const double z = sigmoid(v[0]);
      return z * std::tanh(v[1]) + (1 - z) * v[2];
    });
  };
  all.push_back(c);
  return all;
}

DYNET_OP_TESTS("recurrent", recurrent_cases())

}  // namespace dynet::test

TEST_CASE("the gates take weight noise sixth, as in DyNet, and the forget bias after it") {
  using namespace dynet;
  ComputationGraph g;
  g.set_seed(3);
  const Expression x = ones(g, {2}), h = ones(g, {1}), b = zeros(g, {4});
  const Expression wx = zeros(g, {4, 2}), wh = zeros(g, {4, 1});
  const auto gates = [&](auto... more) {
    return as_vector(vanilla_lstm_gates(x, h, wx, wh, b, more...).value());
  };
  const double one = 1 / (1 + std::exp(-1.0));
  CHECK(gates()[1] == Approx(one));
  CHECK(gates(0.0f)[1] == Approx(one));
  CHECK(gates(0.0f, 0.0f)[1] == Approx(0.5));
  CHECK(gates(0.1f)[0] != 0.5f);
  CHECK(gates(0.1f)[0] != gates(0.1f)[0]);
  CHECK(gates(0.1f)[0] == Approx(0.5).margin(0.2));
  CHECK_THROWS_AS(gates(-0.1f), ArgumentError);
  // The other forms have noise too, and leave nothing behind where they fail.
  const auto first = [](const Expression& e) { return as_vector(e.value())[0]; };
  CHECK(first(vanilla_lstm_gates_concat({x}, h, wx, wh, b, 0.1f)) != 0.5f);
  CHECK(first(vanilla_lstm_gates_dropout(x, h, wx, wh, b, x, h, 0.1f)) != 0.5f);
  CHECK(first(vanilla_lstm_gates_dropout_concat({x}, h, wx, wh, b, x, h, 0.1f)) != 0.5f);
  const std::size_t size = g.size();
  CHECK_THROWS_AS(vanilla_lstm_gates(x, x, wx, wh, b, 0.1f), ShapeError);
  CHECK_THROWS_AS(vanilla_lstm_gates_concat({}, h, wx, wh, b), ArgumentError);
  CHECK(g.size() == size);
}

namespace {
std::vector<float> numbers_of(unsigned n) {
  std::vector<float> all;
  for (unsigned i = 0; i < n; ++i) all.push_back(std::sin(static_cast<float>(i)));
  return all;
}
}  // namespace

TEST_CASE("a cell of one node has the numbers of one of separate operations") {
  using namespace dynet;
  for (const unsigned children : {0u, 1u, 2u})
    for (const unsigned batch : {1u, 2u}) {
      CAPTURE(children, batch);
      ParameterCollection pc;
      pc.set_seed(7);
      const Parameter sums = pc.add_parameters({(3 + children) * 5});
      std::vector<Parameter> before;
      for (unsigned k = 0; k < children; ++k) before.push_back(pc.add_parameters({5}));
      std::vector<std::vector<float>> numbers[2];
      for (const bool one : {false, true}) {
        ComputationGraph g;
        const unsigned x_size = (3 + children) * 5 * batch;
        std::vector<Expression> cells;
        for (const Parameter& p : before) cells.push_back(parameter(g, p));
        const Expression x =
            parameter(g, sums) + input(g, Dim({(3 + children) * 5}, batch), numbers_of(x_size));
        LSTMCellState s;
        if (one) {
          s = lstm_cell(x, cells, 0.5f);
          CHECK(s.h.i == s.c.i);
          CHECK(g.size() == children + 4);
        } else {
          const auto sum_of = [&](unsigned k) { return pick_range(x, 5 * k, 5 * k + 5); };
          s.c = cmult(logistic(sum_of(0)), tanh(sum_of(2 + children)));
          for (unsigned k = 0; k < children; ++k)
            s.c = s.c + cmult(logistic(sum_of(1 + k) + 0.5f), cells[k]);
          s.h = cmult(logistic(sum_of(1 + children)), tanh(s.c));
        }
        g.backward(sum_batches(sum_elems(cmult(s.h, s.c) + s.c)));
        for (const Expression& e : {s.h, s.c}) numbers[one].push_back(as_vector(e.value()));
        numbers[one].push_back(as_vector(s.h.gradient()));
        for (const Parameter& p : pc.parameters_list()) {
          numbers[one].push_back(as_vector(p.gradients()));
          pc.reset_gradient();
        }
      }
      for (std::size_t k = 0; k < 3; ++k) CHECK(numbers[0][k] == numbers[1][k]);
      for (std::size_t k = 3; k < numbers[0].size(); ++k)
        for (std::size_t i = 0; i < numbers[0][k].size(); ++i)
          CHECK(numbers[0][k][i] == Approx(numbers[1][k][i]).epsilon(1e-5).margin(1e-7));
    }
}

TEST_CASE("the second result of a cell is an operand like any other") {
  using namespace dynet;
  ParameterCollection pc;
  pc.set_seed(7);
  const Parameter sums = pc.add_parameters({4}), w = pc.add_parameters({3, 1});
  ComputationGraph g;
  const auto step = [&] { return lstm_cell(parameter(g, sums), {zeros(g, {1})}); };
  const LSTMCellState s = step();
  const float c = as_vector(s.c.value())[0], h = as_vector(s.h.value())[0];
  CHECK(c != h);
  CHECK(to_string(s.c.dim()) == "{1}");
  const auto value = [](const Expression& e) { return as_vector(e.value()); };
  CHECK(value(s.c * 2.0f) == std::vector{2 * c});
  CHECK(value(reshape(s.c, {1, 1})) == std::vector{c});
  CHECK(value(parameter(g, w) * s.c) ==
        std::vector{w.values().v[0] * c, w.values().v[1] * c, w.values().v[2] * c});
  // A factor that batches share is a node of its own, as is an operand far behind.
  const std::size_t before = g.size();
  CHECK(value(s.c * input(g, 3)) == std::vector{3 * c});
  CHECK(g.size() == before + 3);
  std::vector<Expression> many(40, s.h);
  many[3] = many[30] = s.c;
  const std::vector<float> all = value(concatenate(many));
  for (std::size_t k = 0; k < all.size(); ++k) CHECK(all[k] == (k == 3 || k == 30 ? c : h));
  // An operation that fails leaves nothing behind.
  const std::size_t size = g.size();
  CHECK_THROWS_AS(s.c * zeros(g, {2, 2}), ShapeError);
  CHECK(g.size() == size + 1);
  // A loss, and a result that the loss does not depend on.
  g.backward(s.c);
  CHECK(g.size() == size + 1);
  CHECK(as_vector(s.c.gradient()) == std::vector{1.0f});
  CHECK(as_vector(s.h.gradient()) == std::vector{0.0f});
  CHECK(check_gradients(s.c).loss == Approx(c));
  const LSTMCellState constant = lstm_cell(zeros(g, {4}), {zeros(g, {1})});
  g.backward(constant.c);
  CHECK(as_vector(constant.c.gradient()) == std::vector{1.0f});
  CHECK(as_vector(constant.h.gradient()) == std::vector{0.0f});
  Expression wrong = s.h;
  wrong.result = 2;
  CHECK_THROWS_AS(wrong.value(), ArgumentError);
  wrong = parameter(g, w);
  wrong.result = 1;
  CHECK_THROWS_AS(tanh(wrong), ArgumentError);
  // A minus infinity in a cell masks what reads the cell.
  g.set_check_validity(true);
  const float masked = -std::numeric_limits<float>::infinity();
  const LSTMCellState low = lstm_cell(zeros(g, {4}), {input(g, masked)});
  CHECK(value(low.c + 1.0f) == std::vector{masked});
  g.set_check_validity(false);
  const LSTMCellState other = step();
  g.backward(other.h);
  CHECK(as_vector(other.h.gradient()) == std::vector{1.0f});
  CHECK(as_vector(other.c.gradient()) == std::vector{0.0f});
}

TEST_CASE("an operation in place on the cell leaves the cell") {
  using namespace dynet;
  ParameterCollection pc;
  const Parameter p = pc.add_parameters({4});
  SimpleSGDTrainer trainer(pc, 0.1f);
  ComputationGraph g;
  std::vector<Expression> cells, after;
  for (int k = 0; k < 4; ++k) {
    cells.push_back(lstm_cell(parameter(g, p), {ones(g, {1})}).c);
    after.push_back(tanh(cells.back()));
  }
  g.backward(sum_elems(sum(after)));
  const std::vector<float> seen = as_vector(after[1].value());
  trainer.update();
  CHECK(std::tanh(as_vector(cells[1].value())[0]) == Approx(seen[0]));
}
