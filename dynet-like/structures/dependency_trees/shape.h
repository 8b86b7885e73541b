#pragma once

#include "dynet-like/shape/rules.h"

namespace dynet::shape {

/// Arcs {n+1,n+1} give {1}.
Dim dependencies(Dims xs);

}  // namespace dynet::shape
