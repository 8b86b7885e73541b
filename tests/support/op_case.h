#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/shape/dim.h"
#include "tests/support/sanitized.h"

// Test case of one operation: shapes of its operands, a call, and a naive loop in double. Tests of
// value, gradient, batching, extreme values and bad shapes are derived from it.

namespace dynet::test {

/// Indices along seven dimensions, then the batch element.
using Place = std::array<unsigned, kMaxTensorDim + 1>;
constexpr unsigned kBatch = kMaxTensorDim;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// log(exp(a) + exp(b)).
double log_add(double a, double b);
double sum_of(const std::vector<double>& v);

/// A tensor in double.
struct Array {
  Dim dim;
  std::vector<double> v;

  /// Element at a place; sizes of one and a batch of one are broadcast.
  double at(const Place& p) const;
  double at(unsigned i, unsigned j = 0, unsigned batch = 0) const {
    return at(Place{i, j, 0, 0, 0, 0, 0, batch});
  }
};
/// The array of shape `dim` whose element at a place is f(place).
Array fill(const Dim& dim, const std::function<double(const Place&)>& f);
/// A class for each batch element, different for each variant.
std::vector<unsigned> classes_of(const Dim& dim, unsigned variant);
/// f of every element.
Array map(const Array& x, const std::function<double(double)>& f);
/// The shape that operands broadcast to.
Dim broadcast_dim(const std::vector<Array>& xs);
/// f of the elements of all operands at every place of the shape that they broadcast to.
Array zip(const std::vector<Array>& xs, const std::function<double(const std::vector<double>&)>& f);

/// Draws the shapes of operands.
class Shapes {
 public:
  enum Kind { plain, batched, ones, empty, borders, large };

  Shapes(Kind kind, std::uint64_t seed) : kind_(kind), state_(seed) {}
  std::uint64_t below(std::uint64_t n);
  bool coin() { return below(2) == 0; }
  /// A size. By kind: 1 to 4; 1; often 0; sometimes around the sizes of a GPU's warps and blocks;
  /// 64 for the first two sizes and then 8.
  unsigned size();
  /// A size above zero.
  unsigned positive();
  /// A batch size: `full_batch` or, sometimes, one.
  unsigned batch();
  /// The batch size of the kind.
  unsigned full_batch() const { return kind_ == batched ? 3 : kind_ == large ? 4 : 1; }
  /// A shape with up to `rank` dimensions and a batch.
  Dim any(unsigned rank = 3);
  Dim vector() { return Dim({size()}, batch()); }
  Dim matrix() { return Dim({size(), size()}, batch()); }
  /// `d` with some sizes, or the batch, replaced by one: it broadcasts to d.
  Dim reduced(Dim d);
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
  bool at_border_ = false;  // at most one size at a border
  unsigned drawn_ = 0;      // number of sizes drawn
  std::uint64_t state_;
};

/// Arguments of the builder.
struct Operand : std::vector<Expression> {
  ComputationGraph* graph = nullptr;
  unsigned variant = 0;  ///< selects attributes that may differ within a batch, such as an index
};
/// Arguments of the naive loop.
struct Arrays : std::vector<Array> {
  unsigned variant = 0;
};

enum class Throws { shape_error, index_error, argument_error };
struct BadShapes {
  std::vector<Dim> operands;
  Throws type = Throws::shape_error;
};
/// Alternatives with `|` between them: shapes as {2,3} or, of a batch of four, {2,3X4}. They are
/// shape errors unless "index:" or "argument:" stands before them.
std::vector<BadShapes> bad_shapes(const std::string& text);

struct OpCase {
  std::string name;
  std::function<std::vector<Dim>(Shapes&)> shapes;
  std::function<Expression(const Operand&)> build;
  std::function<Array(const Arrays&)> reference;

  double low = -1.5, high = 1.5;   ///< range of operand values
  std::vector<double> kinks = {};  ///< operand values avoid these
  bool distinct = false;           ///< no two operand values are close
  bool empty = true;               ///< sizes of zero are valid
  bool same_operand = true;        ///< one expression may be every operand, if shapes permit
  double value_tolerance = 1e-10;  ///< in double
  double float_tolerance = 1e-5;
  double gradient_tolerance = 1e-5;   ///< in double
  std::vector<double> extremes = {};  ///< operand values for which the result must not be NaN
  std::vector<BadShapes> bad = {};
  std::vector<unsigned> shared = {};  ///< operands that must be one node in a batch
  bool random = false;                ///< draws differ in every node
  unsigned draws = ~0u;  ///< at most this many of each kind of shapes, for slow operations
};

/// Checks of a case; each returns its number of draws of shapes and values.
///
/// Compares the value in both precisions with the naive loop.
unsigned check_values(const OpCase& c);
/// Compares backward with central differences in double, for every choice of constant and variable
/// operands, one expression as every operand, and a result with several users; compares backward in
/// float with double. Three of four draws use one of the choices.
unsigned check_gradients_of(const OpCase& c);
/// Compares values and gradients of many nodes, batched and one by one.
unsigned check_batches(const OpCase& c);
unsigned check_extremes(const OpCase& c);

/// For operands with too many elements for a difference of each: compares the value with the naive
/// loop, and the gradients of two nodes, which add up, with differences of the naive loop in one
/// direction.
void check_large(const OpCase& c, const std::vector<Dim>& dims);

/// Several nodes of the operation, with operands that are constants and variables.
struct Nodes {
  ComputationGraph graph;
  ParameterCollection model;
  std::vector<Expression> results;
  Expression loss;
};
/// Calls `look` for nodes of many shapes, of shapes at the borders of a GPU's warps and blocks,
/// with extreme values, for so many nodes that gradients of shared operands are summed in parts, or
/// for large nodes that share operands. Returns the number of draws.
enum class Draw { small, borders, extremes, shared, large };
unsigned for_nodes(const OpCase& c, Draw draw, unsigned repeat,
                   const std::function<void(const Nodes&)>& look);
/// Largest difference, relative for values above one; infinite where only one is NaN or infinite.
double largest_difference(const float* a, const float* b, std::size_t n);
unsigned check_bad_shapes(const OpCase& c);

/// Runs a check on all cases and prints the number of draws. Cases whose names begin with the same
/// word are of one operation, which needs `least` draws.
void check_all(const std::string& title, const std::vector<OpCase>& cases,
               unsigned (*check)(const OpCase&), unsigned least);

constexpr unsigned kLeastDraws = DYNET_SANITIZED ? 50 : 200;

}  // namespace dynet::test

/// Tests of a family: `CASES` is an expression for a vector of OpCase.
#define DYNET_OP_TESTS(FAMILY, CASES)                                           \
  DYNET_OP_TEST(FAMILY ": values", CASES, check_values, kLeastDraws)            \
  DYNET_OP_TEST(FAMILY ": gradients", CASES, check_gradients_of, kLeastDraws)   \
  DYNET_OP_TEST(FAMILY ": batches of nodes", CASES, check_batches, kLeastDraws) \
  DYNET_OP_TEST(FAMILY ": extreme values", CASES, check_extremes, 0)            \
  DYNET_OP_TEST(FAMILY ": bad shapes", CASES, check_bad_shapes, 0)
#define DYNET_OP_TEST(TITLE, CASES, CHECKS, LEAST) \
  TEST_CASE(TITLE) {                               \
    using namespace ::dynet::test;                 \
    check_all(TITLE, CASES, CHECKS, LEAST);        \
  }
