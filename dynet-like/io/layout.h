#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// A model file holds more than arrays: things that were saved beside them, what is frozen, settings
// of trainers. As one more array of bytes, its layout, all that goes through formats that have
// nothing but arrays, and comes back.

namespace dynet {

/// The name of the array.
inline constexpr const char* kLayout = "dynet-like.layout";

/// The arrays of all groups, as `read_tensors` names them.
std::vector<NamedTensor> tensors_of(const ModelFile& file);
/// All of the file that these arrays do not hold.
NamedTensor layout_of(const ModelFile& file);
/// Whether there is more in the file than a collection, which needs no layout.
bool needs_layout(const FileIndex& index);

/// Takes the layout out of the arrays if it is among them. Empty if it is not.
std::string take_layout(std::vector<NamedTensor>& tensors);
/// The model file of that layout with the values of these arrays: with those that it had, it has
/// the bytes that it had. Throws FileError unless they are its arrays, of the same shapes.
void write_laid_out(const std::string& path, const std::string& layout,
                    const std::vector<NamedTensor>& tensors, const SaveOptions& options = {});

}  // namespace dynet
