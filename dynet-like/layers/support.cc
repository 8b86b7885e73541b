#include "dynet-like/layers/support.h"

#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/noise.h"

namespace dynet::nn_detail {

void fail(const char* who, const std::string& rule, SourceLocation at) {
  throw ArgumentError(std::string(who) + ": " + rule + "\n  at " + to_string(at), at);
}

void need_scores(const char* who, std::span<const float> scores) {
  for (const float score : scores)
    if (!(score < std::numeric_limits<float>::infinity()))
      throw NumericError(std::string(who) + ": a score is " + std::to_string(score));
}

void nothing_allowed(const char* who, SourceLocation at) {
  throw NumericError(
      std::string(who) + ": all that there is has a score of minus infinity\n  at " + to_string(at),
      at);
}

ParameterCollection add_collection(ParameterCollection& model, const char* name, unsigned layers,
                                   unsigned input_dim, unsigned hidden_dim) {
  if (layers == 0) throw ArgumentError("a recurrent network needs at least one layer, got 0");
  constexpr unsigned kMost = 1u << 28;  // four times this fits `unsigned`
  for (const unsigned size : {input_dim, hidden_dim})
    if (size > kMost)
      throw ArgumentError(std::string(name) + ": a size must be at most " + std::to_string(kMost) +
                          ", got " + std::to_string(size));
  return model.add_subcollection(name);
}

void copy_values(const std::vector<Parameter>& from, const std::vector<Parameter>& to) {
  if (from.size() != to.size())
    throw ArgumentError("copy: the builders have " + std::to_string(to.size()) + " and " +
                        std::to_string(from.size()) + " parameters");
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].dim() != from[i].dim())
      throw ShapeError("copy: " + to[i].get_fullname() + " is " + to_string(to[i].dim()) +
                       " here and " + to_string(from[i].dim()) + " there");
  std::vector<std::vector<float>> values;
  for (const Parameter& p : from) values.push_back(as_vector(p.values()));
  for (std::size_t i = 0; i < to.size(); ++i) Parameter(to[i]).set_value(values[i]);
}

Expression put(ComputationGraph& cg, const Parameter& p, bool update, SourceLocation at) {
  return update ? parameter(cg, p, at) : const_parameter(cg, p, at);
}

float checked_rate(float rate) {
  if (!(rate >= 0 && rate < 1))
    throw ArgumentError("set_dropout: a rate must be at least 0 and below 1, got " +
                        std::to_string(rate));
  return rate;
}

Expression dropped(const Expression& x, float rate, SourceLocation at) {
  return rate > 0 ? dropout(x, rate, at) : x;
}

}  // namespace dynet::nn_detail
