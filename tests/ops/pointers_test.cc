// Numbers and indices behind pointers: a forward pass reads them once, as if they had been given.
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace pointers_test {

using namespace dynet;

namespace {

struct Model {
  ParameterCollection pc;
  Parameter x = pc.add_parameters({3}, ParameterInitFromVector({0.5f, 1, 2}));
  LookupParameter table = pc.add_lookup_parameters(7, {3});
};

/// Targets of pointers, of all types.
struct Targets {
  float number = 0.25f;
  unsigned index = 1;
  std::vector<float> numbers{0.1f, 0.2f, 0.3f};
  std::vector<unsigned> indices{0, 2}, list{0, 1};
  std::vector<std::vector<unsigned>> lists{{0, 1}, {2, 0}};
};
const Targets kChanged = {0.75f, 2, {3, 2, 1}, {1, 1}, {1, 2}, {{2, 1}, {0, 1}}};
const Targets kOutside = {0, 100, {1, 2}, {1, 100}, {1, 100}, {{0, 1}, {0, 100}}};
const Targets kFewer = {0, 100, {1, 2}, {1}, {}, {{0, 1}}};

using Make = std::function<Expression(ComputationGraph&, Model&, Targets&)>;
enum class Bad { index, argument, nothing };

struct Reader {
  const char* name;
  Make at_pointers, given;
  Bad bad;  ///< the error for what is outside; numbers may be anything
};

struct Address {
  template <class T>
  const T* operator()(const T& target) const {
    return &target;
  }
};

/// make(graph, table, x, targets, of) reads of(target).
template <class F>
Reader reader(const char* name, F make, Bad bad = Bad::index) {
  const auto with = [make](auto of) -> Make {
    return [=](ComputationGraph& g, Model& m, Targets& t) {
      return make(g, m.table, parameter(g, m.x), t, of);
    };
  };
  return {name, with(Address()), with(std::identity()), bad};
}

#define READS(...)                                                                                 \
  []([[maybe_unused]] auto& g, [[maybe_unused]] auto& table, [[maybe_unused]] const Expression& x, \
     const Targets& t, const auto& of) { return __VA_ARGS__; }

Expression two(const Expression& x) { return concatenate_to_batch({x, x * 2.0f}); }
Expression columns(const Expression& x) { return concatenate_cols({x, x * 0.5f}); }

const std::vector<Reader> kReaders = {
    reader("input", READS(input(g, of(t.number))), Bad::nothing),
    reader("input of a vector", READS(input(g, {3}, of(t.numbers))), Bad::argument),
    reader("one_hot", READS(one_hot(g, 3, of(t.index)))),
    reader("one_hot of a batch", READS(one_hot(g, 3, of(t.indices)))),
    reader("lookup", READS(lookup(g, table, of(t.index)))),
    reader("lookup of a batch", READS(lookup(g, table, of(t.indices)))),
    reader("const_lookup", READS(const_lookup(g, table, of(t.index)))),
    reader("const_lookup of a batch", READS(const_lookup(g, table, of(t.indices)))),
    reader("pick", READS(pick(x, of(t.index)))),
    reader("pick of a batch", READS(pick(x, of(t.indices)))),
    reader("pick_batch_elem",
           READS(pick_batch_elem(concatenate_to_batch({x, two(x)}), of(t.index)))),
    reader("pick_batch_elems",
           READS(pick_batch_elems(concatenate_to_batch({x, two(x)}), of(t.indices)))),
    reader("select_rows", READS(select_rows(x, of(t.list)))),
    reader("select_cols", READS(select_cols(transpose(x), of(t.list)))),
    reader("pickneglogsoftmax", READS(pickneglogsoftmax(x, of(t.index)))),
    reader("pickneglogsoftmax of a batch", READS(pickneglogsoftmax(two(x), of(t.indices)))),
    reader("hinge", READS(hinge(x, of(t.index)))),
    reader("hinge of a batch", READS(hinge(two(x), of(t.indices)))),
    reader("hinge_dim", READS(hinge_dim(columns(x), of(t.list)))),
    reader("hinge_dim of a batch", READS(hinge_dim(two(columns(x)), of(t.lists)))),
    reader("sparsemax_loss", READS(sparsemax_loss(x, of(t.list)))),
    reader("sparsemax_loss of a batch", READS(sparsemax_loss(two(x), of(t.lists)))),
    reader("poisson_loss", READS(poisson_loss(sum_elems(x) * -0.1f, of(t.index)) * 0.1f),
           Bad::nothing),
    reader("poisson_loss of a batch",
           READS(poisson_loss(two(sum_elems(x) * -0.1f), of(t.indices)) * 0.1f), Bad::nothing),
};

/// A value and all gradients of the same with the targets as arguments.
std::pair<Floats, Floats> expected(const Reader& r, Model& m, Targets targets) {
  ComputationGraph g;
  const Expression y = tanh(r.given(g, m, targets));
  g.backward(sum_batches(squared_norm(y)));
  const Floats gradients = test::all_gradients(m.pc);
  m.pc.reset_gradient();
  return {values(y), gradients};
}

template <class E>
void check_outside(ComputationGraph& g, const Expression& y, Targets& targets) {
  for (const Targets& bad : {kFewer, kOutside}) {
    targets = bad;
    CHECK_THROWS_AS(g.forward(y), E);
  }
}

}  // namespace

TEST_CASE("a forward pass reads the values behind pointers once") {
  for (const Reader& r : kReaders)
    for (const bool inference : {false, true}) {
      INFO(r.name << (inference ? ", inference" : ""));
      Model m;
      const auto [first, first_gradients] = expected(r, m, {});
      const auto [second, second_gradients] = expected(r, m, kChanged);
      REQUIRE(first != second);
      Targets targets, others = kChanged;
      ComputationGraph g;
      g.set_inference(inference);
      const Expression h = r.at_pointers(g, m, targets), y = tanh(h);
      const Expression beside = tanh(r.at_pointers(g, m, others));  // in a batch with h
      Expression last = y;
      if (inference) {  // enough nodes for values to be freed
        const Expression large = zeros(g, {1 << 20});
        for (int i = 0; i < 10; ++i) last = last + sum_elems(large + static_cast<float>(i));
        for (int i = 0; i < 1100; ++i) last = tanh(last);
      }
      last.value();
      CHECK(values(y) == first);
      CHECK(values(beside) == second);
      targets = kChanged;
      targets.numbers.reserve(1000);  // elsewhere in memory
      CHECK(values(y) == first);
      CHECK(values(tanh(h)) == first);
      if (!inference) {
        g.backward(sum_batches(squared_norm(y)));
        CHECK(test::all_gradients(m.pc) == first_gradients);
      }
      CHECK(as_vector(g.forward(y)) == second);
      if (r.bad == Bad::index) check_outside<IndexError>(g, y, targets);
      if (r.bad == Bad::argument) check_outside<ArgumentError>(g, y, targets);
      targets = {};
      CHECK(as_vector(g.forward(y)) == first);
    }
}

TEST_CASE("sparsemax_loss: a support behind a pointer may change its length") {
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, 2, 4});
  std::vector<unsigned> support = {2};
  const Expression loss = sparsemax_loss(x, &support);
  CHECK(as_scalar(g.forward(loss)) == Approx(0).margin(1e-6));
  support = {0, 1};
  CHECK(as_scalar(g.forward(loss)) == Approx(4 - 0.5 - 1.5 + 0.25));
  support = {};
  CHECK_THROWS_AS(g.forward(loss), IndexError);
}

}  // namespace pointers_test
