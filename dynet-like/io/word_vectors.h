#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/io/dict.h"
#include "dynet-like/io/files.h"
#include "dynet-like/param/parameters.h"

// Word vectors of word2vec, GloVe and fastText. Text: one line per word, the word and its numbers
// separated by spaces; files of word2vec and fastText have a first line `<words> <dimension>`. A
// word may contain spaces, as in some files of GloVe: the last numbers of a line are its vector.
// Binary (word2vec): the same first line, then for each word its bytes, a space, and little-endian
// floats. Words are bytes, numbers are finite. Errors are FileError and name the line or word.

namespace dynet {

/// Formats of files of word vectors.
enum class VectorFormat {
  text,   ///< with word2vec's first line; reading accepts files without it
  glove,  ///< text without a first line
  binary
};

/// Options of reading a file of word vectors.
struct VectorOptions {
  /// Vector of a word that occurs several times.
  enum class Duplicates {
    first,
    last,
    refuse  ///< throws FileError
  };
  /// Matching of words in the file with words of the dictionary.
  enum class Case {
    exact,
    fallback,  ///< a word that is not in the file gets the vector of its lower-case form (ASCII)
    lower      ///< case is ignored on both sides (ASCII)
  };
  /// Treatment of words that are not in the file.
  enum class Unknown {
    keep,  ///< rows of missing words are unchanged
    zero,
    mean  ///< rows of missing words get the mean of the vectors that were found
  };
  /// Values of the enumerations above.
  VectorFormat format = VectorFormat::text;
  Duplicates duplicates = Duplicates::first;
  Case letters = Case::exact;
  Unknown unknown = Unknown::keep;
  const FileSystem* files = nullptr;  ///< null: the operating system's
};

/// Coverage of a dictionary by a file of vectors.
struct VectorReport {
  std::size_t in_file = 0;           ///< size of a vector
  std::size_t dimension = 0;         ///< of their vectors
  std::size_t found = 0;             ///< words of the dictionary with a vector
  std::size_t by_case = 0;           ///< of these, words found by another form
  std::size_t duplicates = 0;        ///< repetitions of words of the dictionary in the file
  std::vector<std::string> missing;  ///< words of the dictionary without a vector

  /// `found / words of the dictionary`; 1 for an empty dictionary.
  double coverage() const;
};

/// Loads the vectors of a file into the rows of a table, by the numbers of the words. The file is
/// read once, and only vectors for the table are kept; the table changes after the whole file is
/// read. Throws FileError, also if the dimension differs from the table's; ArgumentError unless the
/// table has a row for each word.
VectorReport load_word_vectors(const std::string& path, const Dict& words, LookupParameter& table,
                               const VectorOptions& options = {});

/// Saves the rows of a table with the words of the dictionary; text has enough digits to restore
/// the exact bits. Throws ArgumentError unless the table has a row for each word, for a word that
/// the format cannot represent, and for a number that is not finite.
void save_word_vectors(const std::string& path, const Dict& words, const LookupParameter& table,
                       VectorFormat format = VectorFormat::text, const SaveOptions& options = {});

/// Receives a word and its vector, which are valid during the call.
using VectorVisitor = std::function<void(std::string_view word, const std::vector<float>& vector)>;

/// Calls `visit` for each word of a file, in its order, and returns the number of words. All
/// vectors have one length.
std::size_t read_word_vectors(const std::string& path, const VectorVisitor& visit,
                              VectorFormat format = VectorFormat::text,
                              const FileSystem* files = nullptr);
/// Writes a vector of `dimension` values for each word, from consecutive `values`. Throws
/// ArgumentError for a word that the format cannot represent, and for a number that is not finite.
void write_word_vectors(const std::string& path, const std::vector<std::string>& words,
                        const float* values, std::size_t dimension,
                        VectorFormat format = VectorFormat::text, const SaveOptions& options = {});

}  // namespace dynet
