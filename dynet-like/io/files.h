#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/file_system.h"

namespace dynet {

/// How files are written. Everything has a default.
struct SaveOptions {
  const FileSystem* files = nullptr;  ///< null: the operating system's
  /// Metadata of a model file, any text, best JSON: `load` skips it, `read_metadata` returns it,
  /// and `dynet-like inspect` prints it.
  std::string metadata = {};
};

/// A file that appears under its name as a whole, or not at all.
///
/// The bytes go to a new file beside the target, `<target>.tmp-<16 digits>` (for names of more than
/// 100 bytes `<their hash>.tmp-<16 digits>`), which `commit` flushes to the disk and renames; then
/// it flushes the folder. Whatever fails, the new file is removed, an old file is untouched, and
/// FileError names the file and the cause. Files of this kind that a process left behind when it
/// was killed are removed by the next one that writes the same target; a lock tells them from files
/// that are being written. The mode of an old file is kept, anything but a regular file is refused.
/// Through a symbolic link the file that it leads to is replaced, or made where there is none.
class NewFile {
 public:
  /// `files` must outlive this; null: the operating system's.
  explicit NewFile(const std::string& path, const FileSystem* files = nullptr);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Without `commit` everything is as it was.
  ~NewFile();

  void write(std::string_view bytes);
  /// To be called once. If only the folder cannot be flushed, the new file is there whole and
  /// FileError says so.
  void commit();
  /// Throws the FileError of this file.
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
  std::string stem_;       // what the names of temporary files begin with
  std::string temporary_;  // the path of ours
  std::string waiting_;    // small pieces on their way
  int fd_ = -1;
};

namespace io_detail {

/// Throws OutOfMemoryError: `cannot load PATH: out of memory`.
[[noreturn]] void out_of_memory(const char* verb, const std::string& path);

/// Does work on a file. Memory that it cannot have is an OutOfMemoryError that names the file.
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

/// A whole file at once, as NewFile writes it.
void write_file(const std::string& path, std::string_view bytes, const SaveOptions& options = {});

/// A regular file to be read. Errors are FileError with the name and the cause, in which what is
/// not printable is escaped.
class InputFile {
 public:
  /// `files` must outlive this; null: the operating system's.
  explicit InputFile(const std::string& path, const FileSystem* files = nullptr);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Throws if the file ends before.
  void read(std::uint64_t at, char* to, std::size_t n) const;
  /// `n` bytes. Throws before it takes memory for them if the file has fewer.
  std::string read(std::uint64_t at, std::uint64_t n) const;
  /// All of it where the system keeps it, as long as this lives; null if that is not possible. A
  /// program that cuts the file short meanwhile ends this process.
  const char* map();
  [[noreturn]] void fail(const std::string& why) const;

 private:
  FileSystem system_;
  const FileSystem& files_;
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  const char* mapped_ = nullptr;
};

namespace io_detail {

/// Runs `work`, which parses bytes of a file: its FileError becomes one of the file.
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
