#include "examples/vision/digits/corpus.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "examples/nlp/common/random.h"
#include "examples/nlp/common/text.h"

namespace digits {
namespace {

namespace fs = std::filesystem;
using nlp::LineError;
using nlp::UserError;

constexpr std::size_t kMostBytes = std::size_t{1} << 31;

bool is_folder(const std::string& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

bool is_there(const std::string& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

/// Array of bytes in the format IDX: two zeros, the type 8, the number of dimensions, the
/// big-endian dimensions of four bytes each, then the values.
struct Idx {
  std::vector<std::size_t> dims;
  std::string bytes;
  std::size_t begin = 0;  ///< begin of the values

  std::uint8_t at(std::size_t i) const { return static_cast<std::uint8_t>(bytes[begin + i]); }
};

Idx read_idx(const std::string& path, std::size_t dims, const std::string& what) {
  const auto check_magic = [&](std::string_view start) {
    const std::string magic = {'\0', '\0', '\x08', static_cast<char>(dims)};
    if (!start.starts_with(magic))
      throw UserError(path + " is no IDX file of " + what + ": it does not begin as one");
  };
  Idx idx{{}, read_bytes(path, kMostBytes, check_magic), 4 + 4 * dims};
  if (idx.bytes.empty()) check_magic({});
  if (idx.bytes.size() < idx.begin) throw UserError(path + " is cut: it has no whole header");
  std::size_t values = 1;
  for (std::size_t i = 4; i < idx.begin; i += 4) {
    std::size_t size = 0;
    for (std::size_t k = i; k < i + 4; ++k)
      size = 256 * size + static_cast<std::uint8_t>(idx.bytes[k]);
    idx.dims.push_back(size);
    values =
        size != 0 && values > (std::size_t{1} << 40) / size ? std::size_t{1} << 40 : values * size;
  }
  if (idx.bytes.size() - idx.begin != values)
    throw UserError(path + " is cut or damaged: its header promises " + std::to_string(values) +
                    " values, and there are " + std::to_string(idx.bytes.size() - idx.begin));
  return idx;
}

Corpus read_idx_pair(const std::string& path) {
  // A file name may itself contain a colon.
  std::size_t colon = path.find(':');
  while (colon != std::string::npos && !is_there(path.substr(0, colon)) &&
         path.find(':', colon + 1) != std::string::npos) {
    colon = path.find(':', colon + 1);
  }
  if (colon == std::string::npos)
    throw UserError("expected IMAGES:LABELS, two IDX files, found " + nlp::in_quotes(path, 200));
  const std::string of_images = path.substr(0, colon), of_labels = path.substr(colon + 1);
  const Idx images = read_idx(of_images, 3, "pictures"), labels = read_idx(of_labels, 1, "labels");
  const std::size_t count = images.dims[0], height = images.dims[1], width = images.dims[2];
  if (labels.dims[0] != count) {
    throw UserError(of_images + " has " + std::to_string(count) + " pictures, and " + of_labels +
                    " " + std::to_string(labels.dims[0]) + " labels");
  }
  if (count > 0 && (height == 0 || width == 0 || height > kMostPixels || width > kMostPixels))
    throw UserError(of_images + " has pictures of " + std::to_string(height) + " rows and " +
                    std::to_string(width) + " columns");
  Corpus corpus;
  corpus.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Picture picture{static_cast<unsigned>(height), static_cast<unsigned>(width), {}};
    const auto begin =
        images.bytes.begin() + static_cast<std::ptrdiff_t>(images.begin + i * height * width);
    picture.pixels.assign(begin, begin + static_cast<std::ptrdiff_t>(height * width));
    corpus.push_back({std::to_string(labels.at(i)), std::move(picture), i + 1});
  }
  return corpus;
}

/// Numbers of a line, separated by commas or white space. Semeion writes them as 1.0000.
std::vector<unsigned> numbers_of(const std::string& line, const std::string& path,
                                 std::size_t number) {
  std::string spaced = line;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::vector<unsigned> values;
  for (const std::string& word : nlp::split_words(spaced)) {
    const std::size_t point = std::min(word.find('.'), word.size());
    const bool whole =
        word.find_first_not_of('0', std::min(point + 1, word.size())) == std::string::npos;
    const bool digits =
        point > 0 && point <= 3 &&
        std::all_of(word.begin(), word.begin() + std::ptrdiff_t(point), nlp::is_digit);
    if (!digits || !whole) {
      throw LineError(path, number,
                      "expected a whole number of 0 to 999, found " + nlp::in_quotes(word));
    }
    values.push_back(static_cast<unsigned>(std::stoul(word.substr(0, point))));
  }
  return values;
}

/// Side length of the pictures, and maximum pixel value.
struct LineFormat {
  unsigned side, most;
  unsigned pixels() const { return side * side; }
};

Sample parse_line(const std::vector<unsigned>& values, const LineFormat& format,
                  const std::string& path, std::size_t number) {
  const std::size_t pixels = format.pixels();
  const bool columns = format.most == 1 && values.size() == pixels + 10;
  if (values.size() != pixels + 1 && !columns) {
    throw LineError(path, number,
                    "expected " + std::to_string(pixels) + " pixels and a label, found " +
                        std::to_string(values.size()) + " numbers");
  }
  Sample sample{"", {format.side, format.side, {}}, number};
  for (std::size_t i = 0; i < pixels; ++i) {
    if (values[i] > format.most) {
      throw LineError(path, number,
                      "expected pixels of 0 to " + std::to_string(format.most) + ", found " +
                          std::to_string(values[i]));
    }
    sample.picture.pixels.push_back(static_cast<std::uint8_t>(values[i] * 255 / format.most));
  }
  if (!columns) {
    sample.label = std::to_string(values[pixels]);
    return sample;
  }
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(pixels);
  const auto one = std::find(begin, values.end(), 1u);
  if (one == values.end() || std::accumulate(begin, values.end(), 0u) != 1)
    throw LineError(path, number, "expected a single 1 in the last ten columns");
  sample.label = std::to_string(one - begin);
  return sample;
}

Corpus read_lines(const std::string& path, Format format) {
  const std::string text = read_bytes(path, kMostBytes, [&](std::string_view start) {
    if (start.find('\0') != start.npos) throw UserError(path + " is no text: it has zero bytes");
  });
  Corpus corpus;
  std::size_t number = 0;
  for (const std::string& line : nlp::split_fields(text, '\n')) {
    ++number;
    const std::vector<unsigned> values = numbers_of(line, path, number);
    if (values.empty()) continue;
    if (format == Format::kAuto) {
      format = values.size() == 65 ? Format::kOptdigits : Format::kSemeion;
      if (format == Format::kSemeion && values.size() != 257 && values.size() != 266) {
        throw LineError(path, number,
                        "expected 64 or 256 pixels and a label, found " +
                            std::to_string(values.size()) + " numbers");
      }
    }
    const LineFormat lines = format == Format::kOptdigits ? LineFormat{8, 16} : LineFormat{16, 1};
    corpus.push_back(parse_line(values, lines, path, number));
  }
  return corpus;
}

bool is_hidden(const fs::path& path) { return path.filename().string()[0] == '.'; }

/// Sorted entries of a folder, for a reproducible order.
std::set<fs::path> entries(const fs::path& folder) {
  std::set<fs::path> all;
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!is_hidden(entry.path())) all.insert(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    throw UserError("cannot read " + folder.string() + ": " + error.code().message());
  }
  return all;
}

Corpus read_folder(const std::string& path) {
  Corpus corpus;
  for (const fs::path& label : entries(path)) {
    if (!is_folder(label.string()))
      throw UserError(label.string() + " is no folder: expected one for each label in " + path);
    for (const fs::path& file : entries(label)) {
      corpus.push_back({label.filename().string(), read_picture(file.string()), corpus.size() + 1});
    }
  }
  return corpus;
}

}  // namespace

Corpus read_corpus(const std::string& path, Format format) {
  if (format == Format::kAuto) {
    if (is_folder(path)) {
      format = Format::kFolder;
    } else if (!is_there(path) && path.find(':') != std::string::npos) {
      format = Format::kIdx;
    }
  }
  Corpus corpus = format == Format::kIdx      ? read_idx_pair(path)
                  : format == Format::kFolder ? read_folder(path)
                                              : read_lines(path, format);
  if (corpus.empty()) throw UserError(path + " holds no picture");
  return corpus;
}

void scale(Corpus& corpus, unsigned height, unsigned width) {
  for (Sample& sample : corpus) sample.picture = scaled(sample.picture, height, width);
}

std::string size_text(unsigned height, unsigned width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

std::vector<unsigned> folds_of(std::size_t samples, unsigned folds, std::uint64_t seed) {
  constexpr std::uint64_t kFolds = 5;  // not a purpose of nlp::derived_seed elsewhere
  std::vector<unsigned> parts(samples);
  for (std::size_t i = 0; i < samples; ++i) parts[i] = static_cast<unsigned>(i % folds);
  nlp::Random random(nlp::derived_seed(seed, kFolds));
  random.shuffle(parts);
  return parts;
}

}  // namespace digits
