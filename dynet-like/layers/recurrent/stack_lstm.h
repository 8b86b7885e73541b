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
/// short-term memory"): StackRNN makes it.
///
/// A value. A copy takes the same time whatever the size, goes its own way, and shares what was
/// read: one for each hypothesis of a beam, say. What has been popped stays in the graph.
///
/// A stack that StackRNN has not made has no graph: all but `empty` and `size` throw ArgumentError.
/// After an error a stack is as before.
class RNNStack {
 public:
  RNNStack() = default;

  /// Puts x {input}, or a batch, on top: one step of the network.
  void push(const Expression& x, SourceLocation at = SourceLocation::current());
  /// Takes off what was pushed last. Throws ArgumentError if there is nothing.
  void pop(SourceLocation at = SourceLocation::current());
  /// The output of the network for all that is on the stack: {hidden}. That of an empty stack is
  /// trained.
  Expression top(SourceLocation at = SourceLocation::current()) const;
  /// Whether nothing is on it.
  bool empty() const { return size_ == 0; }
  /// How much is on it.
  unsigned size() const { return size_; }

 private:
  template <class Builder>
  friend class StackRNN;
  /// The steps of all copies.
  struct Steps {
    std::unique_ptr<RNNBuilder> network;
    std::vector<Expression> outputs;  // by step
  };
  RNNStack(std::unique_ptr<RNNBuilder> network, const Expression& bottom, SourceLocation at);
  void need_graph(const char* who, SourceLocation at) const;
  void step(const Expression& x, SourceLocation at);

  std::shared_ptr<Steps> steps_;
  RNNPointer top_;  // of an empty one: the step that read what lies below
  unsigned size_ = 0;
};

/// The parameters of stacks that a network of any kind reads. Below everything lies a trained
/// vector b {input}, which the network reads first: with f(h, x) for one of its steps, and h(S) for
/// its state,
///
///     h(empty) = f(0, b),   h(S, x) = f(h(S), x),   top(S) = output(h(S))
///
/// so that after any pushes and pops the top has the same bits as if only what is left had been
/// pushed.
///
/// `new_graph` comes first; without it `start` throws ArgumentError. After an error the layer is as
/// before.
template <class Builder>
class StackRNN {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned layers = 1;  ///< of the network
    unsigned input = 0;   ///< size of what is pushed
    unsigned hidden = 0;  ///< of the network's outputs

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input& hidden;
    }
  };

  /// Throws ArgumentError for a size of zero and without a layer.
  StackRNN(ParameterCollection& model, const Settings& settings) : settings_(settings) {
    if (settings.layers == 0 || settings.input == 0 || settings.hidden == 0)
      throw ArgumentError("StackRNN: needs layers and sizes above zero, got " +
                          std::to_string(settings.layers) + ", " + std::to_string(settings.input) +
                          " and " + std::to_string(settings.hidden));
    collection_ = model.add_subcollection("stack-rnn");
    bottom_ = collection_.add_parameters({settings.input});
    network_ = Builder(settings.layers, settings.input, settings.hidden, collection_);
  }
  /// Without parameters, to be assigned to.
  StackRNN() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current()) {
    if (settings_.input == 0) nn_detail::fail("new_graph", "the layer is empty", at);
    const Expression bottom = nn_detail::put(cg, bottom_, update, at);
    network_.new_graph(cg, update, at);
    bottom_node_ = bottom;
  }
  /// An empty stack. It is good as long as the graph, whatever becomes of the layer.
  RNNStack start(SourceLocation at = SourceLocation::current()) const {
    if (!bottom_node_.pg) nn_detail::fail("start", "call new_graph first", at);
    return RNNStack(std::make_unique<Builder>(network_), bottom_node_, at);
  }

  /// Dropout of stacks started after this call, see RNNBuilder: one mask for each stack and its
  /// copies, for all elements of a batch. Throws ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate) { network_.set_dropout(rate); }
  /// No dropout from now on.
  void disable_dropout() { network_.disable_dropout(); }

  /// Collection of the parameters: b, and those of the network.
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

/// The one of the paper.
using StackLSTM = StackRNN<VanillaLSTMBuilder>;

}  // namespace dynet
