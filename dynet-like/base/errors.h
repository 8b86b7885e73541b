#pragma once

#include <stdexcept>
#include <string>

#include "dynet-like/base/source_location.h"

namespace dynet {

/// Base of everything this library throws. After any of them the object that was used still works.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, SourceLocation at = {})
      : std::runtime_error(what), at_(at) {}

  /// Where in the user's program the mistake was made; an empty file name if unknown.
  const SourceLocation& where() const noexcept { return at_; }

 private:
  SourceLocation at_;
};

/// Operands whose shapes or batch sizes do not fit the operation.
struct ShapeError : Error {
  using Error::Error;
};
/// An index, slice or dimension outside its range.
struct IndexError : Error {
  using Error::Error;
};
/// Any other argument that breaks a rule.
struct ArgumentError : Error {
  using Error::Error;
};
/// An Expression that is empty, of a cleared, reverted or destroyed graph, or of another graph.
struct StaleExpressionError : Error {
  using Error::Error;
};
/// A NaN or an infinity found by the validity check or by a trainer.
struct NumericError : Error {
  using Error::Error;
};
/// A file that cannot be opened, read, written, or does not hold what was asked for.
struct FileError : Error {
  using Error::Error;
};
/// Memory that could not be had, of the machine or of a device.
struct OutOfMemoryError : Error {
  using Error::Error;
};
/// A device that is not there, cannot do what is asked, or has failed.
struct DeviceError : Error {
  using Error::Error;
};

}  // namespace dynet
