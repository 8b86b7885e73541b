#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/c/dynet.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/layers/recurrent/rnn.h"
#include "dynet-like/layers/recurrent/tree_lstm.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/train/trainer.h"

// The objects behind the handles of the C interface.

struct dynet_parameter {
  std::variant<dynet::Parameter, dynet::LookupParameter> handle;

  /// Calls f with the Parameter or the LookupParameter.
  template <class F>
  auto visit(F f) const {
    return std::visit(f, handle);
  }
};

/// Parameters of a tree of collections that C has handles of.
struct Handles {
  std::mutex mutex;
  std::deque<dynet_parameter> parameters;
};
struct dynet_model {
  dynet::ParameterCollection collection;
  std::shared_ptr<Handles> handles = std::make_shared<Handles>();
};

struct dynet_graph {
  explicit dynet_graph(bool batched) : graph(batched) {}

  dynet::ComputationGraph graph;
};

/// A network of a base class, and how it is copied.
template <class Base>
struct Network {
  std::unique_ptr<Base> base;
  std::unique_ptr<Base> (*copy)(const Base&);

  template <class Derived>
  static Network of(Derived derived) {
    return {std::make_unique<Derived>(std::move(derived)), [](const Base& other) {
              return std::unique_ptr<Base>(new Derived(static_cast<const Derived&>(other)));
            }};
  }
  /// Another one with the same parameters.
  Network copied() const { return {copy(*base), copy}; }
};
struct dynet_rnn {
  Network<dynet::RNNBuilder> network;
};
struct dynet_tree {
  Network<dynet::TreeLSTMBuilder> network;
};

struct dynet_trainer {
  std::unique_ptr<dynet::Trainer> trainer;
};

namespace dynet::c {

/// An expression in the form that C sees, and back.
dynet_expression wrapped(const Expression& e);
Expression unwrapped(const dynet_expression& e);
std::vector<Expression> unwrapped(const dynet_expression* list, std::size_t count);

/// The program's line that an error knows.
SourceLocation location(const dynet_error* error);
/// Sets an error from the exception that is being handled.
void set_error(dynet_error* error) noexcept;
/// Throws ArgumentError for a null pointer.
template <class T>
T& need(T* pointer, const char* what) {
  if (!pointer) throw ArgumentError(std::string(what) + " is NULL");
  return *pointer;
}

/// Returns f(), or an empty result if `error` is set or f throws, which sets it.
template <class F>
auto guarded(dynet_error* error, F f) noexcept -> decltype(f()) {
  using Result = decltype(f());
  if (!error || error->code == DYNET_OK) {
    try {
      return f();
    } catch (...) {
      set_error(error);
    }
  }
  if constexpr (!std::is_void_v<Result>) return Result{};
}

}  // namespace dynet::c
