#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// Contents of files of models, of any program. All errors are FileError, or OutOfMemoryError. Names
// from files are printed as `printable` returns them.

namespace dynet {

/// Formats that `dynet-like inspect` and `convert` read.
enum class FileFormat { model, safetensors, vectors, binary_vectors };

/// By the first bytes, and for those that have none, by the name.
FileFormat detect_format(const std::string& path);
/// By the end of the name: .dynet, .safetensors; word vectors are .vec or .txt, and binary ones
/// .bin.
FileFormat format_of_name(const std::string& path);

/// Contents that `dynet-like convert` copies from one file to another.
struct FileContents {
  std::vector<NamedTensor> tensors;             ///< the arrays of the file, in its order
  std::map<std::string, std::string> metadata;  ///< of safetensors; of a model file as `model`
};

/// The last array of a model file that holds more than a collection is its layout, with which
/// `write_contents` writes an identical file; see layout.h.
FileContents read_contents(const std::string& path);
/// Contents without a place in the format are left out: metadata, and but for safetensors the
/// layout. Throws FileError as `write_tensors` does.
void write_contents(const std::string& path, FileContents contents,
                    const SaveOptions& options = {});

/// Metadata of a model file, see SaveOptions; empty if it has none.
std::string read_metadata(const std::string& path);

/// All arrays of a file but the layout. Of a model file the values of all groups; names of a
/// trainer's state begin with its kind, and if there are several groups of a kind, all but the
/// first with their number. Word vectors are a table `vectors` and the bytes of their `words`, one
/// a line.
std::vector<NamedTensor> read_tensors(const std::string& path);
/// A model file gets one ParameterCollection, which is loaded by these names, and of word vectors
/// the Dict, in which the first of equal words counts. Throws FileError for arrays that are not of
/// floats, where the format has no others, and for other arrays than `vectors` and `words` in files
/// of word vectors.
void write_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                   const SaveOptions& options = {});

}  // namespace dynet
