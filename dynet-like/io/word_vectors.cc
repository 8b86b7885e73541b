#include "dynet-like/io/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/pieces.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

using io_detail::Pieces;

constexpr std::size_t kMostLine = std::size_t{1} << 24;
constexpr std::size_t kMostWord = 1 << 16, kMostDimension = 1 << 20;
constexpr std::string_view kSpace = " \t";

std::string lower(std::string_view word) {
  std::string s(word);
  for (char& c : s)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return s;
}

bool read_size(std::string_view s, std::size_t& n) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  return error == std::errc() && end == s.data() + s.size();
}

// Parses `<words> <dimension>`; returns false, and changes neither, for any other line.
bool read_header(std::string_view line, std::size_t& words, std::size_t& dimension) {
  while (!line.empty() && (line.back() == '\r' || kSpace.find(line.back()) != kSpace.npos))
    line.remove_suffix(1);
  const std::size_t space = line.find_first_of(kSpace);
  std::size_t first = 0, second = 0;
  if (space == line.npos || !read_size(line.substr(0, space), first) ||
      !read_size(line.substr(space + 1), second))
    return false;
  words = first;
  dimension = second;
  return true;
}

// Removes and returns the last field of a line; empty if there is none.
std::string_view take_last(std::string_view& line) {
  const std::size_t end = line.find_last_not_of(kSpace);
  if (end == line.npos) return {};
  line = line.substr(0, end + 1);
  const std::size_t space = line.find_last_of(kSpace);
  const std::string_view field = space == line.npos ? line : line.substr(space + 1);
  line = space == line.npos ? std::string_view() : line.substr(0, space);
  return field;
}

bool all_finite(const float* x, std::size_t n) {
  return std::all_of(x, x + n, [](float v) { return std::isfinite(v); });
}

/// Parses a number. Returns null, or the end of a sentence that describes the error.
const char* read_float(std::string_view s, float& x) {
  if (s.starts_with('+')) s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), x);
  if (error == std::errc::invalid_argument || end != s.data() + s.size() || std::isnan(x))
    return "is not a number";
  return error != std::errc() || std::isinf(x) ? "is out of range" : nullptr;
}

bool is_float(std::string_view s) {
  float x = 0;
  return read_float(s, x) == nullptr;
}

std::size_t read_text(const InputFile& file, bool may_have_header, std::size_t& dimension,
                      const VectorVisitor& visit) {
  Pieces pieces(file);
  std::size_t number = 0, count = 0, said = 0;
  bool has_header = false;
  std::vector<float> values;
  const auto fail = [&](const std::string& why) {
    file.fail("line " + std::to_string(number) + ": " + why);
  };
  const auto wanted = [&] {
    return "needs a word and " + std::to_string(dimension) + " numbers" +
           (has_header ? ", as the first line says" : "");
  };
  for (std::string_view line; pieces.until('\n', kMostLine, line);) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(kSpace) == line.npos) continue;
    if (number == 1 && may_have_header && read_header(line, said, dimension)) {
      has_header = true;
      continue;
    }
    if (dimension == 0) {  // first line of a file without a header
      std::string_view rest = line;
      while (!take_last(rest).empty()) ++dimension;
      if (dimension < 2) fail("there is no vector");
      --dimension;
    }
    if (dimension > kMostDimension) fail("vectors of " + std::to_string(dimension) + " numbers");
    values.resize(dimension);
    std::string_view rest = line;
    for (std::size_t k = dimension; k-- > 0;)
      if (const std::string_view field = take_last(rest);
          const char* const wrong = read_float(field, values[k]))
        fail(wanted() + "; \"" + std::string(field.substr(0, 40)) + "\" " + wrong);
    if (rest.empty()) fail(wanted());
    // A word may end with a number; in the first line this is taken for a wrong dimension.
    if (std::string_view word = rest; count == 0 && is_float(take_last(word)) && !word.empty())
      fail(wanted() + ", and has more");
    visit(rest, values);
    ++count;
  }
  if (has_header && count != said)
    file.fail("it is said to have " + std::to_string(said) + " words and has " +
              std::to_string(count));
  return count;
}

std::size_t read_binary(const InputFile& file, std::size_t& dimension, const VectorVisitor& visit) {
  Pieces pieces(file);
  std::string_view piece;
  std::size_t count = 0;
  if (!pieces.until('\n', kMostWord, piece) || !read_header(piece, count, dimension))
    file.fail("its first line is not the number of words and the dimension");
  if (dimension == 0 || dimension > kMostDimension)
    file.fail("vectors of " + std::to_string(dimension) + " numbers");
  std::vector<float> values(dimension);
  for (std::size_t i = 0; i < count; ++i) {
    const auto cut_short = [&] {
      file.fail("it is cut short: it is said to have " + std::to_string(count) +
                " words and ends within word " + std::to_string(i + 1));
    };
    pieces.skip('\n');
    if (!pieces.until(' ', kMostWord, piece) || pieces.ended()) cut_short();
    const std::string word(piece);
    if (word.empty()) file.fail("word " + std::to_string(i + 1) + " is empty");
    piece = pieces.take(dimension * sizeof(float));
    if (piece.size() < dimension * sizeof(float)) cut_short();
    std::memcpy(values.data(), piece.data(), piece.size());
    if (!all_finite(values.data(), dimension))
      file.fail("a number of word " + std::to_string(i + 1) + " is not finite");
    visit(word, values);
  }
  pieces.skip('\n');
  if (!pieces.at_end()) file.fail("more follows after the last word");
  return count;
}

std::size_t read_vectors(const InputFile& file, VectorFormat format, std::size_t& dimension,
                         const VectorVisitor& visit) {
  if (format == VectorFormat::binary) return read_binary(file, dimension, visit);
  return read_text(file, format == VectorFormat::text, dimension, visit);
}

void check_rows(const char* who, const Dict& words, const LookupParameter& table) {
  if (table.size() < words.size())
    throw ArgumentError(std::string(who) + ": " + std::to_string(words.size()) +
                        " words need as many rows, got " + std::to_string(table.size()));
}

// Rows of the table by word, and the vectors until the whole file is read.
class Filling {
 public:
  Filling(const Dict& words, const LookupParameter& table, const VectorOptions& options)
      : options_(options), size_(table.stored().row_size()), rank_(words.size(), 0) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words.get_words()[i];
      const bool folded = options.letters == VectorOptions::Case::lower;
      rows_[folded ? lower(word) : word].push_back(i);
      if (options.letters == VectorOptions::Case::fallback)
        if (std::string small = lower(word); small != word) lower_rows_[small].push_back(i);
    }
  }

  void add(const InputFile& file, std::string_view word, const std::vector<float>& values) {
    if (values.size() != size_)
      file.fail("its vectors have " + std::to_string(values.size()) + " numbers, the rows of the " +
                "table " + std::to_string(size_));
    const bool folded = options_.letters == VectorOptions::Case::lower;
    key_ = folded ? lower(word) : std::string(word);
    bool again = false;
    for (const auto& [map, rank] : {std::pair(&rows_, kExact), std::pair(&lower_rows_, kByCase)}) {
      const auto found = map->find(key_);
      if (found == map->end()) continue;
      for (const std::size_t i : found->second) {
        if (rank_[i] > rank) continue;  // a closer form has been found
        const bool twice = rank_[i] == rank;
        again |= twice;
        if (twice && options_.duplicates == VectorOptions::Duplicates::refuse)
          file.fail("the word \"" + std::string(word) + "\" comes twice");
        if (twice && options_.duplicates == VectorOptions::Duplicates::first) continue;
        rank_[i] = rank;
        values_[i] = values;
      }
    }
    duplicates_ += again;
  }

  VectorReport finish(const Dict& words, ParameterStorageBase& p) {
    VectorReport report;
    std::vector<double> sum(size_, 0.0);
    for (std::size_t i = 0; i < words.size(); ++i) {
      report.found += rank_[i] != 0;
      report.by_case += rank_[i] == kByCase;
      if (rank_[i] == 0) report.missing.push_back(words.get_words()[i]);
      if (rank_[i] != 0)
        for (std::size_t k = 0; k < size_; ++k) sum[k] += values_[i][k];
    }
    report.duplicates = duplicates_;
    p.copy_to_host();
    for (std::size_t i = 0; i < words.size(); ++i) {
      float* row = p.data + i * size_;
      if (rank_[i] != 0)
        std::copy(values_[i].begin(), values_[i].end(), row);
      else if (options_.unknown == VectorOptions::Unknown::zero)
        std::fill_n(row, size_, 0.0f);
      else if (options_.unknown == VectorOptions::Unknown::mean && report.found > 0)
        for (std::size_t k = 0; k < size_; ++k)
          row[k] = static_cast<float>(sum[k] / static_cast<double>(report.found));
    }
    p.changed();
    return report;
  }

 private:
  static constexpr int kByCase = 1, kExact = 2;
  using Rows = std::unordered_map<std::string, std::vector<std::size_t>>;

  const VectorOptions& options_;
  std::size_t size_;
  Rows rows_, lower_rows_;
  std::vector<int> rank_;  // by word: form by which its vector was found, 0 for none
  std::unordered_map<std::size_t, std::vector<float>> values_;
  std::size_t duplicates_ = 0;
  std::string key_;
};

void append_number(std::string& text, float x) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}

}  // namespace

double VectorReport::coverage() const {
  const std::size_t words = found + missing.size();
  return words == 0 ? 1.0 : static_cast<double>(found) / static_cast<double>(words);
}

VectorReport load_word_vectors(const std::string& path, const Dict& words, LookupParameter& table,
                               const VectorOptions& options) {
  check_rows("load_word_vectors", words, table);
  return io_detail::with_memory("load", path, [&] {
    const InputFile file(path, options.files);
    Filling filling(words, table, options);
    std::size_t dimension = 0;
    const std::size_t count = read_vectors(
        file, options.format, dimension,
        [&](std::string_view word, const auto& values) { filling.add(file, word, values); });
    VectorReport report = filling.finish(words, table.stored());
    report.in_file = count;
    report.dimension = dimension;
    return report;
  });
}

std::size_t read_word_vectors(const std::string& path, const VectorVisitor& visit,
                              VectorFormat format, const FileSystem* files) {
  return io_detail::with_memory("load", path, [&] {
    const InputFile file(path, files);
    std::size_t dimension = 0;
    return read_vectors(file, format, dimension, visit);
  });
}

void write_word_vectors(const std::string& path, const std::vector<std::string>& words,
                        const float* values, std::size_t dimension, VectorFormat format,
                        const SaveOptions& options) {
  const bool binary = format == VectorFormat::binary;
  const std::string cannot = "cannot save " + printable(path) + ": ";
  for (std::size_t i = 0; i < words.size(); ++i)
    if (!all_finite(values + i * dimension, dimension))
      throw ArgumentError(cannot + "a number of the word " + quoted_printable(words[i]) +
                          " is not finite");
  for (const std::string& word : words)
    if (word.empty() || word.size() > kMostWord ||
        word.find_first_of(binary ? " \n" : " \t\r\n") != word.npos)
      throw ArgumentError(cannot + "the word " + quoted_printable(word) +
                          " is empty, too long or has white space");
  io_detail::with_memory("save", path, [&] {
    NewFile file(path, options.files);
    if (format != VectorFormat::glove)
      file.write(std::to_string(words.size()) + " " + std::to_string(dimension) + "\n");
    for (std::size_t i = 0; i < words.size(); ++i) {
      const float* row = values + i * dimension;
      std::string text = words[i];
      if (binary) {
        text += ' ';
        text.append(reinterpret_cast<const char*>(row), dimension * sizeof(float));
      } else {
        for (std::size_t k = 0; k < dimension; ++k) {
          text += ' ';
          append_number(text, row[k]);
        }
      }
      file.write(text + "\n");
    }
    file.commit();
  });
}

void save_word_vectors(const std::string& path, const Dict& words, const LookupParameter& table,
                       VectorFormat format, const SaveOptions& options) {
  check_rows("save_word_vectors", words, table);
  ParameterStorageBase& p = table.stored();
  p.copy_to_host();
  write_word_vectors(path, words.get_words(), p.data, p.row_size(), format, options);
}

}  // namespace dynet
