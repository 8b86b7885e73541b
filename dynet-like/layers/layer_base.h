#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// Base of layers: a collection of parameters, and their nodes in the current graph. A class names
/// its weights and the layers that it consists of in `list_parts`. Copies share the parameters.
///
/// `new_graph` must be called first; without it the other functions throw ArgumentError. A call
/// that throws leaves the layer unchanged.
class LayerBase {
 public:
  virtual ~LayerBase() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient. Throws ArgumentError
  /// for an empty layer, one that was default-constructed.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// Collection of the parameters, in the order of their creation.
  ParameterCollection get_parameter_collection() const { return collection_; }

 protected:
  /// A parameter and its node in the current graph; none if default-constructed.
  class Weight {
   public:
    Weight() = default;
    Weight(Parameter p) : parameter_(std::move(p)) {}  // NOLINT: implicit
    /// Zeros of this shape instead of a parameter.
    explicit Weight(const Dim& zeros) : zeros_(zeros), constant_(true) {}

    explicit operator bool() const { return parameter_ || constant_; }
    operator const Expression&() const { return node_; }  // NOLINT: implicit

   private:
    friend class LayerBase;
    Parameter parameter_;
    Dim zeros_;
    bool constant_ = false;
    Expression node_;
  };

  /// List of the weights and layers that a layer consists of.
  class Parts {
   public:
    template <class... Part>
    void add(Part&... parts) {
      (insert(parts), ...);
    }

   private:
    friend class LayerBase;
    void insert(Weight& weight);
    void insert(LayerBase& layer);
    std::vector<Weight*> weights_;
    std::vector<LayerBase*> layers_;
  };

  /// An empty layer, to be assigned to.
  LayerBase() = default;
  /// Adds a collection for the parameters to `model`. Throws ArgumentError, leaving the model
  /// unchanged, unless all sizes are above zero.
  LayerBase(ParameterCollection& model, const char* name, std::initializer_list<unsigned> sizes);
  LayerBase(const LayerBase&) = default;
  LayerBase& operator=(const LayerBase&) = default;

  /// Adds all weights and layers to `parts`, in the order in which they enter a graph.
  virtual void list_parts(Parts& parts) = 0;
  /// Throws ArgumentError, naming the function `who`, before `new_graph`, and StaleExpressionError
  /// if the graph is gone.
  void need_graph(const char* who, SourceLocation at) const;
  /// The arguments of the last `new_graph`.
  ComputationGraph& graph() const { return *in_graph_.pg; }
  bool update() const { return update_; }

  ParameterCollection collection_;

 private:
  Expression in_graph_;  // any node
  bool update_ = true;
};

}  // namespace dynet
