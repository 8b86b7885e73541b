#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text.h"

// Files come from strangers: what one says of a model is checked before it is used.

namespace nlp {

/// A type that is read from a file: it has a `void check() const` of its own, not inherited, which
/// throws UserError with a sentence for anything that these programs would not have saved.
template <class T>
concept Checked = std::same_as<decltype(&T::check), void (T::*)() const>;

/// Throws UserError with that sentence unless it holds.
void require(bool holds, const std::string& sentence);

/// A number from `least` to `most`, so neither infinite nor NaN.
void require_number(const std::string& what, double value, double least, double most);
/// The size of a vector or of a layer.
void require_size(const std::string& what, unsigned size);
void require_layers(unsigned layers);
/// Rates of 1 would drop all.
void require_dropout(float rate);
/// Texts that numbers stand for: `least` or more, all different.
void require_texts(const std::string& what, const std::vector<std::string>& texts,
                   std::size_t least = 1);
/// The same, the first of which stands for all others.
void require_known_texts(const std::string& what, const std::vector<std::string>& texts,
                         std::size_t least = 1);
/// One of the texts.
void require_among(const std::string& what, const std::string& text,
                   const std::vector<std::string>& texts);

/// One of the values that have a name.
template <typename Value>
void require_named(const std::string& what, const Names<Value>& names, Value value) {
  for (const auto& [each, name] : names)
    if (each == value) return;
  throw UserError("its " + what + " is number " + std::to_string(static_cast<long>(value)) +
                  ", which is none");
}

/// Throws UserError that names the file and the first array that has an infinity or a NaN.
void require_finite(const std::string& path, const dynet::ParameterCollection& weights);
/// Throws dynet::NumericError: nothing can be chosen by scores of which one is infinite or NaN.
void require_scores(std::span<const float> scores);

/// Calls `act`, which computes with a model: what goes wrong is said of its file, unless it is an
/// error of another file, of memory, of a device or of another process.
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

/// Calls `read`. What that finds to be wrong is said of the file.
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
