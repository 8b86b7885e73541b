#pragma once

#if __cplusplus < 202002L
#error "dynet-like/dynet.h needs C++20; the headers of DyNet's names do with C++17"
#endif

/// dynet-like: dynamic neural networks for language. A whole program, compiled by a test:
///
///     dynet::ParameterCollection model;
///     dynet::AdamTrainer trainer(model, 0.05f);
///     dynet::Parameter W = model.add_parameters({8, 2}), b = model.add_parameters({8});
///     dynet::Parameter V = model.add_parameters({1, 8}), a = model.add_parameters({1});
///     for (int i = 0; i < 4000; ++i) {
///       dynet::ComputationGraph cg;  // a new graph for each sample
///       const float x1 = i % 2, x2 = i / 2 % 2;
///       dynet::Expression x = dynet::input(cg, {2}, {x1, x2});
///       dynet::Expression h = dynet::tanh(dynet::parameter(cg, W) * x + dynet::parameter(cg, b));
///       dynet::Expression y = dynet::parameter(cg, V) * h + dynet::parameter(cg, a);
///       cg.backward(dynet::squared_distance(y, dynet::input(cg, x1 != x2)));
///       trainer.update();
///     }

// These headers take the compiler as long as all others together, so a program includes those that
// it uses itself:
//   dynet-like/base/workers.h
//   dynet-like/c/dynet.h
//   dynet-like/distributed/batch_trainer.h
//   dynet-like/distributed/distributed_trainer.h
//   dynet-like/distributed/in_process.h
//   dynet-like/distributed/mpi/world.h
//   dynet-like/io/checkpoints.h
//   dynet-like/io/contents.h
//   dynet-like/io/dict.h
//   dynet-like/io/int8.h
//   dynet-like/io/safetensors.h
//   dynet-like/io/save.h
//   dynet-like/io/word_vectors.h
//   dynet-like/param/storage.h
//   dynet-like/serve/batcher.h
//   dynet-like/structures/ctc/ctc_decoding.h
//   dynet-like/train/update_loops.h

// In the order in which data flows.
// clang-format off
#include "dynet-like/base/errors.h"
#include "dynet-like/base/isa.h"
#include "dynet-like/base/version.h"
#include "dynet-like/shape/dim.h"
#include "dynet-like/shape/tensor.h"
#include "dynet-like/param/init.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/expression.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/softmax.h"
#include "dynet-like/ops/losses.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/flow.h"
#include "dynet-like/ops/convolution.h"
#include "dynet-like/ops/attention.h"
#include "dynet-like/structures/crf/op.h"
#include "dynet-like/structures/span_trees/op.h"
#include "dynet-like/structures/dependency_trees/op.h"
#include "dynet-like/structures/ctc/op.h"
#include "dynet-like/ops/linear_algebra.h"
#include "dynet-like/ops/normalization.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/recurrent.h"
#include "dynet-like/structures/semi_crf/op.h"
#include "dynet-like/train/adam.h"
#include "dynet-like/train/adaptive.h"
#include "dynet-like/train/exponentiated.h"
#include "dynet-like/train/schedule.h"
#include "dynet-like/train/sgd.h"
#include "dynet-like/layers/vocabulary/adaptive_softmax.h"
#include "dynet-like/layers/search/beam_search.h"
#include "dynet-like/layers/transformer/biaffine.h"
#include "dynet-like/layers/recurrent/bidirectional.h"
#include "dynet-like/layers/recurrent/c2w.h"
#include "dynet-like/structures/crf/chain_crf.h"
#include "dynet-like/layers/transformer/char_cnn.h"
#include "dynet-like/layers/vocabulary/copying.h"
#include "dynet-like/layers/recurrent/coupled_lstm.h"
#include "dynet-like/structures/dependency_trees/dependency_decoding.h"
#include "dynet-like/layers/transformer/feed_forward.h"
#include "dynet-like/layers/recurrent/gru.h"
#include "dynet-like/layers/vocabulary/label_smoothing.h"
#include "dynet-like/layers/transformer/linear.h"
#include "dynet-like/layers/recurrent/lstm.h"
#include "dynet-like/layers/transformer/multi_head_attention.h"
#include "dynet-like/layers/transformer/norms.h"
#include "dynet-like/layers/transformer/positions.h"
#include "dynet-like/layers/transformer/residual_convolution.h"
#include "dynet-like/layers/recurrent/rnn.h"
#include "dynet-like/layers/vocabulary/sampled_softmax.h"
#include "dynet-like/structures/semi_crf/semi_crf.h"
#include "dynet-like/layers/vocabulary/softmax_builder.h"
#include "dynet-like/structures/span_trees/span_decoding.h"
#include "dynet-like/layers/recurrent/stack_lstm.h"
#include "dynet-like/layers/search/token_sampling.h"
#include "dynet-like/layers/transformer/transformer.h"
#include "dynet-like/layers/recurrent/tree_lstm.h"
#include "dynet-like/run/grad_check.h"
// clang-format on
