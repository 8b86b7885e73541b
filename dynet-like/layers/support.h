#pragma once

#include <span>
#include <string>
#include <vector>

#include "dynet-like/base/source_location.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

// Helpers shared by builders.

namespace dynet::nn_detail {

/// Throws ArgumentError: `who` names the function, `rule` the broken rule, `at` the user's line.
[[noreturn, gnu::cold]] void fail(const char* who, const std::string& rule, SourceLocation at);

/// Throws NumericError, naming `who`, for a score that is NaN or plus infinity.
void need_scores(const char* who, std::span<const float> scores);
/// Throws NumericError: every result of `who` is forbidden.
[[noreturn, gnu::cold]] void nothing_allowed(const char* who, SourceLocation at);

/// Adds a collection to `model` for the parameters of a builder. Throws ArgumentError, leaving the
/// model unchanged, unless `layers` is above zero and the sizes are at most 2^28.
ParameterCollection add_collection(ParameterCollection& model, const char* name, unsigned layers,
                                   unsigned input_dim, unsigned hidden_dim);

/// Copies values, parameter by parameter. Throws ArgumentError for another number of parameters,
/// ShapeError for other shapes; values are unchanged then.
void copy_values(const std::vector<Parameter>& from, const std::vector<Parameter>& to);

/// Adds the parameter to a graph; without `update` it gets no gradient.
Expression put(ComputationGraph& cg, const Parameter& p, bool update, SourceLocation at);

/// Returns a dropout rate. Throws ArgumentError unless 0 <= rate < 1.
float checked_rate(float rate);

/// Returns x with dropout, or x itself for a rate of zero.
Expression dropped(const Expression& x, float rate, SourceLocation at);

}  // namespace dynet::nn_detail
