#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/mixed/emoji/corpus.h"

namespace emoji {

/// Inputs of a model.
enum class Input { kImage, kText, kTable };
inline constexpr std::array<Input, 3> kAllInputs = {Input::kImage, Input::kText, Input::kTable};

/// A set of inputs.
class Inputs {
 public:
  Inputs() = default;
  static Inputs all();
  /// Parses "image,text"; throws nlp::UserError for an unknown name and for an empty list.
  static Inputs parse(const std::string& names);
  /// Inputs present in a sample.
  static Inputs of(const Sample& sample);

  bool has(Input input) const { return (bits_ & bit(input)) != 0; }
  bool empty() const { return bits_ == 0; }
  std::size_t size() const;
  Inputs with(Input input) const { return Inputs(bits_ | bit(input)); }
  Inputs without(Input input) const { return Inputs(bits_ & ~bit(input)); }
  Inputs both(const Inputs& other) const { return Inputs(bits_ & other.bits_); }
  bool operator==(const Inputs& other) const = default;
  /// "image,text".
  std::string names() const;

  /// All non-empty subsets, single inputs first, the whole set last.
  std::vector<Inputs> choices() const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& bits_;
  }
  void check() const;  ///< see nlp::Checked

 private:
  explicit Inputs(unsigned bits) : bits_(bits) {}
  static constexpr unsigned bit(Input input) { return 1u << static_cast<unsigned>(input); }

  unsigned bits_ = 0;
};

}  // namespace emoji
