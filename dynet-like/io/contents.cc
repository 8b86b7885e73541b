#include "dynet-like/io/contents.h"

#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/layout.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"

namespace dynet {
namespace {

bool is_float(NamedTensor::Type type) { return type <= NamedTensor::Type::BF16; }

VectorFormat vector_format(FileFormat f) {
  return f == FileFormat::binary_vectors ? VectorFormat::binary : VectorFormat::text;
}

constexpr const char *kVectors = "vectors", *kWords = "words", *kModel = "model";

std::vector<NamedTensor> read_vectors(const std::string& path, FileFormat format) {
  NamedTensor vectors, words;
  vectors.name = kVectors;
  vectors.is_table = true;
  std::size_t dimension = 0;
  const auto add = [&](std::string_view word, const std::vector<float>& vector) {
    dimension = vector.size();
    vectors.bytes.append(reinterpret_cast<const char*>(vector.data()), dimension * sizeof(float));
    words.bytes.append(word).append(1, '\n');
  };
  const std::size_t count = read_word_vectors(path, add, vector_format(format));
  vectors.shape = {count, dimension};
  words.name = kWords;
  words.type = NamedTensor::Type::U8;
  words.shape = {words.bytes.size()};
  return {std::move(vectors), std::move(words)};
}

struct Vectors {
  std::vector<std::string> words;
  std::vector<float> values;
  std::size_t dimension = 0;
};

// The word vectors in `tensors`, if these are a result of read_vectors.
std::optional<Vectors> vectors_of(const std::vector<NamedTensor>& tensors) {
  const NamedTensor *vectors = nullptr, *words = nullptr;
  for (const NamedTensor& t : tensors) {
    if (t.name == kVectors && t.shape.size() == 2 && is_float(t.type)) vectors = &t;
    if (t.name == kWords && t.type == NamedTensor::Type::U8) words = &t;
  }
  if (!vectors || !words || tensors.size() != 2) return {};
  Vectors v;
  std::istringstream lines(words->bytes);
  for (std::string word; std::getline(lines, word);) v.words.push_back(word);
  if (v.words.size() != vectors->shape[0]) return {};
  v.dimension = vectors->shape[1];
  v.values = to_floats(*vectors);
  return v;
}

void write_vectors(const std::string& path, const std::vector<NamedTensor>& tensors,
                   FileFormat format, const SaveOptions& options) {
  const auto v = vectors_of(tensors);
  if (!v)
    throw FileError("cannot save " + printable(path) +
                    ": word vectors are an array `vectors` and the bytes of as many `words`");
  write_word_vectors(path, v->words, v->values.data(), v->dimension, vector_format(format),
                     options);
}

// The words become a Dict; only the first of equal words is kept.
void write_model(const std::string& path, const std::vector<NamedTensor>& tensors,
                 const SaveOptions& options) {
  const auto v = vectors_of(tensors);
  if (!v) return write_model_tensors(path, tensors, options);
  Dict dict;
  NamedTensor t;
  t.name = kVectors;
  t.is_table = true;
  for (std::size_t i = 0; i < v->words.size(); ++i) {
    if (dict.contains(v->words[i])) continue;
    dict.convert(v->words[i]);
    t.bytes.append(reinterpret_cast<const char*>(v->values.data() + i * v->dimension),
                   v->dimension * sizeof(float));
  }
  t.shape = {dict.size(), v->dimension};
  write_model_tensors(path, {t}, options, &dict);
}

constexpr const char* kOfNumPy =
    "NumPy's files are read and written by `python -m dynet.convert IN OUT`";

// Extensions; the first of a format is its default.
constexpr std::pair<std::string_view, FileFormat> kEnds[] = {
    {".dynet", FileFormat::model},
    {".safetensors", FileFormat::safetensors},
    {".vec", FileFormat::vectors},
    {".txt", FileFormat::vectors},
    {".bin", FileFormat::binary_vectors}};

std::optional<FileFormat> find_format(std::string_view path) {
  for (const auto& [end, format] : kEnds)
    if (path.ends_with(end)) return format;
  return {};
}

}  // namespace

FileFormat format_of_name(const std::string& path) {
  if (const auto format = find_format(path)) return *format;
  if (path.ends_with(".npy") || path.ends_with(".npz"))
    throw FileError("cannot save " + printable(path) + ": " + kOfNumPy);
  std::string ends;
  for (const auto& [end, format] : kEnds) ends += " " + std::string(end);
  throw FileError(printable(path) + ": the name says no format; it must end in one of" + ends);
}

FileFormat detect_format(const std::string& path) {
  const InputFile file(path);
  std::string start(std::min<std::uint64_t>(8, file.size()), '\0');
  file.read(0, start.data(), start.size());
  if (start.starts_with("\x89"
                        "dynet"))
    return FileFormat::model;
  if (start.starts_with("\x93NUMPY") || start.starts_with("PK")) file.fail(kOfNumPy);
  const auto format = find_format(path);
  if (format == FileFormat::safetensors || format == FileFormat::vectors ||
      format == FileFormat::binary_vectors)
    return *format;
  file.fail("it is no file of a kind that is known");
}

FileContents read_contents(const std::string& path) {
  return io_detail::with_memory("load", path, [&]() -> FileContents {
    FileContents contents;
    switch (const FileFormat format = detect_format(path)) {
      case FileFormat::model: {
        const ModelFile file(path);
        file.verify_all();
        contents.tensors = tensors_of(file);
        if (needs_layout(file.index())) contents.tensors.push_back(layout_of(file));
        if (file.index().has_metadata()) contents.metadata[kModel] = file.metadata();
        break;
      }
      case FileFormat::safetensors:
        contents.tensors = read_safetensors(path, &contents.metadata);
        break;
      default:
        contents.tensors = read_vectors(path, format);
    }
    return contents;
  });
}

void write_contents(const std::string& path, FileContents contents, const SaveOptions& options) {
  io_detail::with_memory("save", path, [&] {
    const FileFormat format = format_of_name(path);
    std::vector<NamedTensor>& tensors = contents.tensors;
    if (format == FileFormat::safetensors)
      return write_safetensors(path, tensors, contents.metadata, options);
    const std::string layout = take_layout(tensors);
    if (format != FileFormat::model) return write_vectors(path, tensors, format, options);
    if (layout.empty()) return write_model(path, tensors, options);
    write_laid_out(path, layout, tensors, options);
  });
}

std::string read_metadata(const std::string& path) { return ModelFile(path).metadata(); }

std::vector<NamedTensor> read_tensors(const std::string& path) {
  FileContents contents = read_contents(path);
  take_layout(contents.tensors);
  return std::move(contents.tensors);
}

void write_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                   const SaveOptions& options) {
  write_contents(path, {tensors, {}}, options);
}

}  // namespace dynet
