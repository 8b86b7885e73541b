#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

constexpr Binary kArithmetic[] = {
    {"cmult", dynet::cmult, "x", "y",
     "x y, elementwise. A size, or the batch size, that is one on one side repeats.\n\n"
     ">>> dy.cmult(dy.inputVector([1, 2]), dy.inputVector([3, 4])).value()\n"
     "[3.0, 8.0]\n"
     ">>> dy.cmult(dy.zeros((3, 2)), dy.zeros((3, 1))).dim()\n"
     "((3, 2), 1)"},
    {"cdiv", dynet::cdiv, "x", "y",
     "x / y, elementwise; sizes as in `cmult`.\n\n"
     ">>> dy.cdiv(dy.inputVector([1, 6]), dy.inputVector([2, 3])).value()\n"
     "[0.5, 2.0]"},
    {"pow", dynet::pow, "x", "y",
     "x to the power y, elementwise; sizes as in `cmult`. For a number y, `x ** y`."},
    {"bmax", dynet::max, "x", "y", "The larger one, elementwise; sizes as in `cmult`."},
    {"bmin", dynet::min, "x", "y", "The smaller one, elementwise; sizes as in `cmult`."},
    {"colwise_add", dynet::colwise_add, "x", "y",
     "{m,n} plus the vector {m} on every column: {m,n}."},
    {"dot_product", dynet::dot_product, "x", "y",
     "sum_i x_i y_i of two vectors: {1} for each batch element.\n\n"
     ">>> dy.dot_product(dy.inputVector([1, 2]), dy.inputVector([3, 4])).value()\n"
     "11.0"},
    {"trace_of_product", dynet::trace_of_product, "x", "y",
     "The trace of x y' for matrices of the same sizes: {1} for each batch element."},
    {"circ_conv", dynet::circ_conv, "u", "v",
     "The circular convolution y_i = sum_j u_j v_(i-j mod n): {n}, {n} give {n}."},
    {"circ_corr", dynet::circ_corr, "u", "v",
     "The circular correlation y_i = sum_j u_j v_(i+j mod n): {n}, {n} give {n}."},
};

constexpr Unary kMatrices[] = {
    {"inverse", dynet::inverse, "The inverse of a matrix: {n,n} gives {n,n}."},
    {"logdet", dynet::logdet, "The logarithm of the determinant: {n,n} gives {1}."},
};

struct OfList {
  const char* name;
  Expression (*function)(const Expressions&, SourceLocation);
  const char* doc;
};
constexpr OfList kOfLists[] = {
    {"esum", dynet::sum,
     "x1 + x2 + ... of a list, elementwise; sizes as in `cmult`.\n\n"
     ">>> dy.esum([dy.inputVector([1, 2]), dy.inputVector([3, 4])]).value()\n"
     "[4.0, 6.0]"},
    {"average", dynet::average,
     "(x1 + x2 + ... + xn) / n of a list, elementwise; sizes as in `cmult`.\n\n"
     ">>> dy.average([dy.inputVector([1, 2]), dy.inputVector([3, 4])]).value()\n"
     "[2.0, 3.0]"},
    {"emax", dynet::max,
     "The largest of a list, elementwise, the first of several equal ones getting the gradient;\n"
     "sizes as in `cmult`."},
    {"logsumexp", dynet::logsumexp,
     "log(e^x1 + ... + e^xn) of a list without overflow, elementwise; sizes as in `cmult`."},
};

}  // namespace

void bind_arithmetic(nb::module_& m) {
  for (const Binary& b : kArithmetic) def(m, b);
  for (const Unary& u : kMatrices) def(m, u);
  for (const OfList& l : kOfLists)
    m.def(
        l.name,
        [l](const Expressions& xs) {
          need_operands(l.name, xs);
          return l.function(xs, here());
        },
        "xs"_a, l.doc);
  m.def(
      "emin",
      [](const Expressions& xs) {
        need_operands("emin", xs);
        return min(xs, here());
      },
      "xs"_a, "The smallest of a list, elementwise; sizes as in `cmult`.");
  m.def(
      "affine_transform",
      [](const Expressions& exprs) {
        need_operands("affine_transform", exprs);
        return affine_transform(exprs, here());
      },
      "exprs"_a,
      "b + W1 x1 + W2 x2 + ... of the list [b, W1, x1, W2, x2, ...]: b {m} or {m,n}, each W {m,k}\n"
      "and x {k} or {k,n} give {m} or {m,n}. ValueError for other shapes.\n\n"
      ">>> b, W, x = dy.inputVector([0, 10]), dy.ones((2, 3)), dy.inputVector([1, 2, 3])\n"
      ">>> dy.affine_transform([b, W, x]).value()\n"
      "[6.0, 16.0]");
  m.def(
      "contract3d_1d",
      [](const Expression& x, const Expression& y) { return contract3d_1d(x, y, here()); }, "x"_a,
      "y"_a, "z_ij = sum_k x_ijk y_k: {i,j,k}, {k} give {i,j}.");
  m.def(
      "contract3d_1d_bias",
      [](const Expression& x, const Expression& y, const Expression& b) {
        return contract3d_1d(x, y, b, here());
      },
      "x"_a, "y"_a, "b"_a, "z_ij = sum_k x_ijk y_k + b_ij: {i,j,k}, {k}, {i,j} give {i,j}.");
  m.def(
      "contract3d_1d_1d",
      [](const Expression& x, const Expression& y, const Expression& z) {
        return contract3d_1d_1d(x, y, z, here());
      },
      "x"_a, "y"_a, "z"_a, "t_i = sum_jk x_ijk y_k z_j: {i,j,k}, {k}, {j} give {i}.");
  m.def(
      "contract3d_1d_1d_bias",
      [](const Expression& x, const Expression& y, const Expression& z, const Expression& b) {
        return contract3d_1d_1d(x, y, z, b, here());
      },
      "x"_a, "y"_a, "z"_a, "b"_a,
      "t_i = sum_jk x_ijk y_k z_j + b_i: {i,j,k}, {k}, {j}, {i} give {i}.");
}

}  // namespace dynet::python
