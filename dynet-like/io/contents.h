#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"

// Contents of model files, independent of the program that saved them. All errors are FileError or
// OutOfMemoryError. Names from files are printed by `printable`.

namespace dynet {

/// Formats that `dynet-like inspect` and `convert` read.
enum class FileFormat { model, safetensors, vectors, binary_vectors };

/// Detects the format by the first bytes of the file, or by its name if it has no magic bytes.
FileFormat detect_format(const std::string& path);
/// The format for a name's extension: .dynet, .safetensors; .vec or .txt for text word vectors,
/// .bin for binary ones.
FileFormat format_of_name(const std::string& path);

/// Contents that `dynet-like convert` copies between files.
struct FileContents {
  std::vector<NamedTensor> tensors;             ///< the arrays of the file, in its order
  std::map<std::string, std::string> metadata;  ///< of safetensors; key `model` for a model file
};

/// For a model file that holds more than one collection, the last array is its layout, from which
/// `write_contents` restores an identical file; see layout.h.
FileContents read_contents(const std::string& path);
/// Contents that the format cannot store are left out: metadata, and, except in safetensors, the
/// layout. Throws FileError as `write_tensors` does.
void write_contents(const std::string& path, FileContents contents,
                    const SaveOptions& options = {});

/// Metadata of a model file, see SaveOptions; empty if it has none.
std::string read_metadata(const std::string& path);

/// All arrays of a file except the layout. Model files: the values of all groups; the names of a
/// trainer's state begin with the trainer's kind, and, for the second and later groups of a kind,
/// with the number of the group. Word vectors: a table `vectors`, and an array `words` with the
/// bytes of the words, one per line.
std::vector<NamedTensor> read_tensors(const std::string& path);
/// A model file gets one ParameterCollection, which is loaded by these names; for word vectors it
/// also gets the Dict, in which only the first of equal words is kept. Throws FileError for
/// non-float arrays in formats without other types, and for arrays other than `vectors` and `words`
/// in files of word vectors.
void write_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                   const SaveOptions& options = {});

}  // namespace dynet
