#include "dynet-like/io/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20, kMostLine = std::size_t{1} << 24;
constexpr std::size_t kMostWord = 1 << 16, kMostDimension = 1 << 20;
constexpr std::string_view kSpace = " \t";

std::string lower(std::string_view word) {
  std::string s(word);
  for (char& c : s)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return s;
}

// A file as lines and counted bytes.
class Pieces {
 public:
  explicit Pieces(const InputFile& file) : file_(file) {}

  /// Up to and without `end`; false at the end of the file. `s` lives until the next call.
  bool until(char end, std::size_t most, std::string_view& s) {
    std::size_t looked = 0;
    while (true) {
      const std::size_t at = buffer_.find(end, first_ + looked);
      const bool found = at != buffer_.npos;
      const std::size_t n = (found ? at : buffer_.size()) - first_;
      if (n > most) file_.fail("more than " + std::to_string(most) + " bytes without an end");
      if (found || (read_ == file_.size() && n > 0)) {
        s = std::string_view(buffer_).substr(first_, n);
        first_ += n + found;
        ended_ = !found;
        return true;
      }
      if (read_ == file_.size()) return false;
      looked = n;
      more();
    }
  }
  /// Whether the last piece ended with the file and not with what was asked for.
  bool ended() const { return ended_; }
  /// The next n bytes, or fewer at the end of the file.
  std::string_view take(std::size_t n) {
    while (buffer_.size() - first_ < n && read_ < file_.size()) more();
    n = std::min(n, buffer_.size() - first_);
    first_ += n;
    return std::string_view(buffer_).substr(first_ - n, n);
  }
  void skip(char c) {
    if (first_ == buffer_.size() && read_ < file_.size()) more();
    if (first_ < buffer_.size() && buffer_[first_] == c) ++first_;
  }
  bool at_end() const { return first_ == buffer_.size() && read_ == file_.size(); }

 private:
  void more() {
    buffer_.erase(0, first_);
    first_ = 0;
    const std::size_t held = buffer_.size();
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file_.size() - read_));
    buffer_.resize(held + n);
    file_.read(read_, buffer_.data() + held, n);
    read_ += n;
  }

  const InputFile& file_;
  std::string buffer_;
  std::size_t first_ = 0;
  std::uint64_t read_ = 0;
  bool ended_ = false;
};

bool read_size(std::string_view s, std::size_t& n) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  return error == std::errc() && end == s.data() + s.size();
}

// `<words> <dimension>`
bool read_header(std::string_view line, std::size_t& words, std::size_t& dimension) {
  while (!line.empty() && (line.back() == '\r' || kSpace.find(line.back()) != kSpace.npos))
    line.remove_suffix(1);
  const std::size_t space = line.find_first_of(kSpace);
  return space != line.npos && read_size(line.substr(0, space), words) &&
         read_size(line.substr(space + 1), dimension);
}

// Takes the last field off a line; empty if there is none.
std::string_view take_last(std::string_view& line) {
  const std::size_t end = line.find_last_not_of(kSpace);
  if (end == line.npos) return {};
  line = line.substr(0, end + 1);
  const std::size_t space = line.find_last_of(kSpace);
  const std::string_view field = space == line.npos ? line : line.substr(space + 1);
  line = space == line.npos ? std::string_view() : line.substr(0, space);
  return field;
}

bool read_float(std::string_view s, float& x) {
  if (s.starts_with('+')) s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), x);
  return error == std::errc() && end == s.data() + s.size();
}

// Calls visit(word, values) for each word of a file.
template <class Visit>
std::size_t for_each_text(const InputFile& file, std::size_t& dimension, Visit visit) {
  Pieces pieces(file);
  std::size_t number = 0, count = 0, said = 0;
  bool has_header = false;
  std::vector<float> values;
  const auto fail = [&](const std::string& why) {
    file.fail("line " + std::to_string(number) + ": " + why);
  };
  for (std::string_view line; pieces.until('\n', kMostLine, line);) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(kSpace) == line.npos) continue;
    if (number == 1 && read_header(line, said, dimension)) {
      has_header = true;
      continue;
    }
    if (dimension == 0) {  // the first line of a file without a header
      std::string_view rest = line;
      while (!take_last(rest).empty()) ++dimension;
      if (dimension < 2) fail("there is no vector");
      --dimension;
    }
    if (dimension > kMostDimension) fail("vectors of " + std::to_string(dimension) + " numbers");
    values.resize(dimension);
    std::string_view rest = line;
    for (std::size_t k = dimension; k-- > 0;)
      if (const std::string_view field = take_last(rest); !read_float(field, values[k]))
        fail("needs a word and " + std::to_string(dimension) + " numbers; \"" +
             std::string(field.substr(0, 40)) + "\" is none");
    if (rest.empty()) fail("needs a word and " + std::to_string(dimension) + " numbers");
    visit(rest, values);
    ++count;
  }
  if (has_header && count != said)
    file.fail("it is said to have " + std::to_string(said) + " words and has " +
              std::to_string(count));
  return count;
}

template <class Visit>
std::size_t for_each_binary(const InputFile& file, std::size_t& dimension, Visit visit) {
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
    visit(word, values);
  }
  pieces.skip('\n');
  if (!pieces.at_end()) file.fail("more follows after the last word");
  return count;
}

void check_rows(const char* who, const Dict& words, const LookupParameter& table) {
  if (table.size() < words.size())
    throw ArgumentError(std::string(who) + ": " + std::to_string(words.size()) +
                        " words need as many rows, got " + std::to_string(table.size()));
}

// Where the vectors of a file go, and where they are until all is read.
class Filling {
 public:
  Filling(const Dict& words, const LookupParameter& table, const VectorOptions& options)
      : options_(options), size_(table.get_storage().row_size()), rank_(words.size(), 0) {
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
        if (rank_[i] > rank) continue;  // a better form was there
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

  VectorReport finish(const Dict& words, ParameterStorage& p) {
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
    p.settle_all();
    for (std::size_t i = 0; i < words.size(); ++i) {
      float* row = p.values + i * size_;
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
  std::vector<int> rank_;  // of each word: how its vector was found, 0 for not yet
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
  const InputFile file(path, options.files);
  Filling filling(words, table, options);
  std::size_t dimension = 0;
  const auto visit = [&](std::string_view word, const std::vector<float>& values) {
    filling.add(file, word, values);
  };
  const std::size_t count = options.binary ? for_each_binary(file, dimension, visit)
                                           : for_each_text(file, dimension, visit);
  VectorReport report = filling.finish(words, table.get_storage());
  report.in_file = count;
  report.dimension = dimension;
  return report;
}

void save_word_vectors(const std::string& path, const Dict& words, const LookupParameter& table,
                       bool binary, const SaveOptions& options) {
  check_rows("save_word_vectors", words, table);
  const std::size_t size = table.get_storage().row_size();
  for (const std::string& word : words.get_words())
    if (word.empty() || word.size() > kMostWord ||
        word.find_first_of(binary ? " \n" : " \t\r\n") != word.npos)
      throw ArgumentError("save_word_vectors: the word \"" + word +
                          "\" is empty or has white space");
  NewFile file(path, options.files);
  file.write(std::to_string(words.size()) + " " + std::to_string(size) + "\n");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float* row = table.row(static_cast<unsigned>(i)).v;
    std::string text = words.get_words()[i];
    if (binary) {
      text += ' ';
      text.append(reinterpret_cast<const char*>(row), size * sizeof(float));
    } else {
      for (std::size_t k = 0; k < size; ++k) {
        text += ' ';
        append_number(text, row[k]);
      }
    }
    file.write(text + "\n");
  }
  file.commit();
}

}  // namespace dynet
