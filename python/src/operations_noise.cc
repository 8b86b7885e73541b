#include "operations.h"

namespace dynet::python {
namespace {

using namespace nb::literals;
using E = const Expression&;

}  // namespace

void bind_noise(nb::module_& m) {
  m.def(
      "dropout", [](E x, float p) { return dropout(x, p, here()); }, "x"_a, "p"_a,
      "Every element zero with probability p, else x / (1 - p): the shape of x. ValueError unless "
      "p\n"
      "is in [0, 1).\n\n"
      ">>> values = dy.dropout(dy.ones(100), 0.5).value()\n"
      ">>> set(values) <= {0.0, 2.0}\n"
      "True");
  m.def(
      "dropout_dim", [](E x, unsigned d, float p) { return dropout_dim(x, d, p, here()); }, "x"_a,
      "d"_a, "p"_a, "`dropout` with one draw for all elements along dimension d.");
  m.def(
      "dropout_batch", [](E x, float p) { return dropout_batch(x, p, here()); }, "x"_a, "p"_a,
      "`dropout` with one draw for each batch element.");
  m.def(
      "block_dropout", [](E x, float p) { return block_dropout(x, p, here()); }, "x"_a, "p"_a,
      "x as a whole kept or dropped, each batch element by a draw of its own.");
  m.def(
      "noise", [](E x, float stddev) { return noise(x, stddev, here()); }, "x"_a, "stddev"_a,
      "x plus Gaussian noise with mean zero: the shape of x.");
  m.def(
      "random_normal",
      [](const Sizes& dim, float mean, float stddev, unsigned batch_size) {
        return random_normal(current_graph(), shape_of(dim, batch_size), mean, stddev, {}, here());
      },
      "dim"_a, "mean"_a = 0.0f, "stddev"_a = 1.0f, "batch_size"_a = 1,
      "Gaussian draws: the shape dim with this batch size.");
  m.def(
      "random_bernoulli",
      [](const Sizes& dim, float p, float scale, unsigned batch_size) {
        return random_bernoulli(current_graph(), shape_of(dim, batch_size), p, scale, {}, here());
      },
      "dim"_a, "p"_a, "scale"_a = 1.0f, "batch_size"_a = 1,
      "`scale` with probability p, else zero: the shape dim with this batch size.");
  m.def(
      "random_uniform",
      [](const Sizes& dim, float left, float right, unsigned batch_size) {
        return random_uniform(current_graph(), shape_of(dim, batch_size), left, right, {}, here());
      },
      "dim"_a, "left"_a, "right"_a, "batch_size"_a = 1,
      "Uniform draws in [left, right): the shape dim with this batch size.");
  m.def(
      "random_gumbel",
      [](const Sizes& dim, float mu, float beta, unsigned batch_size) {
        return random_gumbel(current_graph(), shape_of(dim, batch_size), mu, beta, {}, here());
      },
      "dim"_a, "mu"_a = 0.0f, "beta"_a = 1.0f, "batch_size"_a = 1,
      "Draws mu - beta log(-log u), u uniform in (0, 1): the shape dim with this batch size.\n"
      "Gumbel 1954.");
}

}  // namespace dynet::python
