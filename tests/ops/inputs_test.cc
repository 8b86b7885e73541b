#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

using List = std::vector<unsigned>;

std::vector<float> counting(std::size_t n) {
  std::vector<float> v;
  for (std::size_t k = 0; k < n; ++k) v.push_back(0.25f * static_cast<float>(k) - 1);
  return v;
}

Array array_of(const Tensor& t) { return {t.d, std::vector<double>(t.v, t.v + t.d.size())}; }

Array rows_of(const LookupParameter& table, const std::vector<unsigned>& rows) {
  Array y{table.dim(), {}};
  y.dim.bd = static_cast<unsigned>(rows.size());
  for (unsigned r : rows) {
    const std::vector<float> row = as_vector(table.row(r));
    y.v.insert(y.v.end(), row.begin(), row.end());
  }
  return y;
}

struct Model {
  ParameterCollection all;
  Parameter p = all.add_parameters({3, 2});
  LookupParameter table = all.add_lookup_parameters(5, {2, 2});
};

}  // namespace

#define BUILT(...) [=]([[maybe_unused]] const Operand& x) { return __VA_ARGS__; }
#define ARRAY(...) [=]([[maybe_unused]] const Arrays& x) { return __VA_ARGS__; }
#define FILLED(DIM, ...)                                                                          \
  [=](const Arrays& x) {                                                                          \
    return fill(DIM,                                                                              \
                [&]([[maybe_unused]] const Place& p) -> double { return (void)x, __VA_ARGS__; }); \
  }

std::vector<OpCase> input_cases() {
  const auto model = std::make_shared<Model>();
  const Dim d({2, 3}, 2);
  std::vector<OpCase> all;
  const auto add = [&](const std::string& name, std::function<Expression(const Operand&)> build,
                       std::function<Array(const Arrays&)> reference) {
    OpCase c;
    c.name = name;
    c.shapes = [](Shapes&) { return std::vector<Dim>{}; };
    c.build = std::move(build);
    c.reference = std::move(reference);
    all.push_back(c);
  };
  add("input of a number", BUILT(input(*x.graph, 2.5f)), ARRAY(Array{Dim({1}), {2.5}}));
  add("input of an integer", BUILT(input(*x.graph, 0)), ARRAY(Array{Dim({1}), {0}}));
  const std::vector<float> count = counting(d.size());
  const auto counted = ARRAY(Array{d, std::vector<double>(count.begin(), count.end())});
  add("input of a tensor", BUILT(input(*x.graph, d, count)), counted);
  add("input of nothing", BUILT(input(*x.graph, {0, 2}, std::vector<float>{})),
      ARRAY(Array{Dim({0, 2}), {}}));
  const auto number = std::make_shared<float>(1.5f);
  add("input behind a pointer", BUILT(input(*x.graph, number.get())),
      ARRAY(Array{Dim({1}), {1.5}}));
  const auto numbers = std::make_shared<std::vector<float>>(count);
  add("input behind a vector pointer", BUILT(input(*x.graph, d, numbers.get())), counted);
  add("input, sparse", BUILT(input(*x.graph, d, {7, x.variant % 5, 7}, {3, 1.5f, 2}, 0.5f)),
      [d](const Arrays& x) {
        Array y = fill(d, [](const Place&) { return 0.5; });
        y.v[x.variant % 5] = 1.5;
        y.v[7] = 2;
        return y;
      });
  add("input, sparse, of zeros", BUILT(input(*x.graph, d, List{}, {})), FILLED(d, 0.0));
  add("zeroes", BUILT(zeroes(*x.graph, d)), FILLED(d, 0.0));
  add("one_hot", BUILT(one_hot(*x.graph, 4, x.variant % 4)),
      FILLED(Dim({4}), p[0] == x.variant % 4));
  add("one_hot batch", BUILT(one_hot(*x.graph, 4, {3, x.variant % 4, 0})),
      FILLED(Dim({4}, 3), p[0] == List{3, x.variant % 4, 0}[p[kBatch]]));
  add("zeros", BUILT(zeros(*x.graph, d)), FILLED(d, 0.0));
  add("ones", BUILT(ones(*x.graph, d)), FILLED(d, 1.0));
  add("constant", BUILT(constant(*x.graph, d, 0.5f + x.variant % 3)),
      FILLED(d, 0.5 + x.variant % 3));
  add("parameter", BUILT(parameter(*x.graph, model->p)), ARRAY(array_of(model->p.values())));
  add("const_parameter", BUILT(const_parameter(*x.graph, model->p)),
      ARRAY(array_of(model->p.values())));
  const auto whole = ARRAY(Array{Dim({2, 2, 5}), rows_of(model->table, {0, 1, 2, 3, 4}).v});
  add("parameter of a table", BUILT(parameter(*x.graph, model->table)), whole);
  add("const_parameter of a table", BUILT(const_parameter(*x.graph, model->table)), whole);
  const auto one = ARRAY(rows_of(model->table, {x.variant % 5}));
  const auto rows = ARRAY(rows_of(model->table, {x.variant % 5, 4, 0, 4}));
  add("lookup", BUILT(lookup(*x.graph, model->table, x.variant % 5)), one);
  add("lookup batch", BUILT(lookup(*x.graph, model->table, {x.variant % 5, 4, 0, 4})), rows);
  add("const_lookup", BUILT(const_lookup(*x.graph, model->table, x.variant % 5)), one);
  add("const_lookup batch", BUILT(const_lookup(*x.graph, model->table, {x.variant % 5, 4, 0, 4})),
      rows);
  return all;
}

DYNET_OP_TESTS("inputs", input_cases())

TEST_CASE("inputs: frozen parameters and constants get no gradient") {
  Model m;
  m.p.set_updated(false);
  ComputationGraph g;
  const Expression loss = sum_elems(parameter(g, m.p)) + sum_elems(const_lookup(g, m.table, 1)) +
                          sum_elems(lookup(g, m.table, 2));
  g.backward(loss);
  CHECK(as_vector(m.p.gradients()) == std::vector<float>(6, 0));
  CHECK(m.table.row_gradient(1) == std::vector<float>(4, 0));
  CHECK(m.table.row_gradient(2) == std::vector<float>(4, 1));
}

}  // namespace dynet::test
