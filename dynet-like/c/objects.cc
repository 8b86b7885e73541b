#include "dynet-like/c/call.h"
#include "dynet-like/layers/recurrent/coupled_lstm.h"
#include "dynet-like/layers/recurrent/gru.h"
#include "dynet-like/layers/recurrent/lstm.h"
#include "dynet-like/layers/recurrent/rnn.h"
#include "dynet-like/layers/recurrent/tree_lstm.h"
#include "dynet-like/param/init.h"
#include "dynet-like/train/adam.h"
#include "dynet-like/train/adaptive.h"
#include "dynet-like/train/exponentiated.h"
#include "dynet-like/train/sgd.h"

// The kinds of networks, trainers and initializers.

namespace dynet::c {
namespace {

using M = ParameterCollection&;
using U = unsigned;
using At = SourceLocation;

template <class T, class... A>
std::unique_ptr<Trainer> trainer(M model, A... arguments, At) {
  return std::make_unique<T>(model, arguments...);
}
// Settings of trainers and initializers are numbers.
template <class T, class... A>
constexpr auto kTrainer =
    Function<std::unique_ptr<Trainer>, M, A...>::template call<trainer<T, A...>>;

constexpr Table<std::unique_ptr<Trainer>>::Row kTrainers[] = {
    {"sgd(learning_rate = 0.1)", kTrainer<SimpleSGDTrainer, float>},
    {"cyclical_sgd(lowest = 0.01, highest = 0.1, step_size = 2000, gamma = 1)",
     kTrainer<CyclicalSGDTrainer, float, float, float, float>},
    {"momentum_sgd(learning_rate = 0.01, momentum = 0.9)",
     kTrainer<MomentumSGDTrainer, float, float>},
    {"adagrad(learning_rate = 0.1, eps = 1e-20)", kTrainer<AdagradTrainer, float, float>},
    {"adadelta(eps = 1e-6, rho = 0.95)", kTrainer<AdadeltaTrainer, float, float>},
    {"rmsprop(learning_rate = 0.1, eps = 1e-20, rho = 0.95)",
     kTrainer<RMSPropTrainer, float, float, float>},
    {"adam(learning_rate = 0.001, beta_1 = 0.9, beta_2 = 0.999, eps = 1e-8)",
     kTrainer<AdamTrainer, float, float, float, float>},
    {"amsgrad(learning_rate = 0.001, beta_1 = 0.9, beta_2 = 0.999, eps = 1e-8)",
     kTrainer<AmsgradTrainer, float, float, float, float>},
    {"adamw(learning_rate = 0.001, beta_1 = 0.9, beta_2 = 0.999, eps = 1e-8, weight_decay = 0.01)",
     kTrainer<AdamWTrainer, float, float, float, float, float>},
    {"eg(learning_rate = 0.1, momentum = 0.9, ne = 0)", kTrainer<EGTrainer, float, float, float>},
};

template <class T>
Network<RNNBuilder> rnn(M model, U layers, U input, U hidden, At) {
  return Network<RNNBuilder>::of(T(layers, input, hidden, model));
}
template <class T>
Network<RNNBuilder> lstm(M model, U layers, U input, U hidden, bool normalized, float forget_bias,
                         At) {
  return Network<RNNBuilder>::of(T(layers, input, hidden, model, normalized, forget_bias));
}
using Rnn = Function<Network<RNNBuilder>, M, U, U, U>;
using Lstm = Function<Network<RNNBuilder>, M, U, U, U, bool, float>;

constexpr Table<Network<RNNBuilder>>::Row kRnns[] = {
    {"simple_rnn(layers, input, hidden)", Rnn::call<rnn<SimpleRNNBuilder>>},
    {"gru(layers, input, hidden)", Rnn::call<rnn<GRUBuilder>>},
    {"lstm(layers, input, hidden, layer_norm = 0, forget_bias = 1)",
     Lstm::call<lstm<VanillaLSTMBuilder>>},
    {"sparse_lstm(layers, input, hidden, layer_norm = 0, forget_bias = 1)",
     Lstm::call<lstm<SparseLSTMBuilder>>},
    {"compact_lstm(layers, input, hidden)", Rnn::call<rnn<CompactVanillaLSTMBuilder>>},
    {"coupled_lstm(layers, input, hidden)", Rnn::call<rnn<CoupledLSTMBuilder>>},
    {"fast_lstm(layers, input, hidden)", Rnn::call<rnn<FastLSTMBuilder>>},
    {"deep_lstm(layers, input, hidden)", Rnn::call<rnn<DeepLSTMBuilder>>},
};

template <class T>
Network<TreeLSTMBuilder> tree(M model, U layers, U input, U hidden, At) {
  return Network<TreeLSTMBuilder>::of(T(layers, input, hidden, model));
}
Network<TreeLSTMBuilder> nary_tree(M model, U children, U layers, U input, U hidden, At) {
  return Network<TreeLSTMBuilder>::of(NaryTreeLSTMBuilder(children, layers, input, hidden, model));
}
using Tree = Function<Network<TreeLSTMBuilder>, M, U, U, U>;

constexpr Table<Network<TreeLSTMBuilder>>::Row kTrees[] = {
    {"nary_tree_lstm(children, layers, input, hidden)",
     Function<Network<TreeLSTMBuilder>, M, U, U, U, U>::call<nary_tree>},
    {"child_sum_tree_lstm(layers, input, hidden)", Tree::call<tree<ChildSumTreeLSTMBuilder>>},
    {"unidirectional_tree_lstm(layers, input, hidden)",
     Tree::call<tree<UnidirectionalTreeLSTMBuilder>>},
    {"bidirectional_tree_lstm(layers, input, hidden)",
     Tree::call<tree<BidirectionalTreeLSTMBuilder>>},
};

using Init = std::unique_ptr<ParameterInit>;
template <class T, class... A>
Init initializer(A... arguments, At) {
  return std::make_unique<T>(arguments...);
}
template <class T, class... A>
constexpr auto kInit = Function<Init, A...>::template call<initializer<T, A...>>;

// For a table its number of rows counts; "glorot" of a table means this one.
template <bool IsLookup>
Init glorot(float gain, At) {
  return std::make_unique<ParameterInitGlorot>(IsLookup, gain);
}

constexpr Table<Init>::Row kInitializers[] = {
    {"glorot(gain = 1)", Function<Init, float>::call<glorot<false>>},
    {"table_glorot(gain = 1)", Function<Init, float>::call<glorot<true>>},
    {"normal(mean = 0, variance = 1)", kInit<ParameterInitNormal, float, float>},
    {"truncated_normal(mean = 0, variance = 1, cutoff = 2)",
     kInit<ParameterInitTruncatedNormal, float, float, float>},
    {"uniform(left, right)", kInit<ParameterInitUniform, float, float>},
    {"constant(value)", kInit<ParameterInitConst, float>},
    {"identity()", kInit<ParameterInitIdentity>},
    {"he(gain = 1.41421356)", kInit<ParameterInitHe, float>},
    {"saxe(gain = 1)", kInit<ParameterInitSaxe, float>},
};

}  // namespace

const Table<std::unique_ptr<Trainer>>& trainers() {
  static const Table<std::unique_ptr<Trainer>> table(kTrainers);
  return table;
}
const Table<Network<RNNBuilder>>& rnns() {
  static const Table<Network<RNNBuilder>> table(kRnns);
  return table;
}
const Table<Network<TreeLSTMBuilder>>& trees() {
  static const Table<Network<TreeLSTMBuilder>> table(kTrees);
  return table;
}
const Table<Init>& initializers() {
  static const Table<Init> table(kInitializers);
  return table;
}

}  // namespace dynet::c
