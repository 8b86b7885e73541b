#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/recurrent/lstm.h"
#include "dynet-like/layers/support.h"

namespace dynet {

/// A stack whose content a recurrent network has read, from the bottom to the top (Dyer,
/// Ballesteros, Ling, Matthews, Smith 2015, "Transition-based dependency parsing with stack long
/// short-term memory"). StackRNN::start creates it.
///
/// A value type: a copy takes constant time and is independent, but shares the steps of the
/// network, for example one copy per hypothesis of a beam. Nodes of popped elements stay in the
/// graph.
///
/// A default-constructed stack has no graph: all functions but `empty` and `size` throw
/// ArgumentError. A call that throws leaves the stack unchanged.
class RNNStack {
 public:
  RNNStack() = default;

  /// Pushes x {input}, or a batch: one step of the network.
  void push(const Expression& x, SourceLocation at = SourceLocation::current());
  /// Removes the top element. Throws ArgumentError if the stack is empty.
  void pop(SourceLocation at = SourceLocation::current());
  /// The output of the network after reading the stack: {hidden}. The output of an empty stack
  /// depends on parameters only.
  Expression top(SourceLocation at = SourceLocation::current()) const;
  /// Returns whether the stack is empty.
  bool empty() const { return size_ == 0; }
  /// Number of elements.
  unsigned size() const { return size_; }

 private:
  template <class Builder>
  friend class StackRNN;
  /// Steps shared by all copies.
  struct Steps {
    std::unique_ptr<RNNBuilder> network;
    std::vector<Expression> outputs;  // by step
  };
  RNNStack(std::unique_ptr<RNNBuilder> network, const Expression& bottom, SourceLocation at);
  void need_graph(const char* who, SourceLocation at) const;
  void step(const Expression& x, SourceLocation at);

  std::shared_ptr<Steps> steps_;
  RNNPointer top_;  // for the empty stack: the step that read the bottom vector
  unsigned size_ = 0;
};

/// Parameters of stacks, with a recurrent network of any kind. The network first reads a trained
/// vector b {input}, the bottom of every stack: with f(h, x) for one step and h(S) for the state
/// after reading S,
///
///     h(empty) = f(0, b),   h(S, x) = f(h(S), x),   top(S) = output(h(S))
///
/// so that after any pushes and pops the top has the same bits as if only the remaining elements
/// had been pushed.
///
/// `new_graph` must be called first; without it `start` throws ArgumentError. A call that throws
/// leaves the layer unchanged.
template <class Builder>
class StackRNN {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned layers = 1;  ///< of the network
    unsigned input = 0;   ///< size of an element
    unsigned hidden = 0;  ///< size of the network's outputs

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input& hidden;
    }
  };

  /// Throws ArgumentError for a size or a number of layers of zero.
  StackRNN(ParameterCollection& model, const Settings& settings) : settings_(settings) {
    if (settings.layers == 0 || settings.input == 0 || settings.hidden == 0)
      throw ArgumentError("StackRNN: needs layers and sizes above zero, got " +
                          std::to_string(settings.layers) + ", " + std::to_string(settings.input) +
                          " and " + std::to_string(settings.hidden));
    collection_ = model.add_subcollection("stack-rnn");
    bottom_ = collection_.add_parameters({settings.input});
    network_ = Builder(settings.layers, settings.input, settings.hidden, collection_);
  }
  /// An empty layer, to be assigned to.
  StackRNN() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current()) {
    if (settings_.input == 0) nn_detail::fail("new_graph", "the layer is empty", at);
    const Expression bottom = nn_detail::put(cg, bottom_, update, at);
    network_.new_graph(cg, update, at);
    bottom_node_ = bottom;
  }
  /// An empty stack. It is valid as long as its graph, independent of the layer's lifetime.
  RNNStack start(SourceLocation at = SourceLocation::current()) const {
    if (!bottom_node_.pg) nn_detail::fail("start", "call new_graph first", at);
    return RNNStack(std::make_unique<Builder>(network_), bottom_node_, at);
  }

  /// Dropout of stacks started after this call, see RNNBuilder; a stack and its copies share one
  /// mask for all elements of a batch. Throws ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate) { network_.set_dropout(rate); }
  /// Turns dropout off.
  void disable_dropout() { network_.disable_dropout(); }

  /// Collection of the parameters: b, then the parameters of the network.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  Parameter bottom_;
  Builder network_;
  Expression bottom_node_;
};

/// StackRNN with the network of the paper.
using StackLSTM = StackRNN<VanillaLSTMBuilder>;

}  // namespace dynet
