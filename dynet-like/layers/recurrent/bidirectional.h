#pragma once

#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/recurrent/rnn.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/selection.h"

namespace dynet {

/// Bidirectional recurrent network with any kind of builder (Schuster and Paliwal 1997), in layers:
/// at each position a layer reads the concatenated outputs of both directions of the layer below.
/// `hidden_dim`, the size of an output, is half forward and half backward.
template <class Builder>
class BiRNNBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    std::vector<typename Builder::Settings> builders;  ///< forward, backward, layer by layer

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& builders;
    }
  };

  /// `options` are additional arguments of the builder's constructor. Throws ArgumentError unless
  /// `hidden_dim` is even and `layers` is above zero.
  template <class... Options>
  BiRNNBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim, ParameterCollection& model,
               Options... options)
      : collection_(add_collection(model, layers, hidden_dim)) {
    for (unsigned k = 0; k < 2 * layers; ++k)
      builders_.emplace_back(1u, k < 2 ? input_dim : hidden_dim, hidden_dim / 2, collection_,
                             options...);
  }
  /// Throws ArgumentError unless the settings have two directions for each layer.
  BiRNNBuilder(ParameterCollection& model, const Settings& s)
      : collection_(add_collection(model, s)) {
    for (const auto& each : s.builders) builders_.emplace_back(collection_, each);
  }
  Settings settings() const {
    Settings s;
    for (const Builder& b : builders_) s.builders.push_back(b.settings());
    return s;
  }

  /// Adds the parameters to the graph; without `update` they get no gradient. After an exception
  /// there is no graph until the next call.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current()) {
    ready_ = false;
    for (Builder& b : builders_) b.new_graph(cg, update, at);
    ready_ = true;
  }
  /// The output {hidden_dim} at each position of a sequence. For padded minibatches `masks` has an
  /// expression {1} for each position, with the batch of x: 1 for a word, 0 for padding, at either
  /// end. The output at padding is that of the nearest word read before it, or zero. Throws
  /// ArgumentError.
  std::vector<Expression> transduce(const std::vector<Expression>& xs,
                                    const std::vector<Expression>& masks = {},
                                    SourceLocation at = SourceLocation::current()) {
    if (!ready_) nn_detail::fail("transduce", "call new_graph first", at);
    if (!masks.empty() && masks.size() != xs.size())
      nn_detail::fail("transduce",
                      "needs a mask for each of the " + std::to_string(xs.size()) +
                          " inputs, or none, got " + std::to_string(masks.size()),
                      at);
    std::vector<Expression> values = xs;
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      const auto run = [&](Builder& b, bool backward) {
        std::vector<Expression> outputs(values.size());
        b.start_new_sequence({}, at);
        for (std::size_t k = 0; k < values.size(); ++k) {
          const std::size_t t = backward ? values.size() - 1 - k : k;
          outputs[t] = masks.empty() ? b.add_input(values[t], at)
                                     : b.add_masked_input(values[t], masks[t], at);
        }
        return outputs;
      };
      const auto f = run(forward(layer), false), r = run(backward(layer), true);
      for (std::size_t t = 0; t < values.size(); ++t) values[t] = concatenate({f[t], r[t]}, 0, at);
    }
    return values;
  }

  /// The outputs {hidden_dim,T} of the columns of `xs` {input_dim,T}, by
  /// RNNBuilder::transduce_columns.
  Expression transduce_columns(const Expression& xs,
                               SourceLocation at = SourceLocation::current()) {
    if (!ready_) nn_detail::fail("transduce_columns", "call new_graph first", at);
    Expression values = xs;
    for (Builder& b : builders_) b.start_new_sequence({}, at);
    for (std::size_t layer = 0; layer < layers(); ++layer)
      values = concatenate({forward(layer).transduce_columns(values, false, at),
                            backward(layer).transduce_columns(values, true, at)},
                           0, at);
    return values;
  }

  /// Sets the dropout rates of all builders.
  template <class... Rates>
  void set_dropout(Rates... rates) {
    for (Builder& b : builders_) b.set_dropout(rates...);
  }
  void disable_dropout() {
    for (Builder& b : builders_) b.disable_dropout();
  }

  /// The number of layers.
  std::size_t layers() const { return builders_.size() / 2; }
  /// The two builders of a layer; after `transduce`, `back()` is the last output of each.
  Builder& forward(std::size_t layer) { return builders_.at(2 * layer); }
  Builder& backward(std::size_t layer) { return builders_.at(2 * layer + 1); }
  ParameterCollection get_parameter_collection() const { return collection_; }

 private:
  static ParameterCollection add_collection(ParameterCollection& model, unsigned layers,
                                            unsigned hidden_dim) {
    if (layers == 0 || hidden_dim % 2)
      throw ArgumentError("BiRNNBuilder: needs a layer and an even hidden size, got " +
                          std::to_string(layers) + " and " + std::to_string(hidden_dim));
    return model.add_subcollection("bi-rnn-builder");
  }
  static ParameterCollection add_collection(ParameterCollection& model, const Settings& s) {
    if (s.builders.empty() || s.builders.size() % 2)
      throw ArgumentError("BiRNNBuilder: needs the settings of two builders for each layer, got " +
                          std::to_string(s.builders.size()));
    return model.add_subcollection("bi-rnn-builder");
  }

  ParameterCollection collection_;
  std::vector<Builder> builders_;  // forward, backward, layer by layer
  bool ready_ = false;
};

}  // namespace dynet
