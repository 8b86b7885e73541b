#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dynet-like/c/handles.h"
#include "dynet-like/ops/gradient_mode.h"
#include "dynet-like/ops/index_argument.h"
#include "dynet-like/ops/index_lists_argument.h"
#include "dynet-like/param/init.h"

// Calls of C++ functions by name, with arguments from C.
//
// A signature is a text such as "pick_range(x, start, end, d = 0)". The types of the arguments are
// those of the C++ function, the defaults those of the text: a number, a word, or `none` for an
// empty list or no expression.

namespace dynet::c {

/// A signature, parsed.
struct Signature {
  explicit Signature(std::string_view text);

  struct Argument {
    std::string_view name;
    std::string_view otherwise;  ///< the default; empty if there is none
  };
  std::string_view text, name;
  std::vector<Argument> arguments;
};

/// A call with the arguments that the caller gave, in the order of the signature.
class Call {
 public:
  /// Throws ArgumentError for too many arguments.
  Call(const Signature& signature, std::span<const dynet_value> given, SourceLocation at);

  ComputationGraph* graph = nullptr;     ///< for functions of a graph
  ParameterCollection* model = nullptr;  ///< for functions of a model
  const SourceLocation at;               ///< the caller's line

  /// Argument k as what a function needs. Throws ArgumentError for another type and for a missing
  /// one without a default; IndexError for a number that is no index.
  Expression expression(std::size_t k) const;
  std::optional<Expression> optional_expression(std::size_t k) const;
  std::vector<Expression> expressions(std::size_t k) const;
  std::int64_t integer(std::size_t k) const;
  std::span<const std::int64_t> integers(std::size_t k) const;
  double number(std::size_t k) const;
  std::vector<float> numbers(std::size_t k) const;
  unsigned index(std::size_t k) const;
  /// With `any`, -1 stands for it.
  std::vector<unsigned> indices(std::size_t k, std::optional<unsigned> any = {}) const;
  std::vector<int> small_integers(std::size_t k) const;
  std::vector<std::vector<unsigned>> lists(std::size_t k) const;
  IndexArgument index_argument(std::size_t k) const;
  Dim dim(std::size_t k) const;
  GradientMode gradient_mode(std::size_t k) const;
  std::string text(std::size_t k) const;
  const dynet_parameter& any_parameter(std::size_t k) const;
  template <class P>
  P parameter(std::size_t k) const {
    if (const auto* p = std::get_if<P>(&any_parameter(k).handle)) return *p;
    refuse(k, std::is_same_v<P, Parameter> ? "a parameter, not a table" : "a table");
  }
  /// Throws ArgumentError: argument k is not what is needed.
  [[noreturn]] void refuse(std::size_t k, const std::string& needed) const;

 private:
  // Whether argument k is given, as a value of this type; false: the default is to be used.
  bool given(std::size_t k, std::initializer_list<int> types, const char* needed) const;
  std::string_view otherwise(std::size_t k) const { return signature_.arguments[k].otherwise; }
  double default_number(std::size_t k) const;
  unsigned index_of(std::size_t k, std::int64_t number) const;
  const Expression& of_graph(std::size_t k, const Expression& e) const;

  const Signature& signature_;
  std::span<const dynet_value> given_;
};

/// Indices for operations that take a span.
struct IndexValues : std::vector<unsigned> {
  operator std::span<const unsigned>() const { return {data(), size()}; }  // NOLINT: implicit
};

/// Reads an argument of type T. `kTaken`: it is one of those of the signature.
template <class T>
struct Reader;
#define DYNET_READ(TYPE, TAKEN, ...)                              \
  template <>                                                     \
  struct Reader<TYPE> {                                           \
    static constexpr bool kTaken = TAKEN;                         \
    static decltype(auto) read([[maybe_unused]] const Call& call, \
                               [[maybe_unused]] std::size_t k) {  \
      return __VA_ARGS__;                                         \
    }                                                             \
  };
DYNET_READ(ComputationGraph, false, (*call.graph))
DYNET_READ(ParameterCollection, false, (*call.model))
DYNET_READ(DeviceArgument, false, DeviceArgument())  // that of the graph
DYNET_READ(Expression, true, call.expression(k))
DYNET_READ(std::optional<Expression>, true, call.optional_expression(k))
DYNET_READ(std::vector<Expression>, true, call.expressions(k))
DYNET_READ(unsigned, true, call.index(k))
DYNET_READ(bool, true, call.integer(k) != 0)
DYNET_READ(float, true, static_cast<float>(call.number(k)))
DYNET_READ(double, true, call.number(k))
DYNET_READ(Dim, true, call.dim(k))
DYNET_READ(std::vector<float>, true, call.numbers(k))
DYNET_READ(std::vector<unsigned>, true, call.indices(k))
DYNET_READ(std::span<const unsigned>, true, IndexValues{call.indices(k)})
DYNET_READ(std::vector<int>, true, call.small_integers(k))
DYNET_READ(IndexArgument, true, call.index_argument(k))
DYNET_READ(IndexListsArgument, true, IndexListsArgument(call.lists(k)))
DYNET_READ(GradientMode, true, call.gradient_mode(k))
DYNET_READ(std::string, true, call.text(k))
DYNET_READ(Parameter, true, call.parameter<Parameter>(k))
DYNET_READ(LookupParameter, true, call.parameter<LookupParameter>(k))
#undef DYNET_READ

/// `Function<R, A...>::call<f>` calls f(A..., SourceLocation) with arguments that it reads.
template <class R, class... A>
struct Function {
  template <R (*F)(A..., SourceLocation)>
  static R call(const Call& call) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return F(Reader<std::remove_cvref_t<A>>::read(call, place(I))..., call.at);
    }
    (std::index_sequence_for<A...>());
  }

 private:
  // The number, in the signature, of parameter i of the function.
  static constexpr std::size_t place(std::size_t i) {
    constexpr bool taken[] = {Reader<std::remove_cvref_t<A>>::kTaken...};
    std::size_t k = 0;
    for (std::size_t j = 0; j < i; ++j) k += taken[j];
    return k;
  }
};

/// Functions with results of type R, by name.
template <class R>
class Table {
 public:
  struct Row {
    const char* signature;
    R (*function)(const Call&);
  };
  explicit Table(std::span<const Row> rows) {
    for (const Row& row : rows) {
      const Signature& s = entries_.emplace_back(Signature(row.signature), row.function).first;
      by_name_.emplace(s.name, entries_.size() - 1);
    }
  }
  /// Text of signature i; null behind the last one.
  const char* signature(std::size_t i) const {
    return i < entries_.size() ? entries_[i].first.text.data() : nullptr;
  }
  /// Calls a function. Throws ArgumentError for an unknown name, and as the function does.
  R call(const char* name, std::span<const dynet_value> given, ComputationGraph* graph,
         ParameterCollection* model, SourceLocation at) const {
    const auto found = by_name_.find(&need(name, "the name of what is called"));
    if (found == by_name_.end())
      throw ArgumentError(std::string(name) + ": there is no such name, see dynet_signature", at);
    const auto& [signature, function] = entries_[found->second];
    Call call(signature, given, at);
    call.graph = graph;
    call.model = model;
    return function(call);
  }

 private:
  std::vector<std::pair<Signature, R (*)(const Call&)>> entries_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

/// The tables.
const Table<Expression>& operations();
const Table<std::unique_ptr<ParameterInit>>& initializers();
const Table<std::unique_ptr<Trainer>>& trainers();
const Table<Network<RNNBuilder>>& rnns();
const Table<Network<TreeLSTMBuilder>>& trees();

}  // namespace dynet::c
