#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/io/dict.h"
#include "dynet-like/io/files.h"
#include "dynet-like/param/parameters.h"

// Word vectors of word2vec, GloVe and fastText. Text: a line for each word, the word and its
// numbers separated by spaces, with a first line `<words> <dimension>` in word2vec's and fastText's
// files. A word may contain spaces, as some of GloVe's do: the last numbers of a line are its
// vector. Binary, as word2vec writes it: that first line, then for each word its bytes, a space,
// and little-endian floats. Words are bytes, numbers finite. All errors are FileError and name the
// line or the word.

namespace dynet {

/// How a file of word vectors is laid out.
enum class VectorFormat {
  text,   ///< with word2vec's first line; without it is read as well
  glove,  ///< text without a first line
  binary
};

/// How a file of word vectors is read.
struct VectorOptions {
  /// Which vector counts if a word comes twice.
  enum class Duplicates {
    first,
    last,
    refuse  ///< throws FileError
  };
  /// Which words of the file are those of the dictionary.
  enum class Case {
    exact,
    fallback,  ///< a word that is not in the file gets the vector of its lower-case form (ASCII)
    lower      ///< capitals do not count, in either place (ASCII)
  };
  /// Treatment of words that are not in the file.
  enum class Unknown {
    keep,  ///< words that are not in the file keep their rows
    zero,
    mean  ///< they get the mean of the vectors that were found
  };
  /// As the enumerations say.
  VectorFormat format = VectorFormat::text;
  Duplicates duplicates = Duplicates::first;
  Case letters = Case::exact;
  Unknown unknown = Unknown::keep;
  const FileSystem* files = nullptr;  ///< null: the operating system's
};

/// How much of a dictionary a file of vectors covers.
struct VectorReport {
  std::size_t in_file = 0;     ///< words in the file
  std::size_t dimension = 0;   ///< of their vectors
  std::size_t found = 0;       ///< words of the dictionary that got a vector
  std::size_t by_case = 0;     ///< of these, by another form of the word
  std::size_t duplicates = 0;  ///< words in the file that came again, among those of the dictionary
  std::vector<std::string> missing;  ///< words of the dictionary that got none

  /// `found / words of the dictionary`, 1 for none.
  double coverage() const;
};

/// Puts the vectors of a file in the rows of a table, by the numbers of the words. Reads the file
/// once, keeping nothing but what the table needs; the table changes only when all of it is read.
/// Throws FileError also for another dimension than the table's; ArgumentError unless the table has
/// a row for each word.
VectorReport load_word_vectors(const std::string& path, const Dict& words, LookupParameter& table,
                               const VectorOptions& options = {});

/// The rows of a table, by the words of the dictionary; text has as many digits as it takes for
/// them to come back to the bit. Throws ArgumentError unless the table has a row for each word, for
/// a word that the format cannot hold, and for a number that is not finite.
void save_word_vectors(const std::string& path, const Dict& words, const LookupParameter& table,
                       VectorFormat format = VectorFormat::text, const SaveOptions& options = {});

/// Gets a word and its vector; both live until it returns.
using VectorVisitor = std::function<void(std::string_view word, const std::vector<float>& vector)>;

/// Calls `visit` for each word of a file, in its order, and returns their number. All vectors have
/// one length.
std::size_t read_word_vectors(const std::string& path, const VectorVisitor& visit,
                              VectorFormat format = VectorFormat::text,
                              const FileSystem* files = nullptr);
/// A vector of `dimension` values for each word, one behind the other. Throws ArgumentError for a
/// word that the format cannot hold, and for a number that is not finite.
void write_word_vectors(const std::string& path, const std::vector<std::string>& words,
                        const float* values, std::size_t dimension,
                        VectorFormat format = VectorFormat::text, const SaveOptions& options = {});

}  // namespace dynet
