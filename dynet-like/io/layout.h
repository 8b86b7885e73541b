#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// A model file holds more than arrays: other saved things, frozen flags, settings of trainers. The
// layout encodes all of these as one more array of bytes, so that they survive a conversion to
// formats that store only arrays, and back.

namespace dynet {

/// Name of the layout's array.
inline constexpr const char* kLayout = "dynet-like.layout";

/// The arrays of all groups, with the names of `read_tensors`.
std::vector<NamedTensor> tensors_of(const ModelFile& file);
/// Everything in the file that its arrays do not hold.
NamedTensor layout_of(const ModelFile& file);
/// Returns whether the file holds anything but one ParameterCollection.
bool needs_layout(const FileIndex& index);

/// Removes the layout from the arrays and returns it; empty if there is none.
std::string take_layout(std::vector<NamedTensor>& tensors);
/// Writes the model file of a layout with the values of these arrays; with unchanged arrays it is
/// identical to the original file. Throws FileError unless names and shapes of the arrays are those
/// of the layout.
void write_laid_out(const std::string& path, const std::string& layout,
                    const std::vector<NamedTensor>& tensors, const SaveOptions& options = {});

}  // namespace dynet
