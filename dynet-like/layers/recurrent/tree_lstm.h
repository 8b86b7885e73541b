#pragma once

#include <vector>

#include "dynet-like/layers/recurrent/lstm.h"

namespace dynet {

/// Base of networks over trees: states of nodes with numbers, children first.
///
/// A builder made without arguments is empty, see RNNBuilder.
///
/// `new_graph`, then `start_new_sequence` for each tree, then `add_input`; anything else throws
/// ArgumentError at the caller's line. After an error the builder is as before; but one that has
/// networks for sequences in it has no graph after an error of `new_graph`.
class TreeLSTMBuilder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    /// As in the constructors.
    unsigned layers = 1, input_dim = 0, hidden_dim = 0;
    unsigned children = 0;  ///< at most, for NaryTreeLSTMBuilder

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& layers& input_dim& hidden_dim& children;
    }
  };

  virtual ~TreeLSTMBuilder() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  virtual void new_graph(ComputationGraph& cg, bool update = true,
                         SourceLocation at = SourceLocation::current());
  /// Forgets all nodes.
  virtual void start_new_sequence(SourceLocation at = SourceLocation::current());
  /// Nodes of this tree have numbers below `n`. Without this call any number is right.
  void set_num_elements(int n);
  /// The node `id`, any number that is not taken, over nodes that were added before. `x` may be an
  /// empty Expression for a node with children. Returns its output {hidden_dim}.
  Expression add_input(int id, const std::vector<int>& children, const Expression& x,
                       SourceLocation at = SourceLocation::current());
  /// The output of the node that was added last.
  Expression back(SourceLocation at = SourceLocation::current()) const;
  /// Outputs of all layers of a node; its whole state: cells, then outputs.
  std::vector<Expression> get_h(int id, SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> get_s(int id, SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> final_h(SourceLocation at = SourceLocation::current()) const;
  std::vector<Expression> final_s(SourceLocation at = SourceLocation::current()) const;

  /// Copies the parameter values of another builder of the same kind and size.
  void copy(const TreeLSTMBuilder& other);
  /// The collection of its parameters, as long as it lives.
  ParameterCollection& get_parameter_collection() { return collection_; }
  const ParameterCollection& get_parameter_collection() const { return collection_; }
  Settings settings() const { return settings_; }

  /// As those of RNNBuilder, by layer. Empty for builders made of others, which have their own.
  std::vector<std::vector<Parameter>> params;
  std::vector<std::vector<Expression>> param_vars;

 protected:
  TreeLSTMBuilder() { settings_.layers = 0; }
  TreeLSTMBuilder(const Settings& s, ParameterCollection& model, const char* name);

  /// The state of a new node: cells, then outputs, the top layer last. `x` may be null.
  virtual std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                          SourceLocation at) = 0;
  const std::vector<Expression>& state_of(int id) const { return states_[id]; }
  /// As before the first `new_graph`.
  void lose_graph() { ready_ = reading_ = false; }

  ParameterCollection collection_;
  /// Adds a parameter to the last of `params`.
  void add(const Dim& d);
  void add(const Dim& d, float value);

  Settings settings_;

 private:
  const std::vector<Expression>& find(const char* who, int id, SourceLocation at) const;

  bool ready_ = false, reading_ = false;
  int limit_ = -1;  // of the numbers; negative: none
  int last_ = -1;
  std::vector<std::vector<Expression>> states_;  // by node; empty: not added
};

/// The N-ary tree-LSTM (Tai, Socher, Manning 2015, section 3.2), with gates that see the cells:
/// over children 1 to n, n at most N, that have places of their own,
///   i = logistic(Wi x + sum_k (Ui_k h_k + Vi_k c_k) + bi), and o likewise
///   f_j = logistic(Wf x + sum_k (Uf_jk h_k + Vf_jk c_k) + bf)
///   c = i tanh(Wu x + sum_k Uu_k h_k + bu) + sum_j f_j c_j,  h = o tanh(c)
/// In layers: a layer reads the output of the one below at the same node.
class NaryTreeLSTMBuilder : public TreeLSTMBuilder {
 public:
  NaryTreeLSTMBuilder() = default;
  /// Throws ArgumentError unless there is a layer.
  NaryTreeLSTMBuilder(unsigned N, unsigned layers, unsigned input_dim, unsigned hidden_dim,
                      ParameterCollection& model)
      : NaryTreeLSTMBuilder(model, {layers, input_dim, hidden_dim, N}) {}
  NaryTreeLSTMBuilder(ParameterCollection& model, const Settings& s);

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

/// The child-sum tree-LSTM (Tai, Socher, Manning 2015, section 3.1): over any number of children
/// whose order does not matter, with s = sum_k h_k,
///   i = logistic(Wi x + Ui s + bi), and o likewise
///   f_k = logistic(Wf x + Uf h_k + bf)
///   c = i tanh(Wu x + Uu s + bu) + sum_k f_k c_k,  h = o tanh(c)
class ChildSumTreeLSTMBuilder : public TreeLSTMBuilder {
 public:
  ChildSumTreeLSTMBuilder() = default;
  /// Throws ArgumentError unless there is a layer.
  ChildSumTreeLSTMBuilder(unsigned layers, unsigned input_dim, unsigned hidden_dim,
                          ParameterCollection& model)
      : ChildSumTreeLSTMBuilder(model, {layers, input_dim, hidden_dim, 0}) {}
  ChildSumTreeLSTMBuilder(ParameterCollection& model, const Settings& s);

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

/// A sequence network over a node's x and then the outputs of its children in their order. Inputs
/// and outputs have one size. `get_h` and `get_s` are the network's last.
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

  LSTMBuilder node_builder;  ///< for its options

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

/// Two of them, of half the size each, one over the children from the last to the first; the output
/// is that of both, concatenated, which is all that `get_h` and `get_s` have.
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

  /// For their options.
  LSTMBuilder fwd_node_builder, rev_node_builder;

 protected:
  std::vector<Expression> compute(const std::vector<int>& children, const Expression* x,
                                  SourceLocation at) override;
};

}  // namespace dynet
