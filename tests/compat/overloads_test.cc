// Every form in which DyNet 2.1 offers an operation: 138 names, 190 overloads.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "dynet/expr.h"
#include "tests/support/catch.h"

namespace overloads_test {

using namespace dynet;
using std::vector;

namespace {

struct Form {
  const char* call;
  Expression result;
  Dim dim;

  /// Name of the function: `pick` of "pick(x, 1u)", the whole call if it is an operator.
  std::string name() const {
    const std::string text = call;
    const std::size_t end = text.find('(');
    return end == std::string::npos ? text : text.substr(0, end);
  }
};

// A comma within braces separates the arguments of a macro.
#define FORM(dim, ...) \
  { #__VA_ARGS__, __VA_ARGS__, dim }

}  // namespace

TEST_CASE("Every overload of DyNet's operations is there and gives its shape") {
  ParameterCollection pc;
  pc.set_seed(1);
  ComputationGraph g;
  Parameter p = pc.add_parameters({2, 3});
  LookupParameter lp = pc.add_lookup_parameters(4, {2});
  const real s = 0.5f;
  const vector<float> six = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};
  const vector<unsigned> two = {0, 1}, three = {0, 1, 0};
  const vector<vector<unsigned>> lists = {{0, 1, 0}};
  const unsigned one = 1;
  const Dim scalar({1}), vector3({3}), matrix({2, 3}), batch3({3}, 2);

  const auto filled = [&](const Dim& d) {
    vector<float> values(d.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.5f + 0.4f * std::sin(static_cast<float>(i + d.nd));
    return input(g, d, values);
  };
  const Expression a = filled({1}), b = filled({2}), x = filled({3}), y = filled({3});
  const Expression xb = filled(batch3), m = filled({2, 3}), cube3 = filled({2, 3, 3});
  const Expression large = x + 1.5f;
  const Expression square3 = input(g, {3, 3}, {2, 0, 1, 0, 3, 0, 1, 0, 2});
  const Expression image = filled({4, 4, 2}), filters = filled({2, 2, 2, 3}), taps = filled({2, 2});
  const Expression Wx = filled({12, 2}), Wh = filled({12, 3}), gates = filled({12});
  const vector<Expression> xs = {x, y}, parts = {a, a}, affine = {b, m, x};

  const vector<Form> forms = {
      // Inputs.
      FORM(scalar, input(g, s)), FORM(scalar, input(g, &s)), FORM(matrix, input(g, {2, 3}, six)),
      FORM(matrix, input(g, {2, 3}, &six)), FORM(vector3, input(g, {3}, two, {1, 2}, 0.5f)),
      FORM(vector3, one_hot(g, 3, 1)), FORM(batch3, one_hot(g, 3, two)),
      FORM(matrix, parameter(g, p)), FORM(Dim({2, 4}), parameter(g, lp)),
      FORM(matrix, const_parameter(g, p)), FORM(Dim({2, 4}), const_parameter(g, lp)),
      FORM(Dim({2}), lookup(g, lp, 1u)), FORM(Dim({2}), lookup(g, lp, &one)),
      FORM(Dim({2}, 2), lookup(g, lp, two)), FORM(Dim({2}, 2), lookup(g, lp, &two)),
      FORM(Dim({2}), const_lookup(g, lp, 1u)), FORM(Dim({2}), const_lookup(g, lp, &one)),
      FORM(Dim({2}, 2), const_lookup(g, lp, two)), FORM(Dim({2}, 2), const_lookup(g, lp, &two)),
      FORM(batch3, zeros(g, batch3)), FORM(batch3, zeroes(g, batch3)),
      FORM(batch3, ones(g, batch3)), FORM(batch3, constant(g, batch3, 2)),
      FORM(batch3, random_normal(g, batch3)), FORM(batch3, random_bernoulli(g, batch3, 0.5f)),
      FORM(batch3, random_uniform(g, batch3, -1, 1)), FORM(batch3, random_gumbel(g, batch3)),
      // Arithmetic.
      FORM(vector3, -x), FORM(batch3, x + xb), FORM(vector3, x + s), FORM(vector3, s + x),
      FORM(batch3, x - xb), FORM(vector3, s - x), FORM(vector3, x - s), FORM(Dim({2}), m * x),
      FORM(vector3, x * s), FORM(vector3, s * x), FORM(vector3, x / s), FORM(batch3, xb / x),
      FORM(batch3, cdiv(xb, x)), FORM(batch3, cmult(x, xb)), FORM(matrix, colwise_add(m, b)),
      FORM(Dim({2}), affine_transform({b, m, x})), FORM(Dim({2}), affine_transform(affine)),
      FORM(vector3, sum({x, y})), FORM(vector3, sum(xs)), FORM(vector3, average({x, y})),
      FORM(vector3, average(xs)), FORM(vector3, max(x, y)), FORM(vector3, max({x, y})),
      FORM(vector3, max(xs)), FORM(vector3, min(x, y)), FORM(vector3, pow(x, a)),
      FORM(scalar, dot_product(x, y)), FORM(vector3, circ_conv(x, y)),
      FORM(vector3, circ_corr(x, y)),
      // Reductions.
      FORM(scalar, sum_elems(m)), FORM(scalar, mean_elems(m)), FORM(scalar, moment_elems(m, 2)),
      FORM(scalar, std_elems(m)), FORM(vector3, sum_batches(xb)), FORM(vector3, mean_batches(xb)),
      FORM(vector3, moment_batches(xb, 2)), FORM(vector3, std_batches(xb)),
      FORM(vector3, sum_dim(m, {0})), FORM(vector3, sum_rows(m)), FORM(Dim({2}), sum_cols(m)),
      FORM(Dim({2}), mean_dim(m, {1})), FORM(Dim({2}), moment_dim(m, {1}, 2)),
      FORM(Dim({2}), std_dim(m, {1})), FORM(Dim({2}), average_cols(m)), FORM(matrix, cumsum(m, 1)),
      FORM(vector3, max_dim(m)), FORM(vector3, min_dim(m)), FORM(vector3, logsumexp({x, y})),
      FORM(vector3, logsumexp(xs)), FORM(vector3, logsumexp_dim(m, 0)),
      // Functions of elements.
      FORM(vector3, sqrt(x)), FORM(vector3, abs(x)), FORM(vector3, erf(x)), FORM(vector3, exp(x)),
      FORM(vector3, log(x)), FORM(vector3, square(x)), FORM(vector3, cube(x)),
      FORM(vector3, lgamma(x)), FORM(vector3, sin(x)), FORM(vector3, cos(x)), FORM(vector3, tan(x)),
      FORM(vector3, asin(x)), FORM(vector3, acos(x)), FORM(vector3, atan(x)),
      FORM(vector3, sinh(x)), FORM(vector3, cosh(x)), FORM(vector3, tanh(x)),
      FORM(vector3, asinh(x)), FORM(vector3, acosh(large)), FORM(vector3, atanh(x)),
      FORM(vector3, logistic(x)), FORM(vector3, log_sigmoid(x)), FORM(vector3, rectify(x)),
      FORM(vector3, elu(x)), FORM(vector3, selu(x)), FORM(vector3, silu(x)),
      FORM(vector3, softsign(x)), FORM(vector3, round(x, zero_gradient)),
      FORM(vector3, ceil(x, zero_gradient)), FORM(vector3, floor(x, straight_through_gradient)),
      // Softmax and losses.
      FORM(matrix, softmax(m, 1)), FORM(vector3, log_softmax(x)),
      FORM(vector3, log_softmax(x, two)), FORM(vector3, sparsemax(x)),
      FORM(scalar, sparsemax_loss(x, two)), FORM(scalar, sparsemax_loss(x, &two)),
      FORM(vector3, constrained_softmax(x, y)), FORM(scalar, pickneglogsoftmax(x, 1u)),
      FORM(scalar, pickneglogsoftmax(x, &one)), FORM(Dim({1}, 2), pickneglogsoftmax(xb, two)),
      FORM(Dim({1}, 2), pickneglogsoftmax(xb, &two)), FORM(scalar, hinge(x, 1u)),
      FORM(scalar, hinge(x, &one)), FORM(Dim({1}, 2), hinge(xb, two)),
      FORM(Dim({1}, 2), hinge(xb, &two)), FORM(vector3, hinge_dim(m, three)),
      FORM(vector3, hinge_dim(m, &three)), FORM(vector3, hinge_dim(m, lists)),
      FORM(vector3, hinge_dim(m, &lists)), FORM(scalar, squared_norm(x)), FORM(scalar, l2_norm(x)),
      FORM(scalar, squared_distance(x, y)), FORM(scalar, l1_distance(x, y)),
      FORM(scalar, huber_distance(x, y)), FORM(scalar, binary_log_loss(x, y)),
      FORM(Dim({1, 3}), pairwise_rank_loss(transpose(x), transpose(y))),
      FORM(scalar, poisson_loss(a, 2u)), FORM(scalar, poisson_loss(a, &one)),
      // Flow, shape, selection.
      FORM(vector3, nobackprop(x)), FORM(vector3, flip_gradient(x)),
      FORM(vector3, scale_gradient(x, 2)), FORM(vector3, argmax(x, zero_gradient)),
      FORM(Dim({3, 2}), reshape(m, {3, 2})), FORM(Dim({3, 2}), transpose(m)),
      FORM(Dim({1, 3}), select_rows(m, {1})), FORM(matrix, select_rows(m, &two)),
      FORM(Dim({2, 1}), select_cols(m, {1})), FORM(Dim({2, 2}), select_cols(m, &two)),
      FORM(scalar, pick(x, 1u)), FORM(scalar, pick(x, &one)), FORM(Dim({1}, 2), pick(xb, two)),
      FORM(Dim({1}, 2), pick(xb, &two)), FORM(Dim({2}), pick_range(x, 0, 2)),
      FORM(Dim({2}), pickrange(x, 0, 2)), FORM(vector3, pick_batch_elem(xb, 1u)),
      FORM(vector3, pick_batch_elem(xb, &one)), FORM(batch3, pick_batch_elems(xb, two)),
      FORM(batch3, pick_batch_elems(xb, &two)), FORM(batch3, concatenate_to_batch({x, y})),
      FORM(batch3, concatenate_to_batch(xs)), FORM(Dim({1, 2}), strided_select(m, {2, 2})),
      FORM(Dim({3, 2}), concatenate_cols({x, y})), FORM(Dim({3, 2}), concatenate_cols(xs)),
      FORM(Dim({6}), concatenate({x, y})), FORM(Dim({6}), concatenate(xs)),
      // Noise.
      FORM(vector3, noise(x, 0.1f)), FORM(vector3, dropout(x, 0.5f)),
      FORM(matrix, dropout_dim(m, 1, 0.5f)), FORM(batch3, dropout_batch(xb, 0.5f)),
      FORM(vector3, block_dropout(x, 0.5f)),
      // Convolution, contraction, linear algebra, normalization, devices.
      FORM(Dim({1, 2}), filter1d_narrow(m, taps)), FORM(Dim({2, 2}), kmax_pooling(m, 2)),
      FORM(Dim({1, 3}), fold_rows(m)), FORM(Dim({2, 2}), kmh_ngram(m, 2)),
      FORM(Dim({3, 3, 3}), conv2d(image, filters, {1, 1})),
      FORM(Dim({3, 3, 3}), conv2d(image, filters, x, {1, 1})),
      FORM(Dim({2, 2, 2}), maxpooling2d(image, {2, 2}, {2, 2})),
      FORM(matrix, contract3d_1d(cube3, x)), FORM(matrix, contract3d_1d(cube3, x, m)),
      FORM(Dim({2}), contract3d_1d_1d(cube3, x, y)),
      FORM(Dim({2}), contract3d_1d_1d(cube3, x, y, b)), FORM(Dim({3, 3}), inverse(square3)),
      FORM(scalar, logdet(square3)), FORM(scalar, trace_of_product(m, m)),
      FORM(vector3, layer_norm(x, x, y)), FORM(matrix, weight_norm(m, a)),
      FORM(vector3, to_device(x, default_device)),
      // Parts of an LSTM.
      FORM(Dim({12}), vanilla_lstm_gates(b, x, Wx, Wh, gates)),
      FORM(Dim({12}), vanilla_lstm_gates_concat(parts, x, Wx, Wh, gates)),
      FORM(Dim({12}), vanilla_lstm_gates_dropout(b, x, Wx, Wh, gates, b, y)),
      FORM(Dim({12}), vanilla_lstm_gates_dropout_concat(parts, x, Wx, Wh, gates, b, y)),
      FORM(vector3, vanilla_lstm_c(x, gates)), FORM(vector3, vanilla_lstm_h(x, gates))};

  std::set<std::string> names, operators;
  for (const Form& f : forms) {
    INFO(f.call);
    CHECK(f.result.dim() == f.dim);
    const vector<float> values = as_vector(g.forward(f.result));
    CHECK(values.size() == f.dim.size());
    CHECK(std::none_of(values.begin(), values.end(), [](float v) { return std::isnan(v); }));
    const std::string name = f.name();
    if (name.find_first_of("+-*/") == std::string::npos)
      names.insert(name);
    else
      operators.insert(name.substr(name.find_first_of("+-*/"), 1));
  }
  std::cout << names.size() + operators.size() << " names, " << forms.size() << " overloads\n";
  CHECK(names.size() + operators.size() == 138);
  CHECK(forms.size() == 190);
}

#undef FORM

}  // namespace overloads_test
