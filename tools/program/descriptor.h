#pragma once

#include <stdexcept>
#include <streambuf>
#include <string>

namespace program {

/// Failed write: "cannot write <name>: <reason>".
class OutputError : public std::runtime_error {
 public:
  /// `error` is an errno.
  OutputError(const std::string& name, int error);
  int error() const { return error_; }

 private:
  int error_;
};

/// Stream buffer for a descriptor, written in large pieces, or line by line to a terminal. Throws
/// OutputError, which a stream propagates if badbit is among its exceptions. Output that cannot be
/// written is dropped.
class DescriptorBuffer : public std::streambuf {
 public:
  /// Takes ownership of the descriptor; `name` is its name in errors.
  DescriptorBuffer(int fd, std::string name);
  /// Duplicates the descriptor `fd`.
  static int copy_of(int fd, const std::string& name);
  DescriptorBuffer(const DescriptorBuffer&) = delete;
  DescriptorBuffer& operator=(const DescriptorBuffer&) = delete;
  /// Writes the rest of the buffer, ignoring errors.
  ~DescriptorBuffer() override;

  /// Writes the rest of the buffer and closes the descriptor; reports errors that occur only then.
  void finish();

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize n) override;
  int sync() override;

 private:
  void write_out();
  [[noreturn]] void fail(int error);

  int fd_;
  std::string name_;
  bool by_lines_;
  std::string waiting_;
};

}  // namespace program
