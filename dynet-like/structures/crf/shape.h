#pragma once

#include "dynet-like/shape/rules.h"

namespace dynet::shape {

/// Emissions {K,T}, transitions {K,K} or {K,K,T-1}, start {K} and stop {K} give {1}.
Dim chain(Dims xs);

}  // namespace dynet::shape
