#include "tests/oracle/models.h"

#include <cmath>

namespace dynet::test {
namespace {

#define UNARY(NAME)                              \
  {                                              \
#NAME, [](Case & c) { return NAME(c.x[0]); } \
  }
#define BINARY(NAME)                                     \
  {                                                      \
#NAME, [](Case & c) { return NAME(c.x[0], c.x[1]); } \
  }

const Builders kElementwise = {
    UNARY(tanh),
    UNARY(logistic),
    UNARY(rectify),
    UNARY(exp),
    UNARY(log),
    UNARY(sqrt),
    UNARY(square),
    UNARY(cube),
    UNARY(abs),
    UNARY(log_sigmoid),
    UNARY(softsign),
    UNARY(selu),
    UNARY(erf),
    UNARY(lgamma),
    UNARY(sin),
    UNARY(cos),
    UNARY(tan),
    UNARY(asin),
    UNARY(acos),
    UNARY(atan),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(asinh),
    UNARY(acosh),
    UNARY(atanh),
    {"elu", [](Case& c) { return elu(c.x[0], c.a[0]); }},
    {"silu", [](Case& c) { return silu(c.x[0], c.a[0]); }},
    {"add", [](Case& c) { return c.x[0] + c.x[1]; }},
    {"subtract", [](Case& c) { return c.x[0] - c.x[1]; }},
    BINARY(cmult),
    BINARY(cdiv),
    BINARY(pow),
    {"max", [](Case& c) { return max(c.x); }},
    {"min", [](Case& c) { return min(c.x); }},
    {"sum", [](Case& c) { return sum(c.x); }},
    {"average", [](Case& c) { return average(c.x); }},
    {"logsumexp", [](Case& c) { return logsumexp(c.x); }},
};

const Builders kReductions = {
    UNARY(sum_elems),
    UNARY(mean_elems),
    UNARY(std_elems),
    UNARY(squared_norm),
    UNARY(l2_norm),
    UNARY(sum_batches),
    UNARY(mean_batches),
    UNARY(std_batches),
    {"moment_elems", [](Case& c) { return moment_elems(c.x[0], c.setting(0)); }},
    {"sum_dim", [](Case& c) { return sum_dim(c.x[0], c.settings()); }},
    {"mean_dim", [](Case& c) { return mean_dim(c.x[0], c.settings()); }},
    {"std_dim", [](Case& c) { return std_dim(c.x[0], c.settings()); }},
    {"max_dim", [](Case& c) { return max_dim(c.x[0], c.setting(0)); }},
    {"min_dim", [](Case& c) { return min_dim(c.x[0], c.setting(0)); }},
    {"cumsum", [](Case& c) { return cumsum(c.x[0], c.setting(0)); }},
    {"softmax", [](Case& c) { return softmax(c.x[0], c.setting(0)); }},
    UNARY(log_softmax),
    {"logsumexp_dim", [](Case& c) { return logsumexp_dim(c.x[0], c.setting(0)); }},
    {"pickneglogsoftmax", [](Case& c) { return pickneglogsoftmax(c.x[0], c.settings()); }},
    BINARY(l1_distance),
    BINARY(squared_distance),
    BINARY(binary_log_loss),
    BINARY(dot_product),
    {"huber_distance", [](Case& c) { return huber_distance(c.x[0], c.x[1], c.a[0]); }},
    {"pairwise_rank_loss", [](Case& c) { return pairwise_rank_loss(c.x[0], c.x[1], c.a[0]); }},
    {"hinge", [](Case& c) { return hinge(c.x[0], c.settings(1), c.a[0]); }},
    {"poisson_loss", [](Case& c) { return poisson_loss(c.x[0], c.settings()); }},
};

const Builders kFurther = {
    {"negate", [](Case& c) { return -c.x[0]; }},
    {"constant_minus", [](Case& c) { return c.a[0] - c.x[0]; }},
    {"constant_plus", [](Case& c) { return c.a[0] + c.x[0]; }},
    {"scale", [](Case& c) { return c.x[0] * c.a[0]; }},
    {"divide", [](Case& c) { return c.x[0] / c.a[0]; }},
    {"round", [](Case& c) { return round(c.x[0], GradientMode::straight_through_gradient); }},
    {"ceil", [](Case& c) { return ceil(c.x[0], GradientMode::straight_through_gradient); }},
    {"floor", [](Case& c) { return floor(c.x[0], GradientMode::straight_through_gradient); }},
    {"argmax", [](Case& c) { return argmax(c.x[0], GradientMode::straight_through_gradient); }},
    UNARY(nobackprop),
    UNARY(flip_gradient),
    {"scale_gradient", [](Case& c) { return scale_gradient(c.x[0], c.a[0]); }},
    BINARY(colwise_add),
    BINARY(trace_of_product),
    UNARY(sparsemax),
    {"sparsemax_loss", [](Case& c) { return sparsemax_loss(c.x[0], c.settings()); }},
    BINARY(constrained_softmax),
    {"restricted_log_softmax", [](Case& c) { return log_softmax(c.x[0], c.settings()); }},
    {"hinge_dim", [](Case& c) { return hinge_dim(c.x[0], c.settings(1), c.setting(0)); }},
    {"moment_dim", [](Case& c) { return moment_dim(c.x[0], c.settings(1), c.setting(0)); }},
    {"moment_batches", [](Case& c) { return moment_batches(c.x[0], c.setting(0)); }},
    UNARY(sum_rows),
    UNARY(sum_cols),
    UNARY(average_cols),
    {"pick_batch_elems", [](Case& c) { return pick_batch_elems(c.x[0], c.settings()); }},
    {"concatenate_to_batch", [](Case& c) { return concatenate_to_batch(c.x); }},
    {"reshape",
     [](Case& c) {
       return reshape(c.x[0], {c.setting(0), c.setting(1)});
     }},
    {"vanilla_lstm_gates",
     [](Case& c) { return vanilla_lstm_gates(c.x[0], c.x[1], c.x[2], c.x[3], c.x[4]); }},
    BINARY(vanilla_lstm_c),
    BINARY(vanilla_lstm_h),
};

const Builders kStructure = {
    {"matmul", [](Case& c) { return c.x[0] * c.x[1]; }},
    {"affine_transform", [](Case& c) { return affine_transform(c.x); }},
    UNARY(inverse),
    UNARY(logdet),
    {"contract3d_1d", [](Case& c) { return contract3d_1d(c.x[0], c.x[1], c.x[2]); }},
    {"contract3d_1d_1d", [](Case& c) { return contract3d_1d_1d(c.x[0], c.x[1], c.x[2], c.x[3]); }},
    BINARY(circ_conv),
    BINARY(circ_corr),
    {"conv2d",
     [](Case& c) {
       return conv2d(c.x[0], c.x[1], c.x[2], {c.setting(0), c.setting(1)}, c.setting(2) != 0);
     }},
    {"maxpooling2d",
     [](Case& c) {
       return maxpooling2d(c.x[0], {c.setting(0), c.setting(1)}, {c.setting(2), c.setting(3)});
     }},
    BINARY(filter1d_narrow),
    {"kmax_pooling", [](Case& c) { return kmax_pooling(c.x[0], c.setting(0), c.setting(1)); }},
    {"fold_rows", [](Case& c) { return fold_rows(c.x[0], c.setting(0)); }},
    {"kmh_ngram", [](Case& c) { return kmh_ngram(c.x[0], c.setting(0)); }},
    {"layer_norm", [](Case& c) { return layer_norm(c.x[0], c.x[1], c.x[2], c.a[0]); }},
    BINARY(weight_norm),
    {"pick", [](Case& c) { return pick(c.x[0], c.settings(1), c.setting(0)); }},
    {"pick_range",
     [](Case& c) { return pick_range(c.x[0], c.setting(0), c.setting(1), c.setting(2)); }},
    {"select_rows", [](Case& c) { return select_rows(c.x[0], c.settings()); }},
    {"select_cols", [](Case& c) { return select_cols(c.x[0], c.settings()); }},
    {"strided_select",
     [](Case& c) {
       return strided_select(c.x[0], {static_cast<int>(c.a[0]), static_cast<int>(c.a[1])});
     }},
    {"transpose", [](Case& c) { return transpose(c.x[0], c.settings()); }},
    {"concatenate", [](Case& c) { return concatenate(c.x, c.setting(0)); }},
};

/// Outputs of a network for the columns of x, as columns. Operands: x, then the parameters.
template <class Network>
Expression transduced(Case& c) {
  const unsigned layers = c.setting(0), hidden = c.setting(1);
  const Dim d = c.x[0].dim();
  Network network(layers, d.rows(), hidden, c.model);
  c.lend(network.get_parameter_collection(), 1);
  network.new_graph(c.g);
  network.start_new_sequence();
  std::vector<Expression> outputs;
  for (unsigned t = 0; t < d.cols(); ++t) outputs.push_back(network.add_input(pick(c.x[0], t, 1)));
  return concatenate_cols(outputs);
}

/// Losses of a perceptron with a normalized hidden layer. Settings: classes.
Expression perceptron(Case& c) {
  const auto& x = c.x;
  const Expression hidden =
      layer_norm(rectify(affine_transform({x[1], x[2], x[0]})), x[3], x[4], 1e-5f);
  return pickneglogsoftmax(affine_transform({x[5], x[6], dropout(hidden, 0.0f)}), c.settings());
}

/// Attention of the columns of x with projections Wq, Wk, Wv and an output layer Wo, plus x.
Expression attention(Case& c) {
  const auto& x = c.x;
  const Expression q = x[1] * x[0], k = x[2] * x[0], v = x[3] * x[0];
  const float scale = 1 / std::sqrt(static_cast<float>(q.dim().rows()));
  const Expression weights = softmax(transpose(k) * q * scale);
  return x[0] + x[4] * (v * weights);
}

/// Losses of a convolutional classifier. Settings: classes.
Expression convolutional(Case& c) {
  const auto& x = c.x;
  const Expression maps = rectify(conv2d(x[0], x[1], x[2], {1, 1}, false));
  const Expression pooled = maxpooling2d(maps, {2, 2}, {2, 2});
  const unsigned n = static_cast<unsigned>(pooled.dim().batch_size());
  return pickneglogsoftmax(affine_transform({x[4], x[3], reshape(pooled, {n})}), c.settings());
}

const Builders kModels = {
    {"model_lstm", transduced<VanillaLSTMBuilder>},
    {"model_rnn", transduced<SimpleRNNBuilder>},
    {"model_gru", transduced<GRUBuilder>},
    {"model_mlp", perceptron},
    {"model_attention", attention},
    {"model_cnn", convolutional},
};

}  // namespace

Builders all_builders() {
  Builders all = structures();
  all.insert(transformers().begin(), transformers().end());
  all.insert(softmaxes().begin(), softmaxes().end());
  for (const Builders* some : {&kElementwise, &kReductions, &kFurther, &kStructure, &kModels})
    all.insert(some->begin(), some->end());
  return all;
}

}  // namespace dynet::test
