#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/distributed/communicator.h"
#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text.h"

// Validation of files: the contents of a file are untrusted.

namespace nlp {

/// Type that is read from a file: it has a `void check() const` of its own, not inherited, which
/// throws UserError for contents that these programs would not have saved.
template <class T>
concept Checked = std::same_as<decltype(&T::check), void (T::*)() const>;

/// Throws UserError with `sentence` unless `holds`.
void require(bool holds, const std::string& sentence);

/// Requires a number from `least` to `most`, so neither infinite nor NaN.
void require_number(const std::string& what, double value, double least, double most);
/// Requires a valid size of a vector or layer.
void require_size(const std::string& what, unsigned size);
void require_layers(unsigned layers);
/// Requires a rate in [0, 1).
void require_dropout(float rate);
/// Requires at least `least` texts, all different.
void require_texts(const std::string& what, const std::vector<std::string>& texts,
                   std::size_t least = 1);
/// Requires at least `least` texts, all different, the first of which is the unknown text.
void require_known_texts(const std::string& what, const std::vector<std::string>& texts,
                         std::size_t least = 1);
/// Requires that `text` is one of `texts`.
void require_among(const std::string& what, const std::string& text,
                   const std::vector<std::string>& texts);

/// Requires a value with a name.
template <typename Value>
void require_named(const std::string& what, const Names<Value>& names, Value value) {
  for (const auto& [each, name] : names)
    if (each == value) return;
  throw UserError("its " + what + " is number " + std::to_string(static_cast<long>(value)) +
                  ", which is none");
}

/// Throws UserError with the file and the first array that contains an infinity or a NaN.
void require_finite(const std::string& path, const dynet::ParameterCollection& weights);
/// Throws dynet::NumericError if a score is infinite or NaN.
void require_scores(std::span<const float> scores);

/// Calls `act`, which computes with a model; errors name the file of the model, except errors of
/// other files, of memory, of a device and of other processes.
template <class Act>
void compute_with(const std::string& path, Act act) {
  try {
    act();
  } catch (const dynet::FileError&) {
    throw;
  } catch (const dynet::OutOfMemoryError&) {
    throw;
  } catch (const dynet::DeviceError&) {
    throw;
  } catch (const dynet::CommunicationError&) {
    throw;
  } catch (const dynet::Error& error) {
    throw UserError(path + ": " + error.what());
  }
}

/// Calls `read`; errors name the file.
template <class Read>
void read_checked(const std::string& path, Read read) {
  try {
    read();
  } catch (const UserError& wrong) {
    throw UserError(path + " was damaged or altered: " + wrong.what());
  } catch (const dynet::ArgumentError&) {
    throw UserError(path + " was damaged or altered: its weights are none of such a model");
  }
}

}  // namespace nlp
