#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;
using List = std::vector<std::int64_t>;

Expression picked(const Expression& e, const OneOrMore& index, unsigned dim) {
  return with_indices(index, [&](const IndexArgument& v) { return pick(e, v, dim, here()); });
}

Expression picked_elements(const Expression& x, const OneOrMore& v) {
  return with_indices(v, [&](const IndexArgument& i) { return pick_batch_elems(x, i, here()); });
}

void bind_parts(nb::module_& m) {
  m.def("pick", picked, "e"_a, "index"_a = 0, "dim"_a = 0,
        "Slice `index` of dimension `dim`, which is removed: {n} gives {1}, {m,n} gives {n}.\n"
        "Several indices: one for each batch element. IndexError for one that is outside.\n\n"
        ">>> x = dy.inputTensor([[1, 2, 3], [4, 5, 6]])\n"
        ">>> dy.pick(x, 1).value()\n"
        "[4.0, 5.0, 6.0]\n"
        ">>> dy.pick(x, 1, dim=1).value()\n"
        "[2.0, 5.0]");
  m.def(
      "pick_batch",
      [](const Expression& e, const List& indices, unsigned dim) {
        return picked(e, indices, dim);
      },
      "e"_a, "indices"_a, "dim"_a = 0, "`pick` with an index for each batch element.");
  m.def(
      "pick_range",
      [](const Expression& x, unsigned s, unsigned e, unsigned d) {
        return pick_range(x, s, e, d, here());
      },
      "x"_a, "s"_a, "e"_a, "d"_a = 0,
      "The slices s, ..., e - 1 of dimension d: {n} gives {e-s}. IndexError for what is "
      "outside.\n\n"
      ">>> dy.pick_range(dy.inputVector([1, 2, 3, 4]), 1, 3).value()\n"
      "[2.0, 3.0]");
  m.def(
      "pickrange",
      [](const Expression& x, unsigned s, unsigned e) { return pickrange(x, s, e, here()); }, "x"_a,
      "s"_a, "e"_a, "The old name of `pick_range` along dimension 0.");
  m.def(
      "select_rows",
      [](const Expression& x, const List& rows) {
        return select_rows(x, IndexArgument(rows.begin(), rows.end()), here());
      },
      "x"_a, "rs"_a, "The rows of the list, also repeated: {m,n} gives {len(rs),n}.");
  m.def(
      "select_cols",
      [](const Expression& x, const List& cols) {
        return select_cols(x, IndexArgument(cols.begin(), cols.end()), here());
      },
      "x"_a, "cs"_a, "The columns of the list, also repeated: {m,n} gives {m,len(cs)}.");
  m.def(
      "strided_select",
      [](const Expression& x, const std::vector<int>& strides, const std::vector<int>& from,
         const std::vector<int>& to) { return strided_select(x, strides, from, to, here()); },
      "x"_a, "strides"_a, "range_from"_a, "range_to"_a,
      "In dimension k every strides[k]-th slice of [range_from[k], range_to[k]); the entry behind\n"
      "the last dimension is for the batch. Lists may be too short: 1, 0 and the whole size.");
  m.def(
      "pick_batch_elem",
      [](const Expression& x, std::int64_t v) { return pick_batch_elem(x, v, here()); }, "x"_a,
      "v"_a,
      "Batch element v: the shape of x without its batch.\n\n"
      ">>> x = dy.inputTensor([[1, 2, 3], [4, 5, 6]], batched=True)\n"
      ">>> dy.pick_batch_elem(x, 2).value()\n"
      "[3.0, 6.0]");
  m.def("pick_batch_elems", picked_elements, "x"_a, "vs"_a,
        "The batch elements of the list: the shape of x with a batch of len(vs).");
  m.def(
      "kmax_pooling",
      [](const Expression& x, unsigned k, unsigned d) { return kmax_pooling(x, k, d, here()); },
      "x"_a, "k"_a, "d"_a = 1,
      "The k largest elements along dimension d, in their order in x: {m,n} gives {m,k}.");
}

void bind_putting_together(nb::module_& m) {
  m.def(
      "concatenate",
      [](const Expressions& xs, unsigned d) {
        need_operands("concatenate", xs);
        return concatenate(xs, d, here());
      },
      "xs"_a, "d"_a = 0,
      "The expressions of the list one after another along dimension d: {m}, {n} give {m+n}. All\n"
      "other sizes are equal, batch sizes equal or one.\n\n"
      ">>> dy.concatenate([dy.inputVector([1, 2]), dy.inputVector([3])]).value()\n"
      "[1.0, 2.0, 3.0]\n"
      ">>> dy.concatenate([dy.zeros((2, 3)), dy.ones((2, 4))], d=1).dim()\n"
      "((2, 7), 1)");
  m.def(
      "concatenate_cols",
      [](const Expressions& xs) {
        need_operands("concatenate_cols", xs);
        return concatenate_cols(xs, here());
      },
      "xs"_a,
      "The same along dimension 1: k vectors {n} give {n,k}.\n\n"
      ">>> dy.concatenate_cols([dy.inputVector([1, 2]), dy.inputVector([3, 4])]).value()\n"
      "array([[1., 3.],\n"
      "       [2., 4.]])");
  m.def(
      "concatenate_to_batch",
      [](const Expressions& xs) {
        need_operands("concatenate_to_batch", xs);
        return concatenate_to_batch(xs, here());
      },
      "xs"_a,
      "The batch elements of all expressions of the list, in order, as one batch.\n\n"
      ">>> dy.concatenate_to_batch([dy.zeros((3, 2)), dy.ones((3, 2))]).dim()\n"
      "((3, 2), 2)");
}

void bind_views(nb::module_& m) {
  m.def(
      "reshape",
      [](const Expression& x, const Sizes& d, unsigned batch_size) {
        return reshape(x, shape_of(d, batch_size), here());
      },
      "x"_a, "d"_a, "batch_size"_a = 1,
      "The same elements in column-major order as shape d. With batch_size = 1 and as many "
      "elements\n"
      "as one batch element has, the batch of x stays.\n\n"
      ">>> dy.reshape(dy.inputVector([1, 2, 3, 4, 5, 6]), (2, 3)).value()\n"
      "array([[1., 3., 5.],\n"
      "       [2., 4., 6.]])");
  m.def(
      "transpose",
      [](const Expression& x, const std::vector<unsigned>& dims) {
        return transpose(x, dims, here());
      },
      "x"_a, "dims"_a = std::vector<unsigned>{1, 0},
      "Dimension i of the result is dimension dims[i] of x: {m,n} gives {n,m}, {n} gives "
      "{1,n}.\n\n"
      ">>> dy.transpose(dy.zeros((2, 3))).dim()\n"
      "((3, 2), 1)\n"
      ">>> dy.transpose(dy.zeros((2, 3, 4)), [2, 0, 1]).dim()\n"
      "((4, 2, 3), 1)");
  m.def(
      "nobackprop", [](const Expression& x) { return nobackprop(x, here()); }, "x"_a,
      "x, which gets no gradient through this expression.");
  m.def(
      "flip_gradient", [](const Expression& x) { return flip_gradient(x, here()); }, "x"_a,
      "x, whose gradient is the result's times -1. Ganin and Lempitsky 2015.");
  m.def(
      "scale_gradient",
      [](const Expression& x, float lambd) { return scale_gradient(x, lambd, here()); }, "x"_a,
      "lambd"_a = 1.0f, "x, whose gradient is the result's times lambd.");
  m.def(
      "argmax",
      [](const Expression& x, const std::string& mode, unsigned d) {
        return argmax(x, gradient_mode("argmax", mode), d, here());
      },
      "x"_a, "gradient_mode"_a, "d"_a = 0,
      "One at the largest element along dimension d, zero elsewhere: the shape of x.\n"
      "`gradient_mode` as in `round`.");
  m.def(
      "to_device",
      [](const Expression& e, const std::string& device) {
        return to_device(e, get_device_manager()->get_global_device(device, here()), here());
      },
      "e"_a, "device_str"_a,
      "e on the device of this name, such as \"CPU\" or \"GPU:0\". RuntimeError if there is none.");
}

}  // namespace

void bind_selection(nb::module_& m) {
  bind_parts(m);
  bind_putting_together(m);
  bind_views(m);
}

}  // namespace dynet::python
