#pragma once

#include "dynet-like/shape/rules.h"

namespace dynet::shape {

/// Scores of the spans of n words, {n,n} or {n,n,labels}, give {1}.
Dim span_trees(const Dim& spans);

}  // namespace dynet::shape
