#pragma once

#include <vector>

#include "dynet-like/layers/recurrent/lstm.h"

namespace dynet {

/// Base of tree networks: states of numbered nodes, children before their parents.
///
/// A default-constructed builder is empty, see RNNBuilder.
///
/// Calls must be in the order `new_graph`, `start_new_sequence` for each tree, `add_input`; any
/// other order throws ArgumentError at the caller's line. A call that throws leaves the builder
/// unchanged; but builders that contain sequence networks have no graph after an exception of
/// `new_graph`.
class TreeLSTMBuilder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    /// Arguments as in the constructor.
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;
    unsigned children = 0;  ///< maximum number, for NaryTreeLSTMBuilder

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim& children;
    }
  };

  virtual ~TreeLSTMBuilder() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  virtual void new_graph(ComputationGraph& cg, bool update = true,
                         SourceLocation at = SourceLocation::current());
  /// Clears all nodes.
  virtual void start_new_sequence(SourceLocation at = SourceLocation::current());
  /// Limits the node numbers of this tree to values below `n`; by default there is no limit.
  void set_num_elements(int n);
  /// Adds node `id`, an unused number, with children that were added before. `x` may be an empty
  /// Expression for a node with children. Returns the node's output {hidden_dim}.
  Expression add_input(int id, const std::vector<int>& children, const Expression& x,
                       SourceLocation at = SourceLocation::current());
  /// The output of the last added node.
  Expression back(SourceLocation at = SourceLocation::current()) const;
  /// Outputs of all layers of a node; the state of a node: cells, then outputs.
  std::vector<Expression> get_h(int id, SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> get_s(int id, SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> final_h(SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> final_s(SourceLocation at = SourceLocation::current()) const;

  /// Copies the parameter values of another builder of the same kind and size.
  void copy(const TreeLSTMBuilder& other);
  /// Collection of the parameters; the reference is valid as long as the builder.
  ParameterCollection& get_parameter_collection() { return collection_; }
  const ParameterCollection& get_parameter_collection() const { return collection_; }
  Settings settings() const { return settings_; }

  /// As in RNNBuilder, by layer. Empty for builders that contain sequence networks.
  std::vector<std::vector<Parameter>> params;
  std::vector<std::vector<Expression>> param_vars;

 protected:
  TreeLSTMBuilder() { settings_.layers = 0; }
  TreeLSTMBuilder(const Settings& s, ParameterCollection& model, const char* name);

  /// The state of a new node: cells, then outputs, the top layer last. `x` may be null.
  virtual std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                          SourceLocation at) = 0;
  const std::vector<Expression>& state_of(int id) const { return states_[id]; }
  /// Resets the builder to the state before the first `new_graph`.
  void lose_graph() { ready_ = reading_ = false; }

  ParameterCollection collection_;
  /// Adds a parameter to the last of `params`.
  void add(const Dim& d);
  void add(const Dim& d, float value);

  Settings settings_;

 private:
  const std::vector<Expression>& find(const char* who, int id, SourceLocation at) const;

  bool ready_ = false, reading_ = false;
  int limit_ = -1;  // limit of node numbers; negative: none
  int last_ = -1;
  std::vector<std::vector<Expression>> states_;  // by node; empty: not added
};

/// The N-ary tree-LSTM (Tai, Socher, Manning 2015, section 3.2), with peepholes. Children 1 to n, n
/// at most N, have their own parameters by position:
///   i = logistic(Wi x + sum_k (Ui_k h_k + Vi_k c_k) + bi), and o likewise
///   f_j = logistic(Wf x + sum_k (Uf_jk h_k + Vf_jk c_k) + bf)
///   c = i tanh(Wu x + sum_k Uu_k h_k + bu) + sum_j f_j c_j,  h = o tanh(c)
/// Layers are stacked: a layer reads the output of the layer below at the same node.
class NaryTreeLSTMBuilder : public TreeLSTMBuilder {
 public:
  NaryTreeLSTMBuilder() = default;
  /// Throws ArgumentError for zero layers.
  NaryTreeLSTMBuilder(unsigned N, unsigned layers, unsigned input_dim, unsigned hidden_dim,
                      ParameterCollection& model)
      : NaryTreeLSTMBuilder(model, {layers, input_dim, hidden_dim, N}) {}
  NaryTreeLSTMBuilder(ParameterCollection& model, const Settings& s);

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

/// The child-sum tree-LSTM (Tai, Socher, Manning 2015, section 3.1), for any number of unordered
/// children; with s = sum_k h_k,
///   i = logistic(Wi x + Ui s + bi), and o likewise
///   f_k = logistic(Wf x + Uf h_k + bf)
///   c = i tanh(Wu x + Uu s + bu) + sum_k f_k c_k,  h = o tanh(c)
class ChildSumTreeLSTMBuilder : public TreeLSTMBuilder {
 public:
  ChildSumTreeLSTMBuilder() = default;
  /// Throws ArgumentError for zero layers.
  ChildSumTreeLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                          ParameterCollection& model)
      : ChildSumTreeLSTMBuilder(model, {layers, input_dim, hidden_dim, 0}) {}
  ChildSumTreeLSTMBuilder(ParameterCollection& model, const Settings& s);

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

/// A sequence network that reads a node's x and then the outputs of its children in order. Inputs
/// and outputs have equal sizes. `get_h` and `get_s` have the network's last state.
class UnidirectionalTreeLSTMBuilder : public TreeLSTMBuilder {
 public:
  UnidirectionalTreeLSTMBuilder() = default;
  /// Throws ArgumentError unless input_dim = hidden_dim.
  UnidirectionalTreeLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                                ParameterCollection& model)
      : UnidirectionalTreeLSTMBuilder(model, {layers, input_dim, hidden_dim, 0}) {}
  UnidirectionalTreeLSTMBuilder(ParameterCollection& model, const Settings& s);
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current()) override;
  void start_new_sequence(SourceLocation at = SourceLocation::current()) override;

  LSTMBuilder node_builder;  ///< public for its options

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

/// Two sequence networks of half the size, one of which reads the children in reverse order. The
/// output is the concatenation of both outputs; `get_h` and `get_s` have only this output.
class BidirectionalTreeLSTMBuilder : public TreeLSTMBuilder {
 public:
  BidirectionalTreeLSTMBuilder() = default;
  /// Throws ArgumentError unless input_dim = hidden_dim, an even number.
  BidirectionalTreeLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                               ParameterCollection& model)
      : BidirectionalTreeLSTMBuilder(model, {layers, input_dim, hidden_dim, 0}) {}
  BidirectionalTreeLSTMBuilder(ParameterCollection& model, const Settings& s);
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current()) override;
  void start_new_sequence(SourceLocation at = SourceLocation::current()) override;

  /// Public for their options.
  LSTMBuilder fwd_node_builder, rev_node_builder;

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

}  // namespace dynet
