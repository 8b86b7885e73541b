#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dynet {

/// Words and their numbers, 0, 1, 2, ... in the order of first appearance.
class Dict {
 public:
  Dict() = default;
  /// A dictionary of these words, numbered in this order. Throws ArgumentError if one comes twice.
  explicit Dict(const std::vector<std::string>& words);

  /// The number of words, and whether there is this one.
  unsigned size() const { return static_cast<unsigned>(words_.size()); }
  bool contains(std::string_view word) const { return find(word) >= 0; }

  /// From now on no word is added.
  void freeze() { frozen = true; }
  bool is_frozen() const { return frozen; }

  /// The number of a word. An unknown word is added; if the dictionary is frozen it gets the number
  /// of the unknown word, and without one this throws ArgumentError.
  int convert(std::string_view word);
  /// The same without adding: throws for an unknown word unless there is an unknown word to stand
  /// for it.
  int convert(std::string_view word) const;
  /// The word with this number. Throws IndexError.
  const std::string& convert(int id) const;

  /// The word that stands for all unknown words, added if need be. Throws ArgumentError unless the
  /// dictionary is frozen and has no such word yet.
  void set_unk(std::string_view word);
  /// The number of that word, or -1.
  int get_unk_id() const { return unk_id; }

  /// All words by their numbers.
  const std::vector<std::string>& get_words() const { return words_; }
  /// As new: no words, not frozen, no unknown word.
  void clear();

 protected:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  // Named as in DyNet, for classes derived from this one.
  bool frozen = false;
  bool map_unk = false;  ///< whether a word stands for unknown ones
  int unk_id = -1;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int, Hash, std::equal_to<>> d_;  ///< numbers by word

 private:
  int find(std::string_view word) const;
  int add(std::string_view word);
  int unknown(std::string_view word) const;
};

/// The numbers of the words of a line, which are separated by white space.
std::vector<int> read_sentence(std::string_view line, Dict& dict);

/// Appends the two halves of a line, `source words ||| target words`, each by its dictionary.
/// Throws ArgumentError unless the separator comes exactly once, and for words that a dictionary
/// does not take; both lists are then as they were.
void read_sentence_pair(std::string_view line, std::vector<int>& source, Dict& source_dict,
                        std::vector<int>& target, Dict& target_dict);

}  // namespace dynet
