#pragma once

#include "dynet-like/shape/rules.h"

// Rules for matrices as a whole, for contractions and for norms.

namespace dynet::shape {

/// A square matrix.
Dim square(const Dim& x);
/// Two vectors of one length.
Dim circular(const Dim& u, const Dim& v);
/// {i,j,k}, {k} and perhaps {i,j} give {i,j}.
Dim contract3d_1d(Dims xs);
/// {i,j,k}, {k}, {j} and perhaps {i} give {i}.
Dim contract3d_1d_1d(Dims xs);
/// x, and gain and bias of its sizes, give the shape of x.
Dim layer_norm(const Dim& x, const Dim& gain, const Dim& bias);
/// Weights and one number give the shape of the weights.
Dim weight_norm(const Dim& w, const Dim& g);

}  // namespace dynet::shape
