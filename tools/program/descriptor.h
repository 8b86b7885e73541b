#pragma once

#include <stdexcept>
#include <streambuf>
#include <string>

namespace program {

/// Output that the system does not take: "cannot write <name>: <reason>".
class OutputError : public std::runtime_error {
 public:
  /// `error` is an errno.
  OutputError(const std::string& name, int error);
  int error() const { return error_; }

 private:
  int error_;
};

/// Buffer of a stream to a descriptor, written in large pieces, or line by line to a terminal.
/// Throws OutputError; a stream lets it pass if badbit is among its exceptions. Output that could
/// not be written is dropped and not tried again.
class DescriptorBuffer : public std::streambuf {
 public:
  /// Owns the descriptor; `name` is what errors call it.
  DescriptorBuffer(int fd, std::string name);
  /// Another descriptor for what `fd` writes to.
  static int copy_of(int fd, const std::string& name);
  DescriptorBuffer(const DescriptorBuffer&) = delete;
  DescriptorBuffer& operator=(const DescriptorBuffer&) = delete;
  /// Writes what is left, if it can.
  ~DescriptorBuffer() override;

  /// Writes what is left and closes the descriptor: some errors show only there.
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
