#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/file_system.h"

namespace dynet {

/// Options of saving.
struct SaveOptions {
  const FileSystem* files = nullptr;  ///< null: the operating system's
  /// Metadata of a model file, any text, preferably JSON: `load` ignores it, `read_metadata`
  /// returns it, and `dynet-like inspect` prints it.
  std::string metadata = {};
};

/// Writes a file atomically: it appears under its name completely or not at all.
///
/// The bytes are written to a temporary file beside the target, `<target>.tmp-<16 digits>` (for
/// names of more than 100 bytes `<their hash>.tmp-<16 digits>`); `commit` flushes it to the disk,
/// renames it, and flushes the folder. On any failure the temporary file is removed, an existing
/// file is unchanged, and FileError names the file and the cause. Temporary files of a killed
/// process are removed by the next process that writes the same target; a lock marks files that are
/// being written. The mode of an existing file is kept; targets other than regular files are
/// refused. For a symbolic link the file at its end is replaced or created.
class NewFile {
 public:
  /// `files` must outlive this; null: the operating system's.
  explicit NewFile(const std::string& path, const FileSystem* files = nullptr);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Removes the temporary file unless `commit` was called.
  ~NewFile();

  void write(std::string_view bytes);
  /// Must be called once. If only the flush of the folder fails, the new file is complete, and the
  /// FileError says so.
  void commit();
  /// Throws FileError with the name of this file.
  [[noreturn]] void fail(const std::string& why) const;

 private:
  void follow_links();
  bool leads_to_target() const;
  void remove_stale() const;
  void create();
  void give_up() noexcept;
  void write_now(std::string_view bytes);
  void must(const char* what, int result);

  FileSystem system_;
  const FileSystem& files_;
  std::string path_, target_, folder_;
  std::string stem_;       // start of the names of temporary files
  std::string temporary_;  // path of the temporary file
  std::string waiting_;    // buffer for small pieces
  int fd_ = -1;
};

namespace io_detail {

/// Throws OutOfMemoryError, such as `cannot load PATH: out of memory`.
[[noreturn]] void out_of_memory(const char* verb, const std::string& path);

/// Runs `work` on a file; exhausted memory becomes an OutOfMemoryError that names the file.
template <class Work>
decltype(auto) with_memory(const char* verb, const std::string& path, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    out_of_memory(verb, path);
  } catch (const std::length_error&) {
    out_of_memory(verb, path);
  }
}

}  // namespace io_detail

/// Writes a whole file by NewFile.
void write_file(const std::string& path, std::string_view bytes, const SaveOptions& options = {});

/// A regular file for reading. Errors are FileError with the name and the cause; unprintable
/// characters are escaped.
class InputFile {
 public:
  /// `files` must outlive this; null: the operating system's.
  explicit InputFile(const std::string& path, const FileSystem* files = nullptr);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Throws if the file has fewer bytes.
  void read(std::uint64_t at, char* to, std::size_t n) const;
  /// Reads `n` bytes. Throws, before memory is allocated, if the file has fewer bytes.
  std::string read(std::uint64_t at, std::uint64_t n) const;
  /// Memory mapping of the whole file, which may outlive this object; null if mapping is not
  /// possible. If another program truncates the file meanwhile, reading it kills this process.
  std::shared_ptr<char> map() const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  FileSystem system_;
  const FileSystem& files_;
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

namespace io_detail {

/// Runs `work`, which parses bytes of a file, and adds the name of the file to its FileError.
template <class Work>
decltype(auto) with_name_of(const InputFile& file, Work work) {
  try {
    return work();
  } catch (const FileError& e) {
    file.fail(e.what());
  }
}

}  // namespace io_detail

}  // namespace dynet
