#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// The commands `inspect` and `diff`. Names from files are printed as `printable` has them.

namespace cli {

/// Prints what is in a file: format and version, size, metadata, things and settings, and of each
/// array name, type, shape, bytes, Euclidean norm, least and largest value, and how many are not
/// finite. All of it is read and verified before the first line. Throws FileError.
void inspect(const std::string& path, std::ostream& out);
/// The part about the arrays.
void print_tensors(const std::vector<dynet::NamedTensor>& tensors, std::ostream& out);

/// Arrays and what they are called in print.
struct TensorsOfFile {
  std::string path;                         ///< how it is called
  std::vector<dynet::NamedTensor> tensors;  ///< with their values
};

/// Prints how two files differ: arrays in one only, of another shape or type, and of others the
/// largest difference of values. Returns the number of arrays that differ in any bit.
std::size_t print_differences(const TensorsOfFile& a, const TensorsOfFile& b, std::ostream& out);

}  // namespace cli
