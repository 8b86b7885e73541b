#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/io/files.h"
#include "dynet-like/shape/dim.h"

// Model files, see docs/file-format.md: a header, an index, and sections of bytes, each
// with a checksum. This file handles bytes; loading.h interprets them as parameters and trainers.

namespace dynet {

/// Version 2 has tensors in 8 bits; files without them are of version 1.
inline constexpr std::uint32_t kFormatVersion = 2;

/// Position of a section in a file.
struct Section {
  std::uint64_t number = 0;  ///< index of the section; not stored
  std::uint64_t offset = 0, size = 0;
  std::uint64_t checksum = 0;
};

/// Kind of the last thing of a file with metadata; its section is the text.
inline constexpr const char* kMetadataKind = "metadata";

/// One argument of `save`, as an archive of Boost.Serialization. Values of parameters are not in
/// the archive but in the groups.
struct SavedThing {
  std::string kind;  ///< "ParameterCollection", "Dict", "float32", "vector of string", ...
  Section data;
};

/// The values of one parameter or table, or one array of a trainer's state for it.
struct SavedTensor {
  std::string name;                  ///< begins with `/`, relative to the saved object
  std::uint64_t array = 0;           ///< index among the arrays of a trainer
  bool is_lookup = false;            ///< a table
  bool updated = true;               ///< not frozen
  bool is_int8 = false;              ///< 8 bits a value, see dynet-like/io/int8.h
  std::uint64_t rows = 1;            ///< of a table
  std::vector<std::uint64_t> sizes;  ///< of a row for a table
  Section data;                      ///< little-endian floats, column-major, row after row

  std::uint64_t count() const;
  Dim dim() const;
};

/// A collection, a single parameter, or a trainer.
struct SavedGroup {
  std::string kind;  ///< "ParameterCollection", "Parameter", "LookupParameter", "AdamTrainer", ...
  /// For a trainer: settings and counters. For a collection: weight decay of each subcollection by
  /// path; a negative value inherits the decay of the parent.
  std::map<std::string, double> numbers;
  std::vector<SavedTensor> tensors;
};

/// Index of a model file.
struct FileIndex {
  std::vector<SavedThing> things;
  std::vector<SavedGroup> groups;

  bool has_metadata() const { return !things.empty() && things.back().kind == kMetadataKind; }
  /// Number of arguments of `save`, without the metadata.
  std::size_t saved_things() const { return things.size() - has_metadata(); }
};

/// Encodes an index for a file.
std::string encode_index(const FileIndex& index);
/// Decodes an index and checks everything that a reader relies on: counts, sizes and offsets
/// (before memory is allocated for them), names, shapes, flags. The sections must fill [`begin`,
/// `end`) in the order of the index, each at the next multiple of 64. Throws FileError.
FileIndex decode_index(std::string_view bytes, std::uint64_t begin, std::uint64_t end);
/// Encodes the header of a file.
std::string encode_header(std::uint64_t file_size, std::string_view index,
                          std::uint32_t version = 1);

/// Writes a model file by NewFile. `data` has the bytes of all sections in the order of the index;
/// offsets, sizes and checksums are filled in.
void write_model_file(const std::string& path, FileIndex index,
                      const std::vector<std::string_view>& data, const SaveOptions& options = {});

/// A model file with verified header and index. Errors are FileError.
class ModelFile {
 public:
  /// With `map` the file is mapped into memory if the system supports it.
  explicit ModelFile(const std::string& path, const FileSystem* files = nullptr, bool map = false);

  const std::string& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.size(); }
  std::uint32_t version() const { return version_; }
  const FileIndex& index() const { return index_; }
  /// Reads a section and the padding after it; throws unless both are valid.
  void read(const Section& section, char* to) const;
  std::string read(const Section& section) const;
  /// `mapping` returns the mapped file, or null; the caller may keep it. `mapped` returns the bytes
  /// of a section in it, after verifying them if `verified`.
  const std::shared_ptr<char>& mapping() const { return bytes_; }
  char* mapped(const Section& section, bool verified) const;
  /// The metadata; empty if there is none.
  std::string metadata() const;
  /// Verifies a section without keeping its bytes.
  void verify(const Section& section) const;
  void verify_all() const;
  [[noreturn]] void fail(const std::string& why) const { file_.fail(why); }

 private:
  template <class Destination>
  void check(const Section& section, Destination destination) const;
  void confirm(const Section& section, std::uint64_t sum) const;

  InputFile file_;
  std::shared_ptr<char> bytes_;
  std::uint32_t version_ = 0;
  FileIndex index_;
};

}  // namespace dynet
