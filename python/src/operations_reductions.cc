#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

constexpr Unary kReductions[] = {
    {"sum_elems", dynet::sum_elems, "The sum of all elements: {1} for each batch element."},
    {"mean_elems", dynet::mean_elems, "The mean of all elements: {1} for each batch element."},
    {"std_elems", dynet::std_elems,
     "The deviation sqrt(mean (x - mean)^2) of all elements: {1} for each batch element."},
    {"squared_norm", dynet::squared_norm,
     "The sum of the squares of all elements: {1} for each batch element."},
    {"l2_norm", dynet::l2_norm,
     "The root of the sum of the squares of all elements: {1} for each batch element."},
    {"sum_batches", dynet::sum_batches,
     "The sum of the batch elements: the shape of x without its batch."},
    {"mean_batches", dynet::mean_batches,
     "The mean of the batch elements: the shape of x without its batch."},
    {"std_batches", dynet::std_batches,
     "The deviation of the batch elements: the shape of x without its batch."},
};

}  // namespace

void bind_reductions(nb::module_& m) {
  for (const Unary& u : kReductions) def(m, u);
  m.def(
      "moment_elems", [](const Expression& x, unsigned r) { return moment_elems(x, r, here()); },
      "x"_a, "r"_a, "The mean of the r-th powers of all elements: {1} for each batch element.");
  m.def(
      "moment_batches",
      [](const Expression& x, unsigned r) { return moment_batches(x, r, here()); }, "x"_a, "r"_a,
      "The mean of the r-th powers of the batch elements: the shape of x without its batch.");
  m.def(
      "sum_dim",
      [](const Expression& x, const Sizes& d, Flag b, unsigned) {
        return sum_dim(x, dimensions(d), b, here());
      },
      "x"_a, "d"_a, "b"_a = false, "n"_a = 0,
      "The sum along the dimensions of the list d, which are removed; with b along the batch too.\n"
      "`n` is not used. IndexError for a dimension that x does not have.");
  m.def(
      "mean_dim",
      [](const Expression& x, const Sizes& d, Flag b, unsigned n) {
        return mean_dim(x, dimensions(d), b, n, here());
      },
      "x"_a, "d"_a, "b"_a, "n"_a = 0,
      "The mean along the dimensions of the list d, which are removed; with b along the batch "
      "too.\n"
      "n > 0 replaces the number that the sum is divided by.");
  m.def(
      "moment_dim",
      [](const Expression& x, const Sizes& d, unsigned r, Flag b, unsigned n) {
        return moment_dim(x, dimensions(d), r, b, n, here());
      },
      "x"_a, "d"_a, "r"_a, "b"_a, "n"_a = 0,
      "The mean of r-th powers along the dimensions of the list d; b and n as in `mean_dim`.");
  m.def(
      "std_dim",
      [](const Expression& x, const Sizes& d, Flag b, unsigned n) {
        return std_dim(x, dimensions(d), b, n, here());
      },
      "x"_a, "d"_a, "b"_a, "n"_a = 0,
      "The deviation along the dimensions of the list d; b and n as in `mean_dim`.");
  m.def(
      "max_dim", [](const Expression& x, unsigned d) { return max_dim(x, d, here()); }, "x"_a,
      "d"_a = 0, "The largest element along dimension d, which is removed: {m,n} gives {n}.");
  m.def(
      "min_dim", [](const Expression& x, unsigned d) { return min_dim(x, d, here()); }, "x"_a,
      "d"_a = 0, "The smallest element along dimension d, which is removed: {m,n} gives {n}.");
  m.def(
      "cumsum", [](const Expression& x, unsigned d) { return cumsum(x, d, here()); }, "x"_a,
      "d"_a = 0, "Sums of the first 1, 2, ... elements along dimension d: the shape of x.");
  m.def(
      "logsumexp_dim", [](const Expression& x, unsigned d) { return logsumexp_dim(x, d, here()); },
      "x"_a, "d"_a = 0,
      "log sum_j e^x_j without overflow along dimension d, which is removed: {m,n} gives {n}.");
}

}  // namespace dynet::python
