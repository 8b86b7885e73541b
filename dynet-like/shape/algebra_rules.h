#pragma once

#include "dynet-like/shape/rules.h"

// Shape rules of whole-matrix operations, contractions and norms.

namespace dynet::shape {

/// Requires a square matrix; the result has its shape.
Dim square(const Dim& x);
/// Requires two vectors of the same length; the result is such a vector.
Dim circular(const Dim& u, const Dim& v);
/// {i,j,k}, {k} and an optional {i,j} give {i,j}.
Dim contract3d_1d(Dims xs);
/// {i,j,k}, {k}, {j} and an optional {i} give {i}.
Dim contract3d_1d_1d(Dims xs);
/// Gain and bias have the sizes of x, up to the batch; the result has the shape of x.
Dim layer_norm(const Dim& x, const Dim& gain, const Dim& bias);
/// Weights and a scalar give the shape of the weights.
Dim weight_norm(const Dim& w, const Dim& g);

}  // namespace dynet::shape
