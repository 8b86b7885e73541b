#pragma once

#include <string>

#include "bindings.h"

namespace dynet::python {

/// Reads the values of a collection from a file of any supported format: DyNet's text under `key`,
/// our own format, safetensors. Throws FileError, changing nothing.
void populate(ParameterCollection& pc, const Path& fname, const std::string& key);

}  // namespace dynet::python
