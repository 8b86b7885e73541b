#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/io/files.h"
#include "dynet-like/shape/dim.h"

// The format of model files, version 1, as docs/file-format.md has it: a header, an index, and
// sections of bytes, each with a checksum. This file knows bytes; what they mean to parameters and
// trainers is in loading.h.

namespace dynet {

inline constexpr std::uint32_t kFormatVersion = 1;

/// Position of some bytes in a file.
struct Section {
  std::uint64_t number = 0;  ///< counted from the first, not stored
  std::uint64_t offset = 0, size = 0;
  std::uint64_t checksum = 0;
};

/// The kind of the last thing of a file with metadata, whose section is the text itself.
inline constexpr const char* kMetadataKind = "metadata";

/// One argument of `save`: an archive of Boost.Serialization. Values of parameters are not in it
/// but in the groups.
struct SavedThing {
  std::string kind;  ///< "ParameterCollection", "Dict", "float32", "vector of string", ...
  Section data;
};

/// The values of one parameter or table, or one array of a trainer's state for it.
struct SavedTensor {
  std::string name;                  ///< begins with `/`, relative to what was saved
  std::uint64_t array = 0;           ///< which one of the arrays of a trainer
  bool is_lookup = false;            ///< a table
  bool updated = true;               ///< not frozen
  std::uint64_t rows = 1;            ///< of a table
  std::vector<std::uint64_t> sizes;  ///< of a row for a table
  Section data;                      ///< little-endian floats, column-major, row after row

  std::uint64_t count() const;
  Dim dim() const;
};

/// A collection, a single parameter, or a trainer.
struct SavedGroup {
  std::string kind;  ///< "ParameterCollection", "Parameter", "LookupParameter", "AdamTrainer", ...
  /// Settings and counters of a trainer; weight decay of each collection in a collection, negative
  /// for the decay of the collection above.
  std::map<std::string, double> numbers;
  std::vector<SavedTensor> tensors;
};

/// Index of a model file.
struct FileIndex {
  std::vector<SavedThing> things;
  std::vector<SavedGroup> groups;

  bool has_metadata() const { return !things.empty() && things.back().kind == kMetadataKind; }
  /// Without the metadata: the arguments of `save`.
  std::size_t saved_things() const { return things.size() - has_metadata(); }
};

/// The bytes of an index as they are in a file.
std::string encode_index(const FileIndex& index);
/// Everything that a reader relies on is checked: counts, sizes and offsets before memory is taken
/// for them, names, shapes, flags. The sections must fill [`begin`, `end`) in the order of the
/// index, each at the next multiple of 64. Throws FileError with the reason.
FileIndex decode_index(std::string_view bytes, std::uint64_t begin, std::uint64_t end);
/// The header of a file of these sizes.
std::string encode_header(std::uint64_t file_size, std::string_view index);

/// Writes a model file as NewFile does. `data` are the bytes of all sections in the order of the
/// index; offsets, sizes and checksums are filled in.
void write_model_file(const std::string& path, FileIndex index,
                      const std::vector<std::string_view>& data, const SaveOptions& options = {});

/// A model file whose header and index are verified. Errors are FileError.
class ModelFile {
 public:
  /// With `map` sections are used where they lie, if the system can do that.
  explicit ModelFile(const std::string& path, const FileSystem* files = nullptr, bool map = false);

  const std::string& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.size(); }
  const FileIndex& index() const { return index_; }
  /// Reads a section and the zeros behind it, and throws unless all of it is as it was written.
  void read(const Section& section, char* to) const;
  std::string read(const Section& section) const;
  /// Whether `mapped` may be called, and the bytes of a section where they lie, verified as `read`
  /// does; they live as long as this.
  bool is_mapped() const { return bytes_ != nullptr; }
  const char* mapped(const Section& section) const;
  /// Empty if there are none.
  std::string metadata() const;
  /// The same without keeping the bytes.
  void verify(const Section& section) const;
  void verify_all() const;
  [[noreturn]] void fail(const std::string& why) const { file_.fail(why); }

 private:
  template <class Destination>
  void check(const Section& section, Destination destination) const;
  void confirm(const Section& section, std::uint64_t sum) const;

  InputFile file_;
  const char* bytes_ = nullptr;  // all of a mapped file
  FileIndex index_;
};

}  // namespace dynet
