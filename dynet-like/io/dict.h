#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dynet {

/// Maps words to numbers 0, 1, 2, ... in the order of first occurrence.
class Dict {
 public:
  Dict() = default;
  /// A dictionary of these words, numbered in this order. Throws ArgumentError for duplicates.
  explicit Dict(const std::vector<std::string>& words);

  /// The number of words; whether a word is in the dictionary.
  unsigned size() const { return static_cast<unsigned>(words_.size()); }
  bool contains(std::string_view word) const { return find(word) >= 0; }

  /// After this call unknown words are not added.
  void freeze() { frozen = true; }
  bool is_frozen() const { return frozen; }

  /// The number of a word. An unknown word is added; in a frozen dictionary it gets the number of
  /// the unknown word, or throws ArgumentError if there is none.
  int convert(std::string_view word);
  /// The number of a word. An unknown word gets the number of the unknown word, or throws
  /// ArgumentError if there is none.
  int convert(std::string_view word) const;
  /// The word with a number. Throws IndexError.
  const std::string& convert(int id) const;

  /// Sets the word that stands for all unknown words, and adds it if necessary. Throws
  /// ArgumentError unless the dictionary is frozen and has no such word yet.
  void set_unk(std::string_view word);
  /// The number of the unknown word, or -1.
  int get_unk_id() const { return unk_id; }

  /// All words, by their number.
  const std::vector<std::string>& get_words() const { return words_; }
  /// Resets the dictionary: no words, not frozen, no unknown word.
  void clear();

 protected:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  // Members have DyNet's names, for derived classes.
  bool frozen = false;
  bool map_unk = false;  ///< whether unk_id is set
  int unk_id = -1;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int, Hash, std::equal_to<>> d_;  ///< numbers by word

 private:
  int find(std::string_view word) const;
  int add(std::string_view word);
  int unknown(std::string_view word) const;
};

/// The numbers of a line's words, which are separated by white space.
std::vector<int> read_sentence(std::string_view line, Dict& dict);

/// Appends the two halves of a line, `source words ||| target words`, each by its dictionary.
/// Throws ArgumentError unless the separator occurs exactly once, and for words that a dictionary
/// rejects; both lists are unchanged then.
void read_sentence_pair(std::string_view line, std::vector<int>& source, Dict& source_dict,
                        std::vector<int>& target, Dict& target_dict);

}  // namespace dynet
