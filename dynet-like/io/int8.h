#pragma once

#include <memory>
#include <string>

#include "dynet-like/io/model_file.h"
#include "dynet-like/param/int8_matrix.h"

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

/// Writes a copy of a model file whose matrices and tables have 8 bits for each value, a quarter of
/// their size: each row is rounded to integers times max |x| / 127. Everything else stays, also
/// what is not a parameter, such as the state of a trainer. Programs load it like the original and
/// multiply by these matrices in integers, on every CPU with the same bits. Throws FileError, for
/// values that are not finite as well.
void write_int8_copy(const std::string& from, const std::string& to,
                     const SaveOptions& options = {});

}  // namespace dynet
