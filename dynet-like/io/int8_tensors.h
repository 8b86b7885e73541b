#pragma once

#include <memory>

#include "dynet-like/io/model_file.h"
#include "dynet-like/param/int8_matrix.h"

// Tensors of model files in 8 bits, see docs/file-format.md.

namespace dynet {

/// Bytes of a tensor in a file: floats, or scales and then integers of 8 bits.
std::uint64_t byte_count(const SavedTensor& t);
/// Whether a tensor may be stored in 8 bits: a matrix, with a scale for each row, or a table, with
/// one for each of its rows; not a vector.
bool can_be_int8(const SavedTensor& t);
/// The floats of a tensor from its bytes in the file.
void decode(const SavedTensor& t, const char* bytes, float* to);

/// A matrix in 8 bits for products, from its bytes; null for a table, and for one with too many
/// columns.
std::unique_ptr<const Int8Matrix> int8_matrix(const SavedTensor& t, const char* bytes);

}  // namespace dynet
