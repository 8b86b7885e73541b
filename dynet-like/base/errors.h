#pragma once

#include <stdexcept>
#include <string>

#include "dynet-like/base/source_location.h"

namespace dynet {

/// Base of everything that this library throws. The object in use still works after an Error. Error
/// is no std::exception itself, so that each type below is one exactly once: std::invalid_argument
/// for wrong arguments, shapes and indices, std::runtime_error otherwise.
class Error {
 public:
  virtual ~Error() = default;
  /// The message: what was wrong, with which operands, and where.
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

/// An Error that is a standard exception too.
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
/// Any other argument that breaks a rule.
struct ArgumentError : StandardError<std::invalid_argument> {
  using StandardError::StandardError;
};
/// An Expression that is empty, of a cleared, reverted or destroyed graph, or of another graph.
struct StaleExpressionError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A gradient that no backward pass has computed, or that was not kept.
struct GradientError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A NaN or an infinity found by the validity check or by a trainer.
struct NumericError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A file that cannot be opened, read, written, or does not hold what was asked for.
struct FileError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// Memory that could not be had, of the machine or of a device.
struct OutOfMemoryError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// A device that is not there, cannot do what is asked, or has failed.
struct DeviceError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};

}  // namespace dynet
