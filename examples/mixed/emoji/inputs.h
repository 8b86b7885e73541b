#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/mixed/emoji/corpus.h"

namespace emoji {

/// The parts of a sample that a model can look at.
enum class Input { kImage, kText, kTable };
inline constexpr std::array<Input, 3> kAllInputs = {Input::kImage, Input::kText, Input::kTable};

/// Some of them.
class Inputs {
 public:
  Inputs() = default;
  /// All of them.
  static Inputs all();
  /// Reads "image,text"; throws nlp::UserError for a name that is none, and for none at all.
  static Inputs parse(const std::string& names);
  /// Inputs that the sample has.
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

  /// Every choice of one or more of these, single ones first, the whole last.
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
