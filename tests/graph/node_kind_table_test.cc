// Node kinds: nodes of one kind agree in everything that planning reads, except the identity of
// their operands. Equal graphs have equal kinds.

#include "dynet-like/graph/node_kind_table.h"

#include "dynet-like/graph/graph_state.h"
#include "tests/support/prelude.h"

namespace node_kind_table_test {

using namespace dynet;

namespace {

std::uint32_t number(const Expression& e) { return e.state->store.kinds[e.i]; }

Dim shape_of_first(const Operands& x) { return x[0]; }
Dim one(const Operands&) { return {1}; }

OpForm form(Dim (*shape)(const Operands&), BatchRule batch) {
  return {.name = "a form",
          .shape = shape,
          .batch = batch,
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = Forward{nullptr, nullptr},
          .backward = Backward{nullptr, nullptr},
          .cuda = CudaRule::never("a test")};
}

}  // namespace

TEST_CASE("node kinds differ by form, shapes, batch attributes and device") {
  ComputationGraph g;
  const Expression x = zeros(g, {3, 4}), y = zeros(g, {3, 4}), b = zeros(g, Dim({3, 4}, 2)),
                   v = zeros(g, {3}), column = reshape(zeros(g, {3}), {3, 1});
  for (int time = 0; time < 2; ++time) {
    CHECK(number(tanh(x)) == number(tanh(y)));
    CHECK(number(tanh(v)) == number(tanh(column)));  // equal shapes
    CHECK(number(x + y) == number(y + x));
    CHECK(number(x + 1) == number(y + 2));  // the constant is no batch attribute
    CHECK(number(elu(x, 1)) == number(elu(y, 1)));
    CHECK(number(pick(x, 1, 0)) == number(pick(x, 2, 0)));
    CHECK(number(concatenate({v, v})) == number(concatenate({v, column})));

    CHECK(number(tanh(x)) != number(tanh(b)));
    CHECK(number(tanh(x)) != number(tanh(v)));
    CHECK(number(tanh(x)) != number(logistic(x)));
    CHECK(number(elu(x, 1)) != number(elu(x, 0.5)));
    CHECK(number(pick(x, 1, 0)) != number(pick(x, 1, 1)));
    CHECK(number(x + y) != number(x + b));
    CHECK(number(concatenate({v, v})) != number(concatenate({v, v, v})));
    CHECK(number(sum_elems(x)) != number(sum_elems(v)));
    std::vector<float> given(3);
    CHECK(number(input(g, {3}, &given)) != number(input(g, {3}, given)));  // kReadsPointer
  }
}

TEST_CASE("node kinds are stable from graph to graph until the table is cleared") {
  std::vector<std::uint32_t> before;
  ComputationGraph g;
  const auto numbers = [&] {
    g.clear();
    tanh(zeros(g, {3}) + zeros(g, {3}));
    return std::vector<std::uint32_t>(g.store().kinds.begin(), g.store().kinds.end());
  };
  const auto first = numbers();
  CHECK(numbers() == first);
  const std::uint64_t generation = g.store().kind_table->generation();
  Expression sum = zeros(g, {1});
  for (unsigned i = 0; i < NodeKindTable::kMost; ++i) sum = sum + sum_elems(zeros(g, {i + 2}));
  CHECK(g.store().kind_table->generation() == generation);
  CHECK(number(sum_elems(zeros(g, {2}))) == number(sum_elems(zeros(g, {2}))));
  CHECK(g.store().kind_table->size() > NodeKindTable::kMost);
  const auto again = numbers();
  CHECK(g.store().kind_table->generation() == generation + 1);
  CHECK(g.store().kind_table->size() == *std::max_element(again.begin(), again.end()) + 1);
  CHECK(numbers() == again);
}

TEST_CASE("node kinds depend on the shapes of the first kMostOperands operands only") {
  ComputationGraph g;
  const Expression v = zeros(g, {3}), one = zeros(g, {1});
  for (const std::size_t size : {NodeKindTable::kMostOperands, NodeKindTable::kMostOperands + 2})
    for (std::size_t k = 0; k < size; ++k) {
      std::vector<Expression> all(size, v), other(size, v);
      other[k] = one;
      all[(k + 1) % size] = one;  // so that the values have one shape
      const bool same = std::min(k, (k + 1) % size) >= NodeKindTable::kMostOperands;
      CHECK((number(concatenate(all)) == number(concatenate(other))) == same);
    }
}

TEST_CASE("node kinds do not depend on ragged sizes") {
  for (const std::uint64_t mask : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    NodeKindTable table(mask);
    const OpForm f = form(
        shape_of_first, BatchRule::sequences({.rows = Ragged::kValue, .cols = Ragged::operand(0)}));
    const Dim a = {3, 4}, b = {3, 5}, c = {2, 4}, batch = Dim({3, 4}, 2);
    const auto find = [&](const Dim& value, const Dim& operand) {
      const Dim* dims[] = {&operand};
      return table.find({f, value, dims, nullptr, 0});
    };
    const std::uint32_t number = find(a, a);
    CHECK(find(a, b) == number);
    CHECK(find(c, b) == number);
    CHECK(find(a, c) != number);
    CHECK(find(b, a) != number);
    CHECK(find(batch, a) != number);
    CHECK(find(a, batch) != number);
  }
}

TEST_CASE("another form at one address has kinds of its own") {
  NodeKindTable table(0);  // one hash for all nodes
  OpForm f = form(one, BatchRule::each());
  const Dim v = {3};
  const Dim* dims[] = {&v};
  const std::uint64_t words[] = {1, 2};
  std::set<std::uint32_t> numbers;
  const auto find = [&](std::uint32_t flags = 0) {
    numbers.insert(table.find({f, v, dims, words, flags}));
    return numbers.size();
  };
  CHECK(find() == 1);
  CHECK(find(Node::kNeedsGradient) == 1);
  f.name = "another name";
  CHECK(find() == 1);
  f.shape = shape_of_first;
  CHECK(find() == 2);
  f.batch = BatchRule::each(8);
  CHECK(find() == 3);
  f.batch = BatchRule::products(0);
  CHECK(find() == 4);
  f.batch = BatchRule::never("a test");
  CHECK(find() == 5);
  f.batch = BatchRule::sequences({.rows = 1, .cols = 0});
  CHECK(find() == 6);
  CHECK(find(Node::kReadsPointer) == 7);
  CHECK(find(Node::kOwnMatrix) == 8);
  CHECK(find(1u << Node::kFirstDeviceBit) == 9);
}

TEST_CASE("nodes with equal hashes are compared in full") {
  NodeKindTable table(0);
  const OpForm f = form(one, BatchRule::each(8)), other = form(one, BatchRule::each(8));
  const Dim v = {3}, column = {3, 1}, m = {3, 4};
  const std::uint64_t words[] = {1, 2}, same[] = {1, 3}, others[] = {2, 2};
  const auto find = [&](const OpForm& of, const Dim& value, std::vector<const Dim*> dims,
                        const std::uint64_t* attributes = nullptr) {
    return table.find({of, value, dims, attributes ? attributes : words, 0});
  };
  const std::uint32_t number = find(f, v, {&v, &m});
  CHECK(find(f, v, {&v, &m}) == number);
  CHECK(find(f, column, {&column, &m}) == number);
  CHECK(find(f, v, {&v, &m}, same) == number);
  CHECK(find(f, v, {&v, &m}, others) != number);
  CHECK(find(other, v, {&v, &m}) != number);
  CHECK(find(f, m, {&v, &m}) != number);
  CHECK(find(f, v, {&v, &v}) != number);
  CHECK(find(f, v, {&v}) != number);
  CHECK(find(f, v, {&v, &m, &m}) != number);
}

TEST_CASE("a cache entry is not used for another node kind") {
  // More kinds than cache entries.
  ComputationGraph g;
  std::set<std::uint32_t> numbers;
  const auto add = [&](const Expression& e, const Dim& d) {
    REQUIRE(e.dim() == d);
    numbers.insert(number(e));
  };
  constexpr unsigned kSizes = 300;
  for (int time = 0; time < 2; ++time)
    for (unsigned n = 1; n <= kSizes; ++n) {
      const Expression x = zeros(g, {n}), m = zeros(g, {n, 4});
      for (const auto& unary : {tanh, logistic, rectify, softsign, sqrt, exp, cube, sinh, square})
        add(unary(x, SourceLocation::current()), {n});
      for (unsigned k = 1; k < 5; ++k) {
        add(sum(std::vector<Expression>(k, x)), {n});
        add(elu(x, static_cast<float>(n * 5 + k)), {n});
        add(strided_select(m, {1, static_cast<int>(k)}), {n, (3 + k) / k});
      }
    }
  CHECK(numbers.size() == kSizes * (9 + 4 + 4 + 4));
}

TEST_CASE("a cache entry is of one form, its shapes and flags, and dropped by forget") {
  NodeKindTable table;
  const OpForm f = form(one, BatchRule::each()), other = form(one, BatchRule::each());
  const Dim v = {3}, m = {3, 4};
  const Dim* const dims[] = {&v, &m};
  const Dim* const others[] = {&m};
  NodeKindTable::Recent& recent = table.recent(f, dims, 1, 0);
  table.note(recent, {f, v, {dims, 1}, nullptr, 0}, 0);
  CHECK(recent.is_of(f, dims, 1, 0));
  CHECK_FALSE(recent.is_of(other, dims, 1, 0));
  CHECK_FALSE(recent.is_of(f, dims, 2, 0));
  CHECK_FALSE(recent.is_of(f, others, 1, 0));
  CHECK_FALSE(recent.is_of(f, dims, 1, Node::kReadsPointer));
  table.note(recent, {f, v, dims, nullptr, 0}, 0);
  CHECK(recent.is_of(f, dims, 2, 0));
  CHECK_FALSE(recent.is_of(f, dims, 1, 0));
  table.forget();
  CHECK_FALSE(recent.is_of(f, dims, 1, 0));
  CHECK(recent.shape == nullptr);
  CHECK(table.size() == 0);
}

namespace {

struct WordAttr {
  std::uint64_t word;
};
int rules = 0;
Dim counted(const Operands& x) {
  ++rules;
  return x[0];
}

}  // namespace

TEST_CASE("two kinds with the same cache entry both skip the shape rule") {
  const OpForm f = form(counted, BatchRule::each(sizeof(WordAttr)));
  ComputationGraph g;
  const Expression x = zeros(g, {3});
  NodeKindTable& kinds = x.state->kinds;
  const Dim* const dims[] = {&x.state->store.nodes[x.i].dim};
  const auto entry = [&](std::uint64_t word) { return &kinds.recent(f, dims, 1, word); };
  std::uint64_t first = 0, second = 0;
  while (entry(first)->form || kinds.second(*entry(first)).form) ++first;
  for (second = first + 1; entry(second) != entry(first);) ++second;
  rules = 0;
  for (int time = 0; time < 3; ++time)
    CHECK(number(add_node(f, x, WordAttr{first}, {})) !=
          number(add_node(f, x, WordAttr{second}, {})));
  CHECK(rules == 2);
}

TEST_CASE("node kinds are found among many, by distributed hashes") {
  NodeKindTable table;
  const OpForm f = form(one, BatchRule::each(8));
  std::vector<Dim> shapes;
  for (unsigned i = 0; i < 500; ++i) shapes.push_back({1 + i % 5, 1 + i / 5 % 10, 1 + i / 50});
  const Dim value = {1};
  std::set<std::uint32_t> numbers;
  std::vector<std::uint64_t> hashes;
  for (int time = 0; time < 2; ++time)
    for (unsigned i = 0; i < 1000; ++i) {
      const double attribute = i < 500 ? 0 : i;
      std::uint64_t word;
      std::memcpy(&word, &attribute, sizeof word);
      const Dim* dims[] = {&shapes[i < 500 ? i : 0]};
      const NodeKindTable::Asked node{f, value, dims, &word, 0};
      numbers.insert(table.find(node));
      if (time == 0) hashes.push_back(NodeKindTable::hash(node) & 0xffff);
    }
  CHECK(numbers.size() == 1000);
  CHECK(table.size() == 1000);
  std::sort(hashes.begin(), hashes.end());
  const auto different = std::unique(hashes.begin(), hashes.end()) - hashes.begin();
  CHECK(different > 950);  // of 1,000 in 65,536 slots, so that probe sequences are short
}

}  // namespace node_kind_table_test
