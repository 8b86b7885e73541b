#pragma once

#include <span>
#include <string>
#include <vector>

#include "dynet-like/base/source_location.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/param/parameters.h"

// Code that builders share.

namespace dynet::nn_detail {

/// Throws ArgumentError: `who` broke `rule` at the user's line.
[[noreturn, gnu::cold]] void fail(const char* who, const std::string& rule, SourceLocation at);

/// Throws NumericError: `who` was given a score that is NaN or plus infinity.
void need_scores(const char* who, std::span<const float> scores);
/// Throws NumericError: `who` finds nothing that is not forbidden.
[[noreturn, gnu::cold]] void nothing_allowed(const char* who, SourceLocation at);

/// A collection in `model` for the parameters of a builder. Throws ArgumentError, leaving the model
/// as it is, unless there is a layer and the sizes are such that a matrix of a few of them is one.
ParameterCollection add_collection(ParameterCollection& model, const char* name, unsigned layers,
                                   unsigned input_dim, unsigned hidden_dim);

/// Copies values, parameter by parameter. Throws ArgumentError for another number of parameters,
/// ShapeError for other shapes, changing nothing.
void copy_values(const std::vector<Parameter>& from, const std::vector<Parameter>& to);

/// The parameter in a graph; without `update` it gets no gradient.
Expression put(ComputationGraph& cg, const Parameter& p, bool update, SourceLocation at);

/// A rate of dropout. Throws ArgumentError unless 0 <= rate < 1.
float checked_rate(float rate);

/// x with dropout of this rate, or x itself for zero.
Expression dropped(const Expression& x, float rate, SourceLocation at);

}  // namespace dynet::nn_detail
