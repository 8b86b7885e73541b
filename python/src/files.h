#pragma once

#include <string>

#include "bindings.h"

namespace dynet::python {

/// Reads the values of a collection from a file, whatever wrote it: text of DyNet under `key`, our
/// own files, safetensors. Throws FileError, changing nothing.
void populate(ParameterCollection& pc, const Path& fname, const std::string& key);

}  // namespace dynet::python
