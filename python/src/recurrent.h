#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "operations.h"

namespace dynet::python {

/// A recurrent network as Python sees it: it enters the current graph by itself, once for each.
class RnnBuilder {
 public:
  explicit RnnBuilder(std::unique_ptr<RNNBuilder> builder) : builder_(std::move(builder)) {}

  RNNBuilder& operator*() { return *builder_; }
  RNNBuilder* operator->() { return builder_.get(); }
  /// Puts the parameters into the current graph, unless they are there.
  void enter_graph(bool update);
  /// Throws ArgumentError unless the parameters are in the current graph.
  void need_graph(const char* who) const;
  /// The number of the graph that they are in.
  std::uint64_t graph() const { return graph_; }

 private:
  std::unique_ptr<RNNBuilder> builder_;
  std::uint64_t graph_ = 0;
};

/// A builder of one kind.
template <class B>
class RnnBuilderOf : public RnnBuilder {
 public:
  template <class... Args>
  explicit RnnBuilderOf(Args&&... args)
      : RnnBuilder(std::make_unique<B>(std::forward<Args>(args)...)) {}
  B& get() { return static_cast<B&>(**this); }
};

/// A step of a sequence; it keeps its builder alive.
class RnnState {
 public:
  RnnState(nb::object builder, RNNPointer step, std::uint64_t graph)
      : builder_(std::move(builder)), step_(step), graph_(graph) {}

  RnnState add_input(const Expression& x) const;
  RnnState add_masked_input(const Expression& x, const Expression& mask) const;
  std::vector<RnnState> add_inputs(const Expressions& xs) const;
  Expressions transduce(const Expressions& xs) const;
  /// Nothing for an initial state that was not given.
  std::optional<Expression> output() const;
  Expressions h() const;
  Expressions s() const;
  RnnState set_h(const Expressions& es) const;
  RnnState set_s(const Expressions& es) const;
  /// Nothing for the first one.
  std::optional<RnnState> prev() const;
  nb::object b() const { return builder_; }

 private:
  /// Throws ArgumentError if the graph was renewed since.
  RNNBuilder& builder(const char* who) const;
  RnnState at(RNNBuilder& builder) const { return {builder_, builder.state(), graph_}; }

  nb::object builder_;
  RNNPointer step_;
  std::uint64_t graph_;
};

void bind_softmax_builders(nb::module_& m);

}  // namespace dynet::python
