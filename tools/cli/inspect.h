#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// The commands `inspect` and `diff`. Names from files are printed by `printable`.

namespace cli {

/// Prints the contents of a file: format and version, size, metadata, objects and settings, and for
/// each array name, type, shape, bytes, Euclidean norm, minimum, maximum and the number of
/// non-finite values. Reads and verifies everything before the first output. Throws FileError.
void inspect(const std::string& path, std::ostream& out);
/// Prints the part about arrays.
void print_tensors(const std::vector<dynet::NamedTensor>& tensors, std::ostream& out);

/// Arrays of a file, with the file's name in the output.
struct TensorsOfFile {
  std::string path;                         ///< name in the output
  std::vector<dynet::NamedTensor> tensors;  ///< including their values
};

/// Prints the differences of two files: arrays in one file only, with another shape or type, and
/// otherwise the largest difference of values. Returns the number of arrays with different bits.
std::size_t print_differences(const TensorsOfFile& a, const TensorsOfFile& b, std::ostream& out);

}  // namespace cli
