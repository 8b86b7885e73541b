#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "operations.h"

namespace dynet::python {

/// Python wrapper of a recurrent network, which enters the current graph automatically, once per
/// graph.
class RnnBuilder {
 public:
  explicit RnnBuilder(std::unique_ptr<RNNBuilder> builder) : builder_(std::move(builder)) {}

  RNNBuilder& operator*() { return *builder_; }
  RNNBuilder* operator->() { return builder_.get(); }
  /// Adds the parameters to the current graph, unless they are in it.
  void enter_graph(bool update);
  /// Throws ArgumentError unless the parameters are in the current graph.
  void need_graph(const char* who) const;
  /// Number of the graph with the parameters.
  std::uint64_t graph() const { return graph_; }

 private:
  std::unique_ptr<RNNBuilder> builder_;
  std::uint64_t graph_ = 0;
};

/// Python wrapper of one builder class.
template <class B>
class RnnBuilderOf : public RnnBuilder {
 public:
  template <class... Args>
  explicit RnnBuilderOf(Args&&... args)
      : RnnBuilder(std::make_unique<B>(std::forward<Args>(args)...)) {}
  B& get() { return static_cast<B&>(**this); }
};

/// Step of a sequence; keeps its builder alive.
class RnnState {
 public:
  RnnState(nb::object builder, RNNPointer step, std::uint64_t graph)
      : builder_(std::move(builder)), step_(step), graph_(graph) {}

  RnnState add_input(const Expression& x) const;
  RnnState add_masked_input(const Expression& x, const Expression& mask) const;
  std::vector<RnnState> add_inputs(const Expressions& xs) const;
  Expressions transduce(const Expressions& xs) const;
  Expression transduce_columns(const Expression& xs, bool reverse) const;
  /// Empty for the default initial state.
  std::optional<Expression> output() const;
  Expressions h() const;
  Expressions s() const;
  RnnState set_h(const Expressions& es) const;
  RnnState set_s(const Expressions& es) const;
  /// Empty for the first step.
  std::optional<RnnState> prev() const;
  nb::object b() const { return builder_; }

 private:
  /// Throws ArgumentError if the graph was renewed.
  RNNBuilder& builder(const char* who) const;
  RnnState at(RNNBuilder& builder) const { return {builder_, builder.state(), graph_}; }

  nb::object builder_;
  RNNPointer step_;
  std::uint64_t graph_;
};

void bind_softmax_builders(nb::module_& m);

}  // namespace dynet::python
