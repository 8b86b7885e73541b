#pragma once

#include <stdexcept>
#include <string>

#include "dynet-like/base/source_location.h"

namespace dynet {

/// Base of all exceptions of this library. Objects remain usable after an Error. Error does not
/// derive from std::exception; each type below does, exactly once: from std::invalid_argument for
/// wrong arguments, shapes and indices, from std::runtime_error otherwise.
class Error {
 public:
  virtual ~Error() = default;
  /// Message: the mistake, the operands and the location.
  virtual const char* what() const noexcept = 0;
  /// Location of the mistake in the user's program; an empty file name if unknown.
  const SourceLocation& where() const noexcept { return at_; }

 protected:
  explicit Error(SourceLocation at) : at_(at) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

 private:
  SourceLocation at_;
};

/// An Error that is also a standard exception.
template <class Standard>
class StandardError : public Standard, public Error {
 public:
  explicit StandardError(const std::string& what, SourceLocation at = {})
      : Standard(what), Error(at) {}
  /// See Error::what.
  const char* what() const noexcept override { return Standard::what(); }
};

/// Operands whose shapes or batch sizes do not fit the operation.
struct ShapeError : StandardError<std::invalid_argument> {
  using StandardError::StandardError;
};
/// An index, slice or dimension outside its range.
struct IndexError : StandardError<std::invalid_argument> {
  using StandardError::StandardError;
};
/// Any other invalid argument.
struct ArgumentError : StandardError<std::invalid_argument> {
  using StandardError::StandardError;
};
/// An Expression that is empty, that belongs to another graph, or whose graph was cleared, reverted
/// or destroyed.
struct StaleExpressionError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A gradient that was not computed by a backward pass, or that was freed.
struct GradientError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A NaN or an infinity found by the validity check or by a trainer.
struct NumericError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A file that cannot be opened, read or written, or that has unexpected contents.
struct FileError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// An allocation that failed on the CPU or on a device.
struct OutOfMemoryError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A device that does not exist, lacks a feature, or has failed.
struct DeviceError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};

}  // namespace dynet
