#pragma once

#include <regex>

#include "tests/support/prelude.h"

// Mistakes in building and using a graph, in tables: each throws at the line that makes it, with
// the very message of the table, and the graph goes on as if nothing had been tried. Places in the
// test are written as HERE.

namespace dynet::test {

struct Mistake {
  SourceLocation at;
  std::function<void()> make;
  /// Runs `make`; the message and place of what it throws, nothing if that is not of the right
  /// type.
  std::optional<std::string> (*run)(const std::function<void()>& make, SourceLocation& where);
  std::string message;
};

/// Ends of messages that many operations have.
inline const std::string kBroadcast =
    ": sizes must be equal or 1 in every dimension, dimension 0 has 2 and 3";
inline const std::string kSameSizes = ": both operands must have the same sizes, got {2} and {3}";
inline const std::string kBatchSizes = ": batch sizes must be equal or 1, got 3 and 2";
inline const std::string kNullIndices = ": the pointer to the indices is null";
inline const std::string kNegativeIndex = ": the index must not be negative, got ";
inline const std::string kProbability = ": the probability must be at least 0 and below 1, got ";
inline const std::string kGatesOfFour = ": the gates must be a multiple of four long, got 3";
inline const std::string kStale = " is stale: its graph was cleared, reverted or destroyed";
inline const std::string kEmpty = " is empty: it belongs to no graph";
inline const std::string kForeign = " belongs to another graph than the first operand";
inline const std::string kNoElements = " of no elements is not defined, got {0}";
inline const std::string kNoRange = " is not a range of dimension 0 of size 2";
inline const std::string kNoVector = " must be a vector, got {3,2}";
inline const std::string kNoMatrix = " must be a matrix or vector, got {2,3,2}";

/// A message: the rule that is broken, the operands by their names in a Bench, and the place.
std::string told_of(const std::string& rule, const std::string& operands);

// A statement, the type of the error, and the message: whole, or in the parts of told_of.
#define MISTAKE(TYPE, STATEMENT, MESSAGE)                                \
  Mistake {                                                              \
    SourceLocation::current(), [&] { STATEMENT; }, raises<TYPE>, MESSAGE \
  }
#define WRONG(TYPE, STATEMENT, OPERANDS, RULE) MISTAKE(TYPE, STATEMENT, told_of(RULE, OPERANDS))

template <class E>
std::optional<std::string> raises(const std::function<void()>& make, SourceLocation& where) {
  try {
    make();
  } catch (const E& e) {
    where = e.where();
    return e.what();
  }
  return {};
}

/// A graph with something of every shape.
struct Bench {
  ParameterCollection model;
  LookupParameter table = model.add_lookup_parameters(5, {2}, "words");
  Parameter weights = model.add_parameters({3, 2}, ParameterInitConst(0.5f), "weights");
  ComputationGraph g, other;
  std::vector<Expression> none;
  std::vector<float> three = {1, 2, 3};
  const unsigned* no_index = nullptr;
  using List = std::vector<unsigned>;
  using Lists = std::vector<List>;
  const List* no_indices = nullptr;
  const Lists* no_lists = nullptr;
  Device* no_device = nullptr;
  float nan = std::numeric_limits<float>::quiet_NaN();

  Expression x = input(g, {2}, {1, 2});
  Expression y = input(g, {3}, {1, 2, 3});
  Expression W = parameter(g, weights);
  Expression b = constant(g, {3}, 0.25f);
  Expression x3 = constant(g, Dim({2}, 3), 1);
  Expression x2 = constant(g, Dim({2}, 2), 1);
  Expression W2 = constant(g, Dim({3, 2}, 2), 1);
  Expression columns = constant(g, {2, 4}, 1);
  Expression wide = constant(g, {3, 2}, 1);
  Expression gates = constant(g, {2, 2}, 1);
  Expression cube3 = constant(g, {2, 3, 2}, 1);
  Expression nothing = constant(g, {0}, 1);
  Expression foreign = constant(other, {2}, 1);
  Expression reverted, destroyed;

  Bench() {
    g.checkpoint();
    reverted = x * 2.0f;
    g.revert();
    ComputationGraph gone;
    destroyed = constant(gone, {2}, 1);
  }

  std::vector<Mistake> shape_mistakes(), value_mistakes(), reduction_mistakes(),
      selection_mistakes(), window_mistakes(), algebra_mistakes();
};

inline std::string told_of(const std::string& rule, const std::string& operands) {
  static const std::map<std::string, std::string> described = {
      {"x", "{2}  input, node 0"},           {"y", "{3}  input, node 1"},
      {"b", "{3}  constant, node 3"},        {"W", "{3,2}  parameter \"/weights\", node 2"},
      {"x3", "{2X3}  constant, node 4"},     {"x2", "{2X2}  constant, node 5"},
      {"W2", "{3,2X2}  constant, node 6"},   {"columns", "{2,4}  constant, node 7"},
      {"wide", "{3,2}  constant, node 8"},   {"gates", "{2,2}  constant, node 9"},
      {"nothing", "{0}  constant, node 11"}, {"cube3", "{2,3,2}  constant, node 10"}};
  std::string message = rule, name;
  std::istringstream names(operands);
  for (int k = 1; names >> name; ++k)
    message += "\n  operand " + std::to_string(k) + ": " + described.at(name) + ", made at HERE";
  return message + "\n  at HERE";
}

inline std::string with_places_hidden(const std::string& message) {
  static const std::regex place("[^ ]*[a-z_]*mistakes[a-z_]*\\.(cc|h):[0-9]+");
  return std::regex_replace(message, place, "HERE");
}

inline void check_mistakes(Bench& bench, const std::vector<Mistake>& all) {
  const Expression before = tanh(bench.W * bench.x + bench.b);
  const std::vector<float> expected(3, std::tanh(1.75f));
  for (const Mistake& m : all) {
    INFO("the mistake in line " << m.at.line);
    const std::size_t size = bench.g.size();
    SourceLocation where;
    const std::optional<std::string> message = m.run(m.make, where);
    REQUIRE(message.has_value());
    const std::string told = with_places_hidden(*message);
    CHECK(told == m.message);
    if (m.message.find("at HERE") != std::string::npos) {
      CHECK(std::string(where.file) == m.at.file);
      CHECK(where.line >= m.at.line);
      CHECK(where.line <= m.at.line + 2);
    }
    CHECK(bench.g.size() == size);
    const std::vector<float> old_value = as_vector(before.value());
    const std::vector<float> new_value =
        as_vector(bench.g.forward(tanh(bench.W * bench.x + bench.b)));
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(old_value[k] == Approx(expected[k]));
      CHECK(new_value[k] == Approx(expected[k]));
    }
  }
}

}  // namespace dynet::test
