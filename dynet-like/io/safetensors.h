#pragma once

#include <map>
#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// Files of the Python package safetensors (https://github.com/huggingface/safetensors): the length
// of a JSON header, the header, the bytes of the arrays. All errors are FileError, or
// OutOfMemoryError.

namespace dynet {

/// All arrays in the order of their bytes, and the metadata. Strict: a header above 100 MB, names
/// that come twice, unknown types, sizes that overflow, and bytes that belong to no array or to
/// several are refused, before memory for them is taken.
std::vector<NamedTensor> read_safetensors(const std::string& path,
                                          std::map<std::string, std::string>* metadata = nullptr,
                                          const FileSystem* files = nullptr);
/// Written as NewFile does.
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       const SaveOptions& options = {});

/// The parameters of a collection; see tensors_of.
void save_safetensors(const std::string& path, const ParameterCollection& pc,
                      const SaveOptions& options = {});
/// See store_tensors.
LoadReport load_safetensors(const std::string& path, ParameterCollection& pc,
                            const LoadOptions& options = {});

}  // namespace dynet
