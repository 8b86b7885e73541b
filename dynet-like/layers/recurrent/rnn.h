#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// A step of a recurrent network: an index into the tree of states; -1 is the initial state.
struct RNNPointer {
  int t = -1;  ///< number of the step
  RNNPointer() = default;
  explicit RNNPointer(int step) : t(step) {}
  /// Number of the step.
  operator int() const { return t; }  // NOLINT: as in DyNet
};

/// Base of recurrent networks: a tree of states over one graph. A default-constructed builder is
/// empty: `new_graph` throws ArgumentError until a builder with parameters is assigned to it.
///
/// Calls must be in the order `new_graph`, `start_new_sequence`, `add_input`; any other order
/// throws ArgumentError at the caller's line. Every step has a number (`state()`), and a step may
/// follow any earlier one. A call that throws leaves graph, sequence, state and masks of the
/// builder unchanged.
class RNNBuilder {
 public:
  virtual ~RNNBuilder() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// Clears all steps. `h_0`: the initial state, as `num_h0_components` expressions (cells first,
  /// then outputs), or empty for zeros.
  void start_new_sequence(const std::vector<Expression>& h_0 = {},
                          SourceLocation at = SourceLocation::current());
  /// Adds a step after the current state, or after `prev`. Returns the output of the top layer.
  Expression add_input(const Expression& x, SourceLocation at = SourceLocation::current());
  Expression add_input(const RNNPointer& prev, const Expression& x,
                       SourceLocation at = SourceLocation::current());
  /// Adds a step of a padded minibatch. Batch elements with mask 1 are updated; batch elements with
  /// mask 0 keep their state and repeat their last output, or zero before their first step. `mask`
  /// is {1} with the batch of x; other values interpolate. With padding at the end, `back` is the
  /// output of each sequence's last word; in a backward network padding comes first and keeps the
  /// initial state.
  Expression add_masked_input(const Expression& x, const Expression& mask,
                              SourceLocation at = SourceLocation::current());
  Expression add_masked_input(const RNNPointer& prev, const Expression& x, const Expression& mask,
                              SourceLocation at = SourceLocation::current());
  /// Reads the columns of `xs` {input_dim,T} after the current state, or after `prev`, with
  /// `reverse` from the last to the first, and returns the outputs of the top layer, column for
  /// column: {H,T}. The state after all of them is one step; no columns add none. A layer of an
  /// LSTM without layer normalization and without dropout of outputs is one node, if neither the
  /// state nor Wh has a batch that the columns lack; sequences of all lengths run together.
  Expression transduce_columns(const Expression& xs, bool reverse = false,
                               SourceLocation at = SourceLocation::current());
  Expression transduce_columns(const RNNPointer& prev, const Expression& xs, bool reverse = false,
                               SourceLocation at = SourceLocation::current());
  /// Adds a step after `prev` with the given outputs, or the given state; a state of cells alone
  /// keeps the outputs. Returns the output of the top layer.
  Expression set_h(const RNNPointer& prev, const std::vector<Expression>& h_new = {},
                   SourceLocation at = SourceLocation::current());
  Expression set_s(const RNNPointer& prev, const std::vector<Expression>& s_new = {},
                   SourceLocation at = SourceLocation::current());

  /// The current step.
  RNNPointer state() const { return current_; }
  /// Returns to the state before the current one; the nodes of the step stay in the graph.
  void rewind_one_step(SourceLocation at = SourceLocation::current());
  /// The predecessor of step `p`.
  RNNPointer get_head(const RNNPointer& p, SourceLocation at = SourceLocation::current()) const;

  /// Outputs of all layers at a step; empty for an initial state of zeros.
  std::vector<Expression> get_h(const RNNPointer& p,
                                SourceLocation at = SourceLocation::current()) const;
  /// The state at a step: cells, then outputs.
  std::vector<Expression> get_s(const RNNPointer& p,
                                SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> final_h(SourceLocation at = SourceLocation::current()) const {
    return get_h(RNNPointer(steps() - 1), at);
  }
  std::vector<Expression> final_s(SourceLocation at = SourceLocation::current()) const {
    return get_s(RNNPointer(steps() - 1), at);
  }
  /// Output of the top layer at the current state.
  Expression back(SourceLocation at = SourceLocation::current()) const;
  unsigned num_h0_components() const { return components_ * layers_; }

  /// Variational dropout (Gal and Ghahramani 2016): each sequence has one mask with rate `d` on the
  /// input of each layer and one with rate `d_h` on its previous output.
  void set_dropout(float d) { set_dropout(d, d); }
  void set_dropout(float d, float d_h);
  void disable_dropout() { set_dropout(0.0f, 0.0f); }
  /// Draws new masks for sequences in minibatches of `batch_size`. Without this call, the first
  /// input of a sequence draws its masks.
  void set_dropout_masks(unsigned batch_size = 1, SourceLocation at = SourceLocation::current());

  /// Copies the parameter values of another builder of the same kind and size.
  void copy(const RNNBuilder& other);
  /// Collection of the parameters; the reference is valid as long as the builder.
  ParameterCollection& get_parameter_collection() { return collection_; }
  const ParameterCollection& get_parameter_collection() const { return collection_; }

  /// The parameters of each layer, in DyNet's order, and their nodes in the graph of the last
  /// `new_graph`. Steps read `param_vars`: a program may use these nodes or replace them.
  std::vector<std::vector<Parameter>> params;
  std::vector<std::vector<Expression>> param_vars;

 protected:
  RNNBuilder() = default;
  /// `components`: 1 for networks whose state is their output, 2 for networks with cells. In a
  /// `deep` network every layer above the first reads the layer below and x, and the output
  /// concatenates all layers.
  RNNBuilder(unsigned components, unsigned layers, unsigned input_dim, unsigned hidden_dim,
             ParameterCollection collection, bool deep = false);

  /// Adds a parameter to the last layer of `params`; parameters are in the order of their creation.
  Parameter add(const Dim& d);
  Parameter add(const Dim& d, float value);
  /// State of a layer. `step` computes one layer and replaces the previous output `h` and the
  /// previous cell `c` (unused without cells); with `zero` both are empty and stand for zeros.
  struct LayerState {
    Expression h, c;
    bool zero;
  };
  virtual void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) = 0;

  /// Whether `sequence`, instead of `step`, computes a layer for all columns of `xs` at once: the
  /// state becomes those after each column, h and c {H,T}.
  virtual bool has_sequences() const { return false; }
  virtual void sequence(unsigned layer, const Expression& xs, bool reverse, LayerState& state,
                        SourceLocation at) {
    static_cast<void>(layer), static_cast<void>(xs), static_cast<void>(reverse),
        static_cast<void>(state), static_cast<void>(at);
  }

  /// Nodes of parameters, by layer.
  using Nodes = std::vector<std::vector<Expression>>;
  static void add_nodes(ComputationGraph& cg, const std::vector<std::vector<Parameter>>& parameters,
                        bool update, Nodes& nodes, SourceLocation at);
  /// Adds nodes of further parameters, or replaces elements of `vars`, which becomes `param_vars`
  /// if nothing throws.
  virtual void prepare_graph(ComputationGraph& cg, bool update, Nodes& vars, SourceLocation at) {
    static_cast<void>(cg), static_cast<void>(update), static_cast<void>(vars),
        static_cast<void>(at);
  }
  /// Input size of a layer.
  unsigned layer_input_dim(unsigned layer) const;
  /// Sets the rates of input, previous output and previous cell.
  void set_dropout_rates(float d, float d_h, float d_c);

  void need_sequence(const char* who, SourceLocation at) const;
  /// The node of parameter k of a layer.
  const Expression& node(unsigned layer, unsigned k) const { return param_vars[layer][k]; }
  /// Returns the graph of `new_graph`. Throws StaleExpressionError if it was cleared or destroyed.
  ComputationGraph& graph(SourceLocation at) const {
    param_vars.front().front().dim(at);
    return *graph_;
  }
  /// Device of the parameters' nodes.
  Device* device() const { return device_of(param_vars.front().front()); }
  /// Adds a step, computing its layers with `step`; a null mask stands for ones.
  Expression run_step(const RNNPointer& prev, const Expression& x, const Expression* mask,
                      const char* who, SourceLocation at);

  ParameterCollection collection_;
  unsigned layers_ = 0, input_dim_ = 0, hidden_dim_ = 0;
  float dropout_ = 0.0f, dropout_h_ = 0.0f, dropout_c_ = 0.0f;

 private:
  int steps() const { return static_cast<int>(heads_.size()); }
  void need_step(const char* who, int t, SourceLocation at) const;
  Expression at_step(int t, const Expression& e, SourceLocation at) const;
  LayerState previous(int t, unsigned layer, SourceLocation at) const;
  void draw_masks(unsigned batch_size, SourceLocation at);  // into spare_
  void drop(unsigned layer, Expression& x, LayerState& s, SourceLocation at) const;
  void hold(const Expression& mask, const Expression& stays, const LayerState& before,
            LayerState& s, SourceLocation at) const;
  Expression output_of(const Expression* h, SourceLocation at) const;
  Expression finish_step(const RNNPointer& prev, SourceLocation at, int column = -1);
  bool fits(RNNPointer prev, unsigned batch, SourceLocation at) const;
  Expression read_columns(RNNPointer prev, const Expression& xs, bool reverse, SourceLocation at);
  Expression read_sequence(RNNPointer prev, const Expression& xs, bool reverse, SourceLocation at);
  // The state after `prev`, or zeros, with its components from `first` on replaced by `part`.
  std::vector<Expression> replaced(const RNNPointer& prev, const std::vector<Expression>& part,
                                   unsigned first, SourceLocation at) const;

  bool deep_ = false;
  unsigned components_ = 1;
  ComputationGraph* graph_ = nullptr;
  bool reading_ = false;
  bool has_h0_ = false;
  bool has_masks_ = false;
  Nodes spare_vars_;               // replaces param_vars when complete
  std::vector<Expression> masks_;  // by layer: input, previous output, previous cell
  std::vector<Expression>
      states_;  // step t, component k, layer l at (t * components + k) * layers + l
  std::vector<Expression> outputs_;  // by step
  std::vector<int>
      columns_;  // by step: where its state is one of many columns, its number, else -1
  std::vector<Expression> h0_;
  std::vector<Expression> spare_;  // replaces h0_ or masks_ when complete
  std::vector<RNNPointer> heads_;
  RNNPointer current_;
};

/// h_t = tanh(Wx x_t + Wh h_{t-1} + b), in layers (Elman 1990). With lags, L aux_t is added.
class SimpleRNNBuilder : public RNNBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    /// Arguments as in the constructor.
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;
    bool support_lags = false;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim& support_lags;
    }
  };

  SimpleRNNBuilder() = default;
  SimpleRNNBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                   ParameterCollection& model, bool support_lags = false);
  SimpleRNNBuilder(ParameterCollection& model, const Settings& s)
      : SimpleRNNBuilder(s.layers, s.input_dim, s.hidden_dim, model, s.support_lags) {}
  /// Arguments of the constructor.
  Settings settings() const { return {layers_, input_dim_, hidden_dim_, lags_}; }

  /// Adds a step with an additional input {hidden_dim} to every layer. Needs `support_lags`.
  Expression add_auxiliary_input(const Expression& x, const Expression& aux,
                                 SourceLocation at = SourceLocation::current());

 protected:
  void step(unsigned layer, const Expression& x, LayerState& state, SourceLocation at) override;

 private:
  bool lags_ = false;
  const Expression* aux_ = nullptr;
};

}  // namespace dynet
