#include "dynet-like/c/call.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace dynet::c {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

const char* type_name(int type) {
  switch (type) {
    case DYNET_EXPRESSION:
      return "an expression";
    case DYNET_EXPRESSIONS:
      return "a list of expressions";
    case DYNET_INTEGER:
      return "an integer";
    case DYNET_INTEGERS:
      return "a list of integers";
    case DYNET_NUMBER:
      return "a number";
    case DYNET_NUMBERS:
      return "a list of numbers";
    case DYNET_SHAPE:
      return "a shape";
    case DYNET_PARAMETER:
      return "a parameter";
    case DYNET_TEXT:
      return "a text";
    case DYNET_LISTS:
      return "a list of lists";
    default:
      return "of no type";
  }
}

// Behind a pointer of a list there may be nothing only if the list is empty.
bool is_complete(const dynet_value& v) {
  switch (v.type) {
    case DYNET_EXPRESSIONS:
      return v.count == 0 || v.as.expressions;
    case DYNET_INTEGERS:
      return v.count == 0 || v.as.integers;
    case DYNET_NUMBERS:
      return v.count == 0 || v.as.numbers;
    case DYNET_LISTS:
      return v.count == 0 || v.as.lists;
    case DYNET_SHAPE:
      return v.as.shape;
    case DYNET_PARAMETER:
      return v.as.parameter;
    case DYNET_TEXT:
      return v.as.text;
    default:
      return true;
  }
}

}  // namespace

Signature::Signature(std::string_view all) : text(all) {
  const std::size_t open = std::min(all.find('('), all.size());
  name = trimmed(all.substr(0, open));
  if (open == all.size()) return;
  if (all.back() != ')') throw ArgumentError("\"" + std::string(all) + "\" has no ) at its end");
  std::string_view rest = all.substr(open + 1, all.size() - open - 2);
  while (!trimmed(rest).empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const std::size_t equals = std::min(one.find('='), one.size());
    arguments.push_back(
        {trimmed(one.substr(0, equals)), trimmed(one.substr(std::min(equals + 1, one.size())))});
  }
}

Call::Call(const Signature& signature, std::span<const dynet_value> given, SourceLocation where)
    : at(where), signature_(signature), given_(given) {
  if (given.size() > signature.arguments.size())
    throw ArgumentError(std::string(signature.text) + ": " + std::to_string(given.size()) +
                            " arguments are too many",
                        at);
}

void Call::refuse(std::size_t k, const std::string& needed) const {
  const bool is_missing = k >= given_.size();
  throw ArgumentError(std::string(signature_.text) + ": argument " + std::to_string(k + 1) + ", " +
                          std::string(signature_.arguments[k].name) + ", is " +
                          (is_missing                ? "missing"
                           : !is_complete(given_[k]) ? "a NULL pointer"
                                                     : type_name(given_[k].type)) +
                          "; it must be " + needed,
                      at);
}

bool Call::given(std::size_t k, std::initializer_list<int> types, const char* needed) const {
  if (k >= given_.size() && !otherwise(k).empty()) return false;
  if (k >= given_.size() || !is_complete(given_[k]) ||
      std::find(types.begin(), types.end(), given_[k].type) == types.end())
    refuse(k, needed);
  return true;
}

double Call::default_number(std::size_t k) const {
  double number = 0;
  std::from_chars(otherwise(k).begin(), otherwise(k).end(), number);
  return number;
}

// A stale expression is the operation's to refuse.
const Expression& Call::of_graph(std::size_t k, const Expression& e) const {
  if (e.pg && e.pg != graph && !e.is_stale())
    throw ArgumentError(std::string(signature_.text) + ": argument " + std::to_string(k + 1) +
                            ", " + std::string(signature_.arguments[k].name) +
                            ", is of another graph",
                        at);
  return e;
}

Expression Call::expression(std::size_t k) const {
  given(k, {DYNET_EXPRESSION}, "an expression");
  return of_graph(k, unwrapped(given_[k].as.expression));
}

std::optional<Expression> Call::optional_expression(std::size_t k) const {
  if (!given(k, {DYNET_EXPRESSION}, "an expression")) return std::nullopt;
  const Expression e = unwrapped(given_[k].as.expression);
  return e.pg ? std::optional(of_graph(k, e)) : std::nullopt;
}

std::vector<Expression> Call::expressions(std::size_t k) const {
  given(k, {DYNET_EXPRESSIONS, DYNET_EXPRESSION}, "a list of expressions");
  if (given_[k].type == DYNET_EXPRESSION) return {expression(k)};
  std::vector<Expression> all = unwrapped(given_[k].as.expressions, given_[k].count);
  for (const Expression& e : all) of_graph(k, e);
  return all;
}

std::int64_t Call::integer(std::size_t k) const {
  if (!given(k, {DYNET_INTEGER}, "an integer")) return static_cast<std::int64_t>(default_number(k));
  return given_[k].as.integer;
}

std::span<const std::int64_t> Call::integers(std::size_t k) const {
  if (!given(k, {DYNET_INTEGERS, DYNET_INTEGER}, "a list of integers")) return {};
  if (given_[k].type == DYNET_INTEGER) return {&given_[k].as.integer, 1};
  return {given_[k].as.integers, given_[k].count};
}

double Call::number(std::size_t k) const {
  if (!given(k, {DYNET_NUMBER, DYNET_INTEGER}, "a number")) return default_number(k);
  if (given_[k].type == DYNET_INTEGER) return static_cast<double>(given_[k].as.integer);
  return given_[k].as.number;
}

std::vector<float> Call::numbers(std::size_t k) const {
  given(k, {DYNET_NUMBERS, DYNET_NUMBER}, "a list of numbers");
  if (given_[k].type == DYNET_NUMBER) return {static_cast<float>(given_[k].as.number)};
  return {given_[k].as.numbers, given_[k].as.numbers + given_[k].count};
}

unsigned Call::index_of(std::size_t k, std::int64_t number) const {
  if (number < 0 || number > std::int64_t{std::numeric_limits<unsigned>::max()})
    throw IndexError(std::string(signature_.text) + ": argument " + std::to_string(k + 1) + ", " +
                         std::string(signature_.arguments[k].name) + ", is " +
                         std::to_string(number) + ", which is negative or too large",
                     at);
  return static_cast<unsigned>(number);
}

unsigned Call::index(std::size_t k) const { return index_of(k, integer(k)); }

std::vector<unsigned> Call::indices(std::size_t k, std::optional<unsigned> any) const {
  std::vector<unsigned> result;
  for (const std::int64_t i : integers(k)) result.push_back(any && i == -1 ? *any : index_of(k, i));
  return result;
}

std::vector<int> Call::small_integers(std::size_t k) const {
  std::vector<int> result;
  for (const std::int64_t i : integers(k)) {
    if (i != static_cast<int>(i)) refuse(k, "a list of small integers");
    result.push_back(static_cast<int>(i));
  }
  return result;
}

std::vector<std::vector<unsigned>> Call::lists(std::size_t k) const {
  given(k, {DYNET_LISTS, DYNET_INTEGERS}, "a list of lists of integers");
  if (given_[k].type == DYNET_INTEGERS) return {indices(k)};
  std::vector<std::vector<unsigned>> result;
  for (const dynet_value& list : std::span(given_[k].as.lists, given_[k].count)) {
    if (list.type != DYNET_INTEGERS || !is_complete(list)) refuse(k, "a list of lists of integers");
    auto& one = result.emplace_back();
    for (const std::int64_t i : std::span(list.as.integers, list.count))
      one.push_back(index_of(k, i));
  }
  return result;
}

IndexArgument Call::index_argument(std::size_t k) const {
  if (!given(k, {DYNET_INTEGERS, DYNET_INTEGER}, "an integer, or a list of integers") ||
      given_[k].type == DYNET_INTEGER)
    return IndexArgument(integer(k));
  const auto list = integers(k);
  return IndexArgument(list.begin(), list.end());
}

Dim Call::dim(std::size_t k) const {
  if (given(k, {DYNET_SHAPE, DYNET_INTEGERS, DYNET_INTEGER}, "a shape") &&
      given_[k].type == DYNET_SHAPE) {
    const dynet_shape& shape = *given_[k].as.shape;
    if (shape.dimensions > kMaxTensorDim) refuse(k, "a shape of at most 7 dimensions");
    return Dim(std::vector<long>(shape.sizes, shape.sizes + shape.dimensions),
               shape.batch ? shape.batch : 1);
  }
  const auto sizes = indices(k);
  return Dim(std::vector<long>(sizes.begin(), sizes.end()));
}

std::string Call::text(std::size_t k) const {
  return given(k, {DYNET_TEXT}, "a text") ? given_[k].as.text : std::string(otherwise(k));
}

GradientMode Call::gradient_mode(std::size_t k) const {
  const std::string name = text(k);
  if (name == "zero_gradient") return zero_gradient;
  if (name == "straight_through_gradient") return straight_through_gradient;
  refuse(k, "\"zero_gradient\" or \"straight_through_gradient\"");
}

const dynet_parameter& Call::any_parameter(std::size_t k) const {
  given(k, {DYNET_PARAMETER}, "a parameter");
  return *given_[k].as.parameter;
}

}  // namespace dynet::c
