#include "dynet-like/base/flush_subnormals.h"
#include "tests/support/prelude.h"

namespace backward_test {

using namespace dynet;

namespace {

/// Fills the gradient memory of all parameters in `pc` with NaN and marks it as unused.
void spoil_gradients(ComputationGraph& g, ParameterCollection& pc) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Parameter& p : pc.parameters_list()) std::fill_n(p.gradients().v, p.dim().size(), nan);
  for (const LookupParameter& e : pc.lookup_parameters_list())
    g.backward(sum_batches(sum_elems(parameter(g, e) * nan)));
  for (const LookupParameter& e : pc.lookup_parameters_list()) {
    std::vector<unsigned> rows;
    for (unsigned i = 0; i < e.size(); ++i) rows.push_back(i);
    pc.reset_gradient();
    g.backward(sum_batches(sum_elems(lookup(g, e, rows) * nan)));
  }
  pc.reset_gradient();
}

}  // namespace

TEST_CASE("backward adds to gradients of parameters and overwrites gradients of expressions") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p), y = square(x), loss = sum_elems(y);
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == Floats{6, 6});
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == Floats{12, 12});
  CHECK(gradient(y) == Floats{1, 1});
  pc.reset_gradient();
  CHECK(as_vector(p.gradients()) == Floats{0, 0});
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == Floats{6, 6});
  // Another graph adds to the same gradients.
  ComputationGraph h;
  h.backward(sum_elems(parameter(h, p) * 10.0f));
  CHECK(as_vector(p.gradients()) == Floats{16, 16});
}

TEST_CASE("the loss must be one number") {
  ComputationGraph g;
  const Expression x = input(g, {2}, {1, 2}), batch = input(g, Dim({1}, 2), {1, 2});
  CHECK_THROWS_AS(g.backward(x), ShapeError);
  CHECK_THROWS_AS(g.backward(batch), ShapeError);
  g.backward(sum_elems(x), true);
  CHECK(gradient(x) == Floats{1, 1});
}

TEST_CASE("backward with full computes gradients of constants") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  auto e = pc.add_lookup_parameters(3, {2}, ParameterInitConst(4.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p), c = input(g, {2}, {5, 7}), f = const_parameter(g, p);
  const Expression r = const_lookup(g, e, 1),
                   rows = const_lookup(g, e, std::vector<unsigned>{0, 2});
  const Expression y = cmult(x, c);
  const Expression loss =
      sum({sum_elems(y), dot_product(f, c), sum_elems(r), sum_batches(sum_elems(rows * 2.0f))});
  g.backward(loss);
  CHECK(gradient(c) == Floats{0, 0});
  CHECK(gradient(f) == Floats{0, 0});
  CHECK(gradient(y) == Floats{1, 1});
  g.backward(loss, true);
  CHECK(gradient(c) == Floats{6, 6});
  CHECK(gradient(f) == Floats{5, 7});
  CHECK(gradient(r) == Floats{1, 1});
  CHECK(gradient(rows) == Floats{2, 2, 2, 2});
  // Constants add nothing to the gradients of parameters.
  CHECK(as_vector(p.gradients()) == Floats{10, 14});
  for (unsigned i = 0; i < 3; ++i) CHECK(e.row_gradient(i) == Floats{0, 0});
}

TEST_CASE("gradient throws before backward and for nodes newer than the loss") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p), unused = tanh(x), loss = sum_elems(square(x));
  CHECK_THROWS_AS(x.gradient(), GradientError);
  loss.value();
  CHECK_THROWS_AS(x.gradient(), GradientError);
  const Expression later = loss * 2.0f;
  g.backward(loss);
  CHECK(gradient(x) == Floats{6, 6});
  CHECK(gradient(unused) == Floats{0, 0});
  CHECK(as_scalar(loss.gradient()) == 1);
  const auto error = thrown<GradientError>([&] { later.gradient(); });
  CHECK(error.where().line == __LINE__ - 1);
  CHECK_THAT(error.what(), Catch::Contains("no backward pass has covered"));
  g.backward(later);
  CHECK(as_scalar(later.gradient()) == 1);
  CHECK(as_scalar(loss.gradient()) == 2);
  g.forward(loss);
  CHECK_THROWS_AS(x.gradient(), GradientError);
  CHECK(as_scalar(loss.value()) == 18);
}

TEST_CASE("the first write of a gradient stores, whatever the memory held") {
  ParameterCollection pc;
  auto w = pc.add_parameters({20, 20}), b = pc.add_parameters({20});
  auto e = pc.add_lookup_parameters(100, {20});
  const std::vector<unsigned> rows{3, 70, 3};
  const auto run = [&](ComputationGraph& g) {
    const Expression x = lookup(g, e, 3), xs = lookup(g, e, rows);
    const Expression h =
        tanh(affine_transform({parameter(g, b), parameter(g, w), x, parameter(g, w), xs}));
    const Expression table = parameter(g, e);
    g.backward(sum_batches(sum_elems(h)) + sum_elems(pick(table, 5, 1)), true);
    std::vector<Floats> all{as_vector(w.gradients()), as_vector(b.gradients()), gradient(h)};
    for (unsigned i = 0; i < 100; ++i) all.push_back(e.row_gradient(i));
    return all;
  };
  ComputationGraph g;
  const auto clean = run(g);
  pc.reset_gradient();
  g.clear();
  // The memory of the graph holds NaN as well.
  const Expression bad =
      input(g, {100'000}, Floats(100'000, std::numeric_limits<float>::quiet_NaN()));
  g.backward(sum_elems(cmult(bad, bad)), true);
  spoil_gradients(g, pc);
  g.clear();
  CHECK(run(g) == clean);
}

TEST_CASE("frozen and const parameters and operands of nobackprop get no gradient") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  auto frozen = pc.add_parameters({2}, ParameterInitConst(2.0f));
  auto table = pc.add_lookup_parameters(3, {2}, ParameterInitConst(1.0f));
  frozen.set_updated(false);
  table.set_updated(false);
  ComputationGraph g;
  const Expression x = parameter(g, p), f = parameter(g, frozen), c = const_parameter(g, p);
  const Expression r = lookup(g, table, 1), rs = lookup(g, table, std::vector<unsigned>{0, 1});
  const Expression stopped = nobackprop(square(x));
  const Expression loss =
      sum({dot_product(x, f), sum_elems(c), sum_elems(r), sum_batches(sum_elems(rs)),
           sum_elems(parameter(g, table)), sum_elems(stopped)});
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == Floats{2, 2});
  CHECK(as_vector(frozen.gradients()) == Floats{0, 0});
  for (unsigned i = 0; i < 3; ++i) CHECK(table.row_gradient(i) == Floats{0, 0});
  CHECK(gradient(f) == Floats{0, 0});
  // An unfrozen parameter gets a gradient in the next graph.
  frozen.set_updated(true);
  ComputationGraph h;
  h.backward(dot_product(parameter(h, p), parameter(h, frozen)));
  CHECK(as_vector(frozen.gradients()) == Floats{3, 3});
}

TEST_CASE("backward runs in a graph without parameters") {
  ComputationGraph g;
  const Expression x = input(g, {2}, {1, 2}), loss = sum_elems(square(x));
  g.backward(loss);
  CHECK(gradient(x) == Floats{0, 0});
  g.backward(loss, true);
  CHECK(gradient(x) == Floats{2, 4});
}

TEST_CASE("gradients of a table and of its rows add up in one graph") {
  ParameterCollection pc;
  auto table = pc.add_lookup_parameters(4, {2}, ParameterInitConst(1.0f));
  for (const bool whole_first : {false, true}) {
    pc.reset_gradient();
    ComputationGraph g;
    std::vector<Expression> parts;
    if (whole_first) parts.push_back(sum_elems(parameter(g, table) * 10.0f));
    parts.push_back(sum_elems(lookup(g, table, 1)));
    parts.push_back(sum_elems(lookup(g, table, 1) * 2.0f));
    parts.push_back(sum_batches(sum_elems(lookup(g, table, std::vector<unsigned>{1, 2, 2}))));
    if (!whole_first) parts.push_back(sum_elems(parameter(g, table) * 10.0f));
    g.backward(sum(parts));
    CHECK(table.row_gradient(0) == Floats{10, 10});
    CHECK(table.row_gradient(1) == Floats{14, 14});
    CHECK(table.row_gradient(2) == Floats{12, 12});
    CHECK(table.row_gradient(3) == Floats{10, 10});
  }
}

TEST_CASE("gradients of several nodes of one parameter add up") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
  ComputationGraph g;
  const Expression a = parameter(g, p), b = parameter(g, p);
  g.backward(sum_elems(cmult(a, b) + a + b));
  CHECK(as_vector(p.gradients()) == Floats{8, 8});
  pc.reset_gradient();
  g.backward(sum_elems(cmult(a, a) + a));
  CHECK(as_vector(p.gradients()) == Floats{7, 7});
}

TEST_CASE("a parameter can be the loss itself") {
  ParameterCollection pc;
  auto p = pc.add_parameters({1}, ParameterInitConst(3.0f));
  auto e = pc.add_lookup_parameters(2, {1}, ParameterInitConst(3.0f));
  ComputationGraph g;
  const Expression x = parameter(g, p), row = lookup(g, e, 1);
  g.backward(x);
  g.backward(x);
  g.backward(row);
  CHECK(as_vector(p.gradients()) == Floats{2});
  CHECK(e.row_gradient(1) == Floats{1});
  CHECK(e.row_gradient(0) == Floats{0});
}

TEST_CASE("a lookup by pointer adds to the row that forward read") {
  ParameterCollection pc;
  auto e = pc.add_lookup_parameters(3, {1}, ParameterInitConst(3.0f));
  unsigned row = 0;
  std::vector<unsigned> rows{0, 1};
  ComputationGraph g;
  const Expression x = lookup(g, e, &row), xs = lookup(g, e, &rows);
  const Expression loss = x + sum_batches(xs) * 10.0f;
  loss.value();
  row = 2;
  rows = {2};
  g.backward(loss);
  CHECK(e.row_gradient(0) == Floats{11});
  CHECK(e.row_gradient(1) == Floats{10});
  CHECK(e.row_gradient(2) == Floats{0});
}

namespace {

/// Expressions of a chain h = tanh(W h + x).
std::vector<Expression> chain(ComputationGraph& g, Parameter W, unsigned steps) {
  const Expression w = parameter(g, W);
  std::vector<Expression> all{input(g, {64}, Floats(64, 0.1f))};
  for (unsigned t = 0; t < steps; ++t)
    all.push_back(tanh(w * all.back() + input(g, {64}, Floats(64, 0.01f * t))));
  all.push_back(sum_elems(all.back()));
  return all;
}

}  // namespace

TEST_CASE("backward recomputes a gradient that was not stored when it is requested") {
  ParameterCollection pc;
  auto W = pc.add_parameters({64, 64});
  ComputationGraph g, kept;
  const auto xs = chain(g, W, 100), ys = chain(kept, W, 100);
  g.backward(xs.back());
  const Floats of_W = as_vector(W.gradients());
  pc.reset_gradient();
  kept.backward(ys.back(), true);
  CHECK(of_W == as_vector(W.gradients()));
  CHECK(kept.statistics().gradient_bytes > 2 * g.statistics().gradient_bytes);
  for (std::size_t k = 1; k < xs.size(); ++k) {
    INFO(k);
    REQUIRE(gradient(xs[k]) == gradient(ys[k]));
  }
  CHECK(of_W == as_vector(W.gradients()));  // a request adds nothing
}

TEST_CASE("gradients are not recomputed after a change of parameters") {
  ParameterCollection pc;
  auto W = pc.add_parameters({64, 64});
  SimpleSGDTrainer trainer(pc);
  ComputationGraph g, kept;
  const auto xs = chain(g, W, 5), ys = chain(kept, W, 5);
  g.backward(xs.back());
  kept.backward(ys.back(), true);
  const Floats before = gradient(ys[3]);
  trainer.update();
  CHECK_THROWS_AS(xs[3].gradient(), GradientError);
  CHECK(gradient(ys[3]) == before);
  g.backward(xs.back());
  CHECK(gradient(xs[3]) != before);
  W.scale(2.0f);
  g.backward(xs.back());
  CHECK(gradient(xs[3]).size() == 64);
}

TEST_CASE("gradients are recomputed neither after a revert of their loss nor for another loss") {
  ParameterCollection pc, other;
  auto W = pc.add_parameters({64, 64});
  auto late = other.add_parameters({1});
  late.scale(2.0f);
  ComputationGraph g, kept;
  const auto xs = chain(g, W, 5), ys = chain(kept, W, 5);
  Floats of_x[2];
  for (ComputationGraph* graph : {&g, &kept}) {
    graph->checkpoint();
    const Expression loss = square((graph == &g ? xs : ys).back());
    graph->backward(loss, graph == &kept);
    if (graph == &g) {  // adds parameters that are not in the pass
      parameter(g, late);
      of_x[0] = gradient(xs[3]);
      g.backward(loss);
    }
    graph->revert();
  }
  of_x[1] = gradient(ys[3]);
  CHECK(of_x[0] == of_x[1]);
  CHECK_THROWS_AS(xs[3].gradient(), GradientError);
  CHECK_THROWS_WITH(xs[3].gradient(), Catch::Contains("the loss was reverted"));
  g.backward(xs.back());
  CHECK(gradient(xs[3]) != of_x[0]);
  // A new graph knows nothing of it.
  g.checkpoint();
  g.backward(square(xs.back()));
  g.revert();
  g.clear();
  const Expression x = input(g, 1.0f);
  CHECK_THROWS_WITH(x.gradient(), Catch::Contains("no backward pass has covered"));
}

TEST_CASE("a failed backward pass leaves gradients of parameters at zero where they were zero") {
  static const auto fails = [](const auto&) { throw DeviceError("as a kernel might"); };
  static const OpForm kFails{.name = "fails",
                             .shape = [](const Operands& x) { return x[0]; },
                             .batch = BatchRule::each(),
                             .reads = Reads::nothing,
                             .aux = no_aux,
                             .forward = Forward{[](const Batch<float>& b) {
                                                  for (std::size_t i = 0; i < b.count; ++i)
                                                    *b.out(i) = *b.in(0, i);
                                                },
                                                nullptr},
                             .backward = Backward{fails, nullptr},
                             .cuda = CudaRule::never("it fails")};
  ParameterCollection pc, other;
  const Parameter p = pc.add_parameters({1}), q = other.add_parameters({2});
  const LookupParameter t = pc.add_lookup_parameters(5, {2}), u = pc.add_lookup_parameters(3, {2});
  ComputationGraph g;
  spoil_gradients(g, pc);
  g.clear();
  g.backward(sum_elems(lookup(g, t, 4u)));  // must remain
  g.clear();
  const Expression failing = add_node(kFails, parameter(g, p), {}, SourceLocation::current());
  failing.value();  // a plan of its own, which runs backward last
  const Expression of_rows = sum_elems(lookup(g, t, 1u)) + sum_elems(lookup(g, u, 2u)) +
                             sum_elems(lookup(g, t, 3u)),
                   of_tables = sum_elems(parameter(g, t)) + sum_elems(parameter(g, u));
  const Expression ends = of_rows + of_tables + sum_elems(parameter(g, q)) + parameter(g, p);
  CHECK_THROWS_AS(g.backward(ends + failing), DeviceError);
  CHECK_THROWS_AS(of_rows.gradient(), GradientError);
  CHECK(as_vector(p.gradients()) == Floats{0});
  CHECK(as_vector(q.gradients()) == Floats{0, 0});
  CHECK(pc.gradient_l2_norm() == Approx(std::sqrt(2.0f)));
  for (unsigned row = 0; row < t.size(); ++row)
    CHECK(t.row_gradient(row) == (row == 4 ? Floats{1, 1} : Floats{0, 0}));
  for (unsigned row = 0; row < u.size(); ++row) CHECK(u.row_gradient(row) == Floats{0, 0});
  g.backward(ends);
  CHECK(as_vector(p.gradients()) == Floats{1});
  CHECK(as_vector(q.gradients()) == Floats{1, 1});
  for (unsigned row = 0; row < t.size(); ++row) {
    const float times = row % 2 || row == 4 ? 2 : 1;
    CHECK(t.row_gradient(row) == Floats{times, times});
  }
}

TEST_CASE("gradients of products and cells are not subnormal; other arithmetic is as before") {
  if (!FlushSubnormals::kSupported) return skip("this CPU does not flush subnormal numbers");
  const auto keeps_subnormals = [] {
    const volatile float small = 1e-30f;
    const volatile float product = small * 1e-12f;
    return product > 0;
  };
  ParameterCollection pc;
  const Parameter x = pc.add_parameters({3}, ParameterInitConst(1.0f)),
                  w = pc.add_parameters({3, 3}, ParameterInitConst(1e-30f)),
                  u = pc.add_parameters({12, 3}, ParameterInitConst(1e-30f));
  SimpleSGDTrainer trainer(pc);
  const auto gradient_of_x = [&](auto build) {
    pc.reset_gradient();
    ComputationGraph g;
    const Expression loss = sum_elems(build(g, parameter(g, x))) * 1e-12f;
    g.forward(loss);
    g.backward(loss);
    CHECK(keeps_subnormals());
    const Floats d = as_vector(*x.gradients());
    trainer.update();
    CHECK(keeps_subnormals());
    return d;
  };
  CHECK(gradient_of_x([&](auto& g, auto e) { return parameter(g, w) * e; }) == Floats(3, 0));
  CHECK(gradient_of_x([&](auto& g, auto e) {
          return lstm_sequence(parameter(g, u) * concatenate_cols({e, e}), parameter(g, u)).h;
        }) == Floats(3, 0));
  CHECK(gradient_of_x([&](auto&, auto e) { return e * 1e-28f; }) == Floats(3, 1e-28f * 1e-12f));
}

TEST_CASE("gradients of expressions are unavailable after a failed backward pass") {
  ParameterCollection pc;
  const Parameter p = pc.add_parameters({2}, ParameterInitConst(3.0f)),
                  q = pc.add_parameters({2}, ParameterInitConst(0.0f));
  for (const bool full : {false, true}) {
    CAPTURE(full);
    ComputationGraph g;
    g.set_check_validity(true);
    const Expression x = parameter(g, p), y = square(x), good = sum_elems(y);
    const Expression bad = good + sum_elems(sqrt(parameter(g, q)));
    g.backward(good, full);
    CHECK(gradient(y) == Floats{1, 1});
    CHECK_THROWS_AS(g.backward(bad, full), NumericError);
    for (const Expression& e : {x, y, good, bad}) CHECK_THROWS_AS(e.gradient(), GradientError);
    g.backward(good, full);
    CHECK(gradient(y) == Floats{1, 1});
    CHECK_THROWS_AS(bad.gradient(), GradientError);
  }
}

}  // namespace backward_test
