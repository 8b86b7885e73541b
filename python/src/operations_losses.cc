#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

constexpr Binary kLosses[] = {
    {"squared_distance", dynet::squared_distance, "x", "y",
     "sum_i (x_i - y_i)^2: {1} for each batch element.\n\n"
     ">>> dy.squared_distance(dy.inputVector([1, 2]), dy.inputVector([4, 6])).value()\n"
     "25.0"},
    {"l1_distance", dynet::l1_distance, "x", "y",
     "sum_i |x_i - y_i|: {1} for each batch element. The gradient is 0 where they are equal."},
    {"binary_log_loss", dynet::binary_log_loss, "x", "y",
     "-sum_i (y_i log x_i + (1 - y_i) log(1 - x_i)), x and y in [0, 1]: {1} for each batch\n"
     "element.\n\n"
     ">>> loss = dy.binary_log_loss(dy.inputVector([0.5, 1]), dy.inputVector([0, 1]))\n"
     ">>> round(loss.value(), 4)\n"
     "0.6931"},
};

using Lists = std::variant<std::vector<std::int64_t>, std::vector<std::vector<std::int64_t>>>;

/// Calls `f` with one list of indices for all batch elements, or one list per element.
template <class F>
Expression with_lists(const char* who, const Lists& given, F f) {
  if (const auto* one = std::get_if<std::vector<std::int64_t>>(&given))
    return f(IndexListsArgument(indices_of(who, *one)));
  std::vector<std::vector<unsigned>> lists;
  for (const auto& list : std::get<std::vector<std::vector<std::int64_t>>>(given))
    lists.push_back(indices_of(who, list));
  return f(IndexListsArgument(lists));
}

Expression hinge_of(const Expression& x, const OneOrMore& v, float margin) {
  return with_indices(v,
                      [&](const IndexArgument& index) { return hinge(x, index, margin, here()); });
}

}  // namespace

void bind_losses(nb::module_& m) {
  for (const Binary& b : kLosses) def(m, b);
  m.def(
      "huber_distance",
      [](const Expression& x, const Expression& y, float c) {
        return huber_distance(x, y, c, here());
      },
      "x"_a, "y"_a, "c"_a = 1.345,
      "sum_i h(x_i - y_i), where h(d) is d^2 / 2 up to |d| = c and c (|d| - c / 2) beyond: {1} "
      "for\n"
      "each batch element. Huber 1964.");
  m.def(
      "pairwise_rank_loss",
      [](const Expression& x, const Expression& y, float margin) {
        return pairwise_rank_loss(x, y, margin, here());
      },
      "x"_a, "y"_a, "m"_a = 1.0, "max(0, m - x + y), elementwise: the shape of x.");
  m.def("hinge", hinge_of, "x"_a, "v"_a, "m"_a = 1.0,
        "sum_(j != v) max(0, m - x_v + x_j) of scores x {n}: {1}. Several v: one for each batch\n"
        "element.\n\n"
        ">>> dy.hinge(dy.inputVector([0, 3, 2.5]), 1).value()\n"
        "0.5");
  m.def(
      "hinge_batch",
      [](const Expression& x, const std::vector<std::int64_t>& vs, float margin) {
        return hinge_of(x, vs, margin);
      },
      "x"_a, "vs"_a, "m"_a = 1.0, "`hinge` with a class for each batch element: {1} for each.");
  m.def(
      "hinge_dim",
      [](const Expression& x, const Lists& v, unsigned d, float margin) {
        return with_lists("hinge_dim", v, [&](const IndexListsArgument& lists) {
          return hinge_dim(x, lists, d, margin, here());
        });
      },
      "x"_a, "v"_a, "d"_a = 0, "m"_a = 1.0,
      "`hinge` of each column of a matrix {n,k} (d = 0; of each row with d = 1): {k}. v is one "
      "class\n"
      "for each column, as one list for all batch elements or a list of lists.");
  m.def(
      "poisson_loss",
      [](const Expression& log_lambda, const OneOrMore& x) {
        return with_indices(x, [&](const IndexArgument& counts) {
          return poisson_loss(log_lambda, counts, here());
        });
      },
      "log_lambda"_a, "x"_a,
      "-log of the probability of x events where e^log_lambda are expected: {1}.");
  m.def(
      "sparsemax_loss",
      [](const Expression& x, const Lists& support) {
        return with_lists("sparsemax_loss", support, [&](const IndexListsArgument& lists) {
          return sparsemax_loss(x, lists, here());
        });
      },
      "x"_a, "support"_a,
      "The loss whose gradient is sparsemax(x) - q, q being 1/k at the k elements of `support`: "
      "{1}.\n"
      "Martins and Astudillo 2016.");
}

}  // namespace dynet::python
