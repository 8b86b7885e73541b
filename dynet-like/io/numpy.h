#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// NumPy's files: .npy holds one array (format versions 1 to 3), .npz several in a zip archive, as
// `numpy.save`, `numpy.savez` and `numpy.savez_compressed` write them. All errors are FileError, or
// OutOfMemoryError.

namespace dynet {

/// An array of floats, integers or booleans, in either order of elements and of bytes; its name is
/// empty. Types that need Python's pickle are refused.
NamedTensor read_npy(const std::string& path, const FileSystem* files = nullptr);
/// Types that NumPy does not have (BF16) are refused.
void write_npy(const std::string& path, const NamedTensor& tensor, const SaveOptions& options = {});

/// The arrays in the order of the archive, named without `.npy`. Sizes, checksums and names are
/// verified; names that come twice and members that are no arrays are refused.
std::vector<NamedTensor> read_npz(const std::string& path, const FileSystem* files = nullptr);
/// Not compressed.
void write_npz(const std::string& path, const std::vector<NamedTensor>& tensors,
               const SaveOptions& options = {});

/// The parameters of a collection; see tensors_of and store_tensors.
void save_npz(const std::string& path, const ParameterCollection& pc,
              const SaveOptions& options = {});
LoadReport load_npz(const std::string& path, ParameterCollection& pc,
                    const LoadOptions& options = {});

}  // namespace dynet
