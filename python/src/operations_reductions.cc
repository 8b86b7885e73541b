#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

constexpr Unary kReductions[] = {
    {"sum_elems", dynet::sum_elems,
     "The sum of all elements: {1} for each batch element.\n\n"
     ">>> dy.sum_elems(dy.inputTensor([[1, 2], [3, 4]])).value()\n"
     "10.0"},
    {"mean_elems", dynet::mean_elems,
     "The mean of all elements: {1} for each batch element.\n\n"
     ">>> dy.mean_elems(dy.inputTensor([[1, 2], [3, 4]])).value()\n"
     "2.5"},
    {"std_elems", dynet::std_elems,
     "The deviation sqrt(mean (x - mean)^2) of all elements: {1} for each batch element."},
    {"squared_norm", dynet::squared_norm,
     "The sum of the squares of all elements: {1} for each batch element.\n\n"
     ">>> dy.squared_norm(dy.inputVector([3, 4])).value()\n"
     "25.0"},
    {"l2_norm", dynet::l2_norm,
     "The root of the sum of the squares of all elements: {1} for each batch element."},
    {"sum_batches", dynet::sum_batches,
     "The sum of the batch elements: the shape of x without its batch.\n\n"
     ">>> x = dy.inputTensor([[1, 2, 3], [4, 5, 6]], batched=True)\n"
     ">>> x.dim()\n"
     "((2,), 3)\n"
     ">>> dy.sum_batches(x).value()\n"
     "[6.0, 15.0]"},
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
      "`n` is not used. IndexError for a dimension that x does not have.\n\n"
      ">>> x = dy.inputTensor([[1, 2, 3], [4, 5, 6]])\n"
      ">>> dy.sum_dim(x, [0]).value()\n"
      "[5.0, 7.0, 9.0]\n"
      ">>> dy.sum_dim(x, [1]).value()\n"
      "[6.0, 15.0]");
  m.def(
      "mean_dim",
      [](const Expression& x, const Sizes& d, Flag b, unsigned n) {
        return mean_dim(x, dimensions(d), b, n, here());
      },
      "x"_a, "d"_a, "b"_a, "n"_a = 0,
      "The mean along the dimensions of the list d, which are removed; with b along the batch "
      "too.\n"
      "n > 0 replaces the number that the sum is divided by.\n\n"
      ">>> dy.mean_dim(dy.inputTensor([[1, 2, 3], [4, 5, 6]]), [1], False).value()\n"
      "[2.0, 5.0]");
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
      "d"_a = 0,
      "The largest element along dimension d, which is removed: {m,n} gives {n}.\n\n"
      ">>> dy.max_dim(dy.inputTensor([[1, 5, 3], [4, 2, 6]])).value()\n"
      "[4.0, 5.0, 6.0]");
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
