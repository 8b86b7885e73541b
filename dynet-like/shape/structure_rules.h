#pragma once

#include "dynet-like/shape/rules.h"

// Shape rules of structured prediction.

namespace dynet::shape {

/// Emissions {K,T}, transitions {K,K} or {K,K,T-1}, start {K} and stop {K} give {1}.
Dim chain(Dims xs);
/// Scores of the spans of n words, {n,n} or {n,n,labels}, give {1}.
Dim span_trees(const Dim& spans);
/// Arcs {n+1,n+1} give {1}.
Dim dependencies(Dims xs);

}  // namespace dynet::shape
