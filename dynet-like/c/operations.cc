#include <optional>

#include "dynet-like/c/call.h"
#include "dynet-like/ops/attention.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/convolution.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/flow.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/linear_algebra.h"
#include "dynet-like/ops/losses.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/normalization.h"
#include "dynet-like/ops/recurrent.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"
#include "dynet-like/structures/crf/op.h"
#include "dynet-like/structures/ctc/op.h"
#include "dynet-like/structures/dependency_trees/op.h"
#include "dynet-like/structures/semi_crf/op.h"
#include "dynet-like/structures/span_trees/op.h"

namespace dynet::c {
namespace {

// Types of arguments.
using E = const Expression&;
using List = const std::vector<Expression>&;
using I = const IndexArgument&;
using Ls = const IndexListsArgument&;
using Us = const std::vector<unsigned>&;
using Is = const std::vector<int>&;
using D = const Dim&;
using G = ComputationGraph&;
using Dev = DeviceArgument;
using At = SourceLocation;
using Optional = const std::optional<Expression>&;

/// A function of these arguments, as a row of the table needs it: Op<E>::call<tanh>.
template <class... A>
using Op = Function<Expression, A...>;

// Infix operators, which have no names in C++.
Expression add(E x, E y, At at) { return LocatedExpression(x, at) + y; }
Expression subtract(E x, E y, At at) { return LocatedExpression(x, at) - y; }
Expression multiply(E x, E y, At at) { return LocatedExpression(x, at) * y; }
Expression divide(E x, E y, At at) { return LocatedExpression(x, at) / y; }
Expression negate(E x, At at) { return -LocatedExpression(x, at); }
Expression add_number(E x, float a, At at) { return LocatedExpression(x, at) + a; }
Expression subtract_from(float a, E x, At at) { return a - LocatedExpression(x, at); }
Expression scale(E x, float a, At at) { return LocatedExpression(x, at) * a; }

// Functions whose settings are a struct, or with an operand that may be missing.
Expression sparse_input(G g, D d, Us ids, const std::vector<float>& data, float others, Dev device,
                        At at) {
  return input(g, d, ids, data, others, device, at);
}
Expression number_input(G g, float number, Dev device, At at) {
  return input(g, number, device, at);
}
Expression conv2d_of(E x, E f, Us stride, bool is_valid, Optional b, At at) {
  return b ? conv2d(x, f, *b, stride, is_valid, at) : conv2d(x, f, stride, is_valid, at);
}
Expression contract(E x, E y, Optional b, At at) {
  return b ? contract3d_1d(x, y, *b, at) : contract3d_1d(x, y, at);
}
Expression contract_twice(E x, E y, E z, Optional b, At at) {
  return b ? contract3d_1d_1d(x, y, z, *b, at) : contract3d_1d_1d(x, y, z, at);
}
Expression attention_of(E queries, E keys, E values, unsigned heads, unsigned key_heads,
                        double scale, bool causal, Us key_lengths, Optional biases, At at) {
  const AttentionSettings settings{heads, key_heads, scale, causal, key_lengths};
  return biases ? attention(queries, keys, values, *biases, settings, at)
                : attention(queries, keys, values, settings, at);
}
Expression transposed(E x, Us dims, At at) {
  return dims.empty() ? transpose(x, at) : transpose(x, dims, at);
}
Expression log_softmax_of(E x, Us restriction, At at) {
  return restriction.empty() ? log_softmax(x, at) : log_softmax(x, restriction, at);
}
Expression on_device(E x, const std::string& device, At at) {
  return to_device(x, get_device_manager()->get_global_device(device, at), at);
}
Expression lstm_cell_of(List sums, List cells, float forget_bias, At at) {
  return sums.size() == 1 ? lstm_cell(sums.front(), cells, forget_bias, at).h
                          : lstm_cell(sums, cells, forget_bias, at).h;
}
Expression lstm_step_of(List sums, List cells, float forget_bias, At at) {
  return lstm_step(sums, cells, forget_bias, at).h;
}
Expression lstm_sequence_of(E sums, E Wh, float forget_bias, bool reverse, Optional h, Optional c,
                            At at) {
  if (h.has_value() != c.has_value())
    throw ArgumentError("lstm_sequence: needs h and c of the initial state, or neither", at);
  if (!h) return lstm_sequence(sums, Wh, forget_bias, reverse, at).h;
  return lstm_sequence(sums, Wh, LSTMCellState{*h, *c}, forget_bias, reverse, at).h;
}

// Parameters and tables, by what is given.
template <Expression (*OfParameter)(G, const Parameter&, At),
          Expression (*OfTable)(G, const LookupParameter&, At)>
Expression trained(const Call& call) {
  return call.any_parameter(0).visit([&](const auto& handle) {
    if constexpr (std::is_same_v<decltype(handle), const Parameter&>)
      return OfParameter(*call.graph, handle, call.at);
    else
      return OfTable(*call.graph, handle, call.at);
  });
}

// Distributions over structures.
using Chain = Op<E, E, E, E>;
Expression crf_log_prob_of(const Call& call) {
  return crf_log_prob(call.expression(0), call.expression(1), call.expression(2),
                      call.expression(3), call.indices(4, kAnyTag), call.at);
}
Expression semi_crf_log_prob_of(const Call& call) {
  std::vector<Segment> segments;
  const auto labels = call.indices(4), lengths = call.indices(5);
  if (labels.size() != lengths.size()) call.refuse(5, "as long as the labels");
  for (std::size_t i = 0; i < labels.size(); ++i) segments.push_back({labels[i], lengths[i]});
  return semi_crf_log_prob(call.expression(0), call.expression(1), call.expression(2),
                           call.expression(3), segments, call.at);
}
Expression span_log_prob_of(const Call& call) {
  std::vector<LabelledSpan> tree;
  const auto firsts = call.indices(1), lasts = call.indices(2), labels = call.indices(3, kAnyLabel);
  if (firsts.size() != lasts.size()) call.refuse(2, "as long as the first words");
  if (firsts.size() != labels.size()) call.refuse(3, "as long as the first words");
  for (std::size_t i = 0; i < firsts.size(); ++i) tree.push_back({firsts[i], lasts[i], labels[i]});
  return span_log_prob(call.expression(0), tree, call.at);
}
template <Expression (*F)(E, DependencyRules, At)>
Expression of_trees(E arcs, bool projective, bool single_root, At at) {
  return F(arcs, {.projective = projective, .single_root = single_root}, at);
}
Expression dependency_log_prob_of(E arcs, std::span<const unsigned> heads, bool projective,
                                  bool single_root, At at) {
  return dependency_log_prob(arcs, heads, {.projective = projective, .single_root = single_root},
                             at);
}
using Labels = std::span<const std::vector<unsigned>>;
template <Expression (*F)(E, Labels, const CtcSettings&, At)>
Expression of_ctc(const Call& call) {
  const auto lists = call.lists(1);
  return F(call.expression(0), lists,
           {.blank = call.index(2), .zero_infinity = call.integer(3) != 0}, call.at);
}

constexpr Table<Expression>::Row kRows[] = {
    // Inputs.
    {"input(shape, numbers)", Op<G, D, const std::vector<float>&, Dev>::call<input>},
    {"number(number)", Op<G, float, Dev>::call<number_input>},
    {"sparse_input(shape, indices, numbers, others = 0)",
     Op<G, D, Us, const std::vector<float>&, float, Dev>::call<sparse_input>},
    {"one_hot(d, index)", Op<G, unsigned, I, Dev>::call<one_hot>},
    {"zeros(shape)", Op<G, D, Dev>::call<zeros>},
    {"zeroes(shape)", Op<G, D, Dev>::call<zeroes>},
    {"ones(shape)", Op<G, D, Dev>::call<ones>},
    {"constant(shape, value)", Op<G, D, float, Dev>::call<constant>},
    {"parameter(parameter)", trained<parameter, parameter>},
    {"const_parameter(parameter)", trained<const_parameter, const_parameter>},
    {"lookup(table, index)", Op<G, const LookupParameter&, I>::call<lookup>},
    {"const_lookup(table, index)", Op<G, const LookupParameter&, I>::call<const_lookup>},
    {"random_normal(shape, mean = 0, stddev = 1)",
     Op<G, D, float, float, Dev>::call<random_normal>},
    {"random_bernoulli(shape, p, scale = 1)", Op<G, D, float, float, Dev>::call<random_bernoulli>},
    {"random_uniform(shape, left, right)", Op<G, D, float, float, Dev>::call<random_uniform>},
    {"random_gumbel(shape, mu = 0, beta = 1)", Op<G, D, float, float, Dev>::call<random_gumbel>},
    // Arithmetic.
    {"add(x, y)", Op<E, E>::call<add>},
    {"subtract(x, y)", Op<E, E>::call<subtract>},
    {"multiply(x, y)", Op<E, E>::call<multiply>},
    {"divide(x, y)", Op<E, E>::call<divide>},
    {"negate(x)", Op<E>::call<negate>},
    {"add_number(x, a)", Op<E, float>::call<add_number>},
    {"subtract_from(a, x)", Op<float, E>::call<subtract_from>},
    {"scale(x, a)", Op<E, float>::call<scale>},
    {"cmult(x, y)", Op<E, E>::call<cmult>},
    {"cdiv(x, y)", Op<E, E>::call<cdiv>},
    {"pow(x, y)", Op<E, E>::call<pow>},
    {"max(xs)", Op<List>::call<max>},
    {"min(xs)", Op<List>::call<min>},
    {"sum(xs)", Op<List>::call<sum>},
    {"average(xs)", Op<List>::call<average>},
    {"logsumexp(xs)", Op<List>::call<logsumexp>},
    {"affine_transform(xs)", Op<List>::call<affine_transform>},
    {"colwise_add(x, bias)", Op<E, E>::call<colwise_add>},
    {"dot_product(x, y)", Op<E, E>::call<dot_product>},
    {"trace_of_product(x, y)", Op<E, E>::call<trace_of_product>},
    {"contract3d_1d(x, y, b = none)", Op<E, E, Optional>::call<contract>},
    {"contract3d_1d_1d(x, y, z, b = none)", Op<E, E, E, Optional>::call<contract_twice>},
    {"circ_conv(u, v)", Op<E, E>::call<circ_conv>},
    {"circ_corr(u, v)", Op<E, E>::call<circ_corr>},
    {"inverse(x)", Op<E>::call<inverse>},
    {"logdet(x)", Op<E>::call<logdet>},
    // Elementwise.
    {"tanh(x)", Op<E>::call<tanh>},
    {"logistic(x)", Op<E>::call<logistic>},
    {"log_sigmoid(x)", Op<E>::call<log_sigmoid>},
    {"rectify(x)", Op<E>::call<rectify>},
    {"elu(x, alpha = 1)", Op<E, float>::call<elu>},
    {"selu(x)", Op<E>::call<selu>},
    {"silu(x, beta = 1)", Op<E, float>::call<silu>},
    {"softsign(x)", Op<E>::call<softsign>},
    {"exp(x)", Op<E>::call<exp>},
    {"log(x)", Op<E>::call<log>},
    {"sqrt(x)", Op<E>::call<sqrt>},
    {"square(x)", Op<E>::call<square>},
    {"cube(x)", Op<E>::call<cube>},
    {"abs(x)", Op<E>::call<abs>},
    {"erf(x)", Op<E>::call<erf>},
    {"lgamma(x)", Op<E>::call<lgamma>},
    {"sin(x)", Op<E>::call<sin>},
    {"cos(x)", Op<E>::call<cos>},
    {"tan(x)", Op<E>::call<tan>},
    {"asin(x)", Op<E>::call<asin>},
    {"acos(x)", Op<E>::call<acos>},
    {"atan(x)", Op<E>::call<atan>},
    {"sinh(x)", Op<E>::call<sinh>},
    {"cosh(x)", Op<E>::call<cosh>},
    {"asinh(x)", Op<E>::call<asinh>},
    {"acosh(x)", Op<E>::call<acosh>},
    {"atanh(x)", Op<E>::call<atanh>},
    {"round(x, gradient_mode)", Op<E, GradientMode>::call<round>},
    {"ceil(x, gradient_mode)", Op<E, GradientMode>::call<ceil>},
    {"floor(x, gradient_mode)", Op<E, GradientMode>::call<floor>},
    // Reductions.
    {"sum_elems(x)", Op<E>::call<sum_elems>},
    {"mean_elems(x)", Op<E>::call<mean_elems>},
    {"moment_elems(x, r)", Op<E, unsigned>::call<moment_elems>},
    {"std_elems(x)", Op<E>::call<std_elems>},
    {"squared_norm(x)", Op<E>::call<squared_norm>},
    {"l2_norm(x)", Op<E>::call<l2_norm>},
    {"sum_batches(x)", Op<E>::call<sum_batches>},
    {"mean_batches(x)", Op<E>::call<mean_batches>},
    {"moment_batches(x, r)", Op<E, unsigned>::call<moment_batches>},
    {"std_batches(x)", Op<E>::call<std_batches>},
    {"sum_dim(x, dims, b = 0)", Op<E, Us, bool>::call<sum_dim>},
    {"sum_rows(x)", Op<E>::call<sum_rows>},
    {"sum_cols(x)", Op<E>::call<sum_cols>},
    {"mean_dim(x, dims, b = 0, n = 0)", Op<E, Us, bool, unsigned>::call<mean_dim>},
    {"average_cols(x)", Op<E>::call<average_cols>},
    {"moment_dim(x, dims, r, b = 0, n = 0)", Op<E, Us, unsigned, bool, unsigned>::call<moment_dim>},
    {"std_dim(x, dims, b = 0, n = 0)", Op<E, Us, bool, unsigned>::call<std_dim>},
    {"max_dim(x, d = 0)", Op<E, unsigned>::call<max_dim>},
    {"min_dim(x, d = 0)", Op<E, unsigned>::call<min_dim>},
    {"logsumexp_dim(x, d)", Op<E, unsigned>::call<logsumexp_dim>},
    {"cumsum(x, d)", Op<E, unsigned>::call<cumsum>},
    // Softmax and losses.
    {"softmax(x, d = 0)", Op<E, unsigned>::call<softmax>},
    {"log_softmax(x, restriction = none)", Op<E, Us>::call<log_softmax_of>},
    {"sparsemax(x)", Op<E>::call<sparsemax>},
    {"constrained_softmax(x, y)", Op<E, E>::call<constrained_softmax>},
    {"pickneglogsoftmax(x, v)", Op<E, I>::call<pickneglogsoftmax>},
    {"linear_cross_entropy(scores, v)", Op<List, I>::call<linear_cross_entropy>},
    {"hinge(x, index, m = 1)", Op<E, I, float>::call<hinge>},
    {"hinge_dim(x, indices, d = 0, m = 1)", Op<E, Ls, unsigned, float>::call<hinge_dim>},
    {"squared_distance(x, y)", Op<E, E>::call<squared_distance>},
    {"l1_distance(x, y)", Op<E, E>::call<l1_distance>},
    {"huber_distance(x, y, c = 1.345)", Op<E, E, float>::call<huber_distance>},
    {"binary_log_loss(x, y)", Op<E, E>::call<binary_log_loss>},
    {"pairwise_rank_loss(x, y, m = 1)", Op<E, E, float>::call<pairwise_rank_loss>},
    {"poisson_loss(x, y)", Op<E, I>::call<poisson_loss>},
    {"sparsemax_loss(x, support)", Op<E, Ls>::call<sparsemax_loss>},
    // Distributions over structures; -1 is a tag or a label that is not known.
    {"crf_log_partition(emissions, transitions, start, stop)", Chain::call<crf_log_partition>},
    {"crf_log_prob(emissions, transitions, start, stop, tags)", crf_log_prob_of},
    {"crf_marginals(emissions, transitions, start, stop)", Chain::call<crf_marginals>},
    {"crf_entropy(emissions, transitions, start, stop)", Chain::call<crf_entropy>},
    {"semi_crf_log_partition(scores, transitions, start, stop)",
     Chain::call<semi_crf_log_partition>},
    {"semi_crf_log_prob(scores, transitions, start, stop, labels, lengths)", semi_crf_log_prob_of},
    {"semi_crf_marginals(scores, transitions, start, stop)", Chain::call<semi_crf_marginals>},
    {"semi_crf_entropy(scores, transitions, start, stop)", Chain::call<semi_crf_entropy>},
    {"span_log_partition(spans)", Op<E>::call<span_log_partition>},
    {"span_log_prob(spans, first, last, label)", span_log_prob_of},
    {"span_marginals(spans)", Op<E>::call<span_marginals>},
    {"span_entropy(spans)", Op<E>::call<span_entropy>},
    {"dependency_log_partition(arcs, projective = 1, single_root = 1)",
     Op<E, bool, bool>::call<of_trees<dependency_log_partition>>},
    {"dependency_log_prob(arcs, heads, projective = 1, single_root = 1)",
     Op<E, std::span<const unsigned>, bool, bool>::call<dependency_log_prob_of>},
    {"dependency_marginals(arcs, projective = 1, single_root = 1)",
     Op<E, bool, bool>::call<of_trees<dependency_marginals>>},
    {"dependency_entropy(arcs, projective = 1, single_root = 1)",
     Op<E, bool, bool>::call<of_trees<dependency_entropy>>},
    {"ctc_loss(log_probs, labels, blank = 0, zero_infinity = 0)", of_ctc<ctc_loss>},
    {"ctc_alignment(log_probs, labels, blank = 0, zero_infinity = 0)", of_ctc<ctc_alignment>},
    {"ctc_entropy(log_probs, labels, blank = 0, zero_infinity = 0)", of_ctc<ctc_entropy>},
    // Selection and shapes.
    {"nobackprop(x)", Op<E>::call<nobackprop>},
    {"flip_gradient(x)", Op<E>::call<flip_gradient>},
    {"scale_gradient(x, lambda = 1)", Op<E, float>::call<scale_gradient>},
    {"to_device(x, device)", Op<E, const std::string&>::call<on_device>},
    {"argmax(x, gradient_mode, d = 0)", Op<E, GradientMode, unsigned>::call<argmax>},
    {"reshape(x, shape)", Op<E, D>::call<reshape>},
    {"transpose(x, dims = none)", Op<E, Us>::call<transposed>},
    {"select_rows(x, rows)", Op<E, I>::call<select_rows>},
    {"select_cols(x, cols)", Op<E, I>::call<select_cols>},
    {"pick(x, index, d = 0)", Op<E, I, unsigned>::call<pick>},
    {"pick_range(x, start, end, d = 0)", Op<E, unsigned, unsigned, unsigned>::call<pick_range>},
    {"pickrange(x, start, end)", Op<E, unsigned, unsigned>::call<pickrange>},
    {"pick_batch_elem(x, index)", Op<E, I>::call<pick_batch_elem>},
    {"pick_batch_elems(x, indices)", Op<E, I>::call<pick_batch_elems>},
    {"strided_select(x, strides, from = none, to = none)", Op<E, Is, Is, Is>::call<strided_select>},
    {"concatenate(xs, d = 0)", Op<List, unsigned>::call<concatenate>},
    {"concatenate_cols(xs)", Op<List>::call<concatenate_cols>},
    {"concatenate_to_batch(xs)", Op<List>::call<concatenate_to_batch>},
    // Noise.
    {"dropout(x, p)", Op<E, float>::call<dropout>},
    {"dropout_dim(x, d, p)", Op<E, unsigned, float>::call<dropout_dim>},
    {"dropout_batch(x, p)", Op<E, float>::call<dropout_batch>},
    {"block_dropout(x, p)", Op<E, float>::call<block_dropout>},
    {"noise(x, stddev)", Op<E, float>::call<noise>},
    // Layers.
    {"conv2d(x, f, stride, is_valid = 1, b = none)", Op<E, E, Us, bool, Optional>::call<conv2d_of>},
    {"maxpooling2d(x, ksize, stride, is_valid = 1)", Op<E, Us, Us, bool>::call<maxpooling2d>},
    {"filter1d_narrow(x, f)", Op<E, E>::call<filter1d_narrow>},
    {"kmax_pooling(x, k, d = 1)", Op<E, unsigned, unsigned>::call<kmax_pooling>},
    {"fold_rows(x, nrows = 2)", Op<E, unsigned>::call<fold_rows>},
    {"kmh_ngram(x, n)", Op<E, unsigned>::call<kmh_ngram>},
    {"attention(queries, keys, values, heads = 1, key_heads = 0, scale = 0, causal = 0, "
     "key_lengths = none, biases = none)",
     Op<E, E, E, unsigned, unsigned, double, bool, Us, Optional>::call<attention_of>},
    {"layer_norm(x, g, b, epsilon = 0)", Op<E, E, E, float>::call<layer_norm>},
    {"weight_norm(w, g)", Op<E, E>::call<weight_norm>},
    {"vanilla_lstm_gates(x, h, Wx, Wh, b, weightnoise_std = 0, forget_bias = 1)",
     Op<E, E, E, E, E, float, float>::call<vanilla_lstm_gates>},
    {"vanilla_lstm_gates_concat(xs, h, Wx, Wh, b, weightnoise_std = 0, forget_bias = 1)",
     Op<List, E, E, E, E, float, float>::call<vanilla_lstm_gates_concat>},
    {"vanilla_lstm_gates_dropout(x, h, Wx, Wh, b, dropout_mask_x, dropout_mask_h, "
     "weightnoise_std = 0, forget_bias = 1)",
     Op<E, E, E, E, E, E, E, float, float>::call<vanilla_lstm_gates_dropout>},
    {"vanilla_lstm_gates_dropout_concat(xs, h, Wx, Wh, b, dropout_mask_x, dropout_mask_h, "
     "weightnoise_std = 0, forget_bias = 1)",
     Op<List, E, E, E, E, E, E, float, float>::call<vanilla_lstm_gates_dropout_concat>},
    {"vanilla_lstm_c(c, gates)", Op<E, E>::call<vanilla_lstm_c>},
    {"vanilla_lstm_h(c, gates)", Op<E, E>::call<vanilla_lstm_h>},
    {"lstm_cell(sums, cells, forget_bias = 0)", Op<List, List, float>::call<lstm_cell_of>},
    {"lstm_step(sums, cells, forget_bias = 0)", Op<List, List, float>::call<lstm_step_of>},
    {"lstm_sequence(sums, Wh, forget_bias = 0, reverse = 0, h = none, c = none)",
     Op<E, E, float, bool, Optional, Optional>::call<lstm_sequence_of>},
    {"gated(x, gate)", Op<E, E>::call<gated>},
    {"coupled_update(gate, content, before)", Op<E, E, E>::call<coupled_update>},
};

}  // namespace

const Table<Expression>& operations() {
  static const Table<Expression> table(kRows);
  return table;
}

}  // namespace dynet::c
