#pragma once

#include <map>
#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// Files of the Python package safetensors (https://github.com/huggingface/safetensors): the length
// of a JSON header, the header, the bytes of the arrays. All errors are FileError or
// OutOfMemoryError.

namespace dynet {

/// Reads all arrays, in the order of their bytes, and the metadata. Headers above 100 MB, duplicate
/// names, unknown types, overflowing sizes, and bytes that belong to no array or to several arrays
/// are rejected before memory is allocated for them.
std::vector<NamedTensor> read_safetensors(const std::string& path,
                                          std::map<std::string, std::string>* metadata = nullptr,
                                          const FileSystem* files = nullptr);
/// Writes a file by NewFile.
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const SaveOptions& options = {});

/// Saves the parameters of a collection; see tensors_of.
void save_safetensors(const std::string& path, const ParameterCollection& pc,
                      const SaveOptions& options = {});
/// Loads a collection; see store_tensors.
LoadReport load_safetensors(const std::string& path, ParameterCollection& pc,
                            const LoadOptions& options = {});

}  // namespace dynet
