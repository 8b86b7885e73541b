#pragma once

// The readers of files as functions of bytes, for the fuzz targets and for the test that replays
// what is in corpus/. Bytes may be anything: a reader ends well or throws FileError.

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/bytes.h"
#include "dynet-like/io/checksum.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"
#include "tests/io/file_systems.h"
#include "tests/io/model.h"

namespace dynet::fuzz {

/// True if the bytes are a file of that kind.
template <class Read>
bool reads(const std::string& bytes, Read read) {
  MemoryFile files;
  files.bytes = bytes;
  try {
    read("m", &files);
  } catch (const FileError&) {
    return false;
  }
  return true;
}

/// A model file with the checksums of its header and index corrected.
inline std::string with_checksums(const std::string& bytes) {
  if (bytes.size() < 64) return bytes;
  const auto n = io_detail::get_number<std::uint64_t>(&bytes[24]);
  if (n > bytes.size() - 64) return bytes;
  return encode_header(bytes.size(), bytes.substr(64, n)) + bytes.substr(64);
}

inline bool load_model(const std::string& bytes) {
  // Kept from call to call, for it is as it was unless a load succeeds.
  static std::unique_ptr<Run> run;
  static std::string state;
  if (!run) {
    run = std::make_unique<Run>(2);
    state = run->state();
  }
  const bool loaded = reads(bytes, [&](auto path, auto* files) { run->load_from(path, files); });
  if (loaded)
    run.reset();
  else if (run->state() != state)
    throw std::logic_error("a load that failed has changed something");
  reads(bytes, [](auto path, auto* files) {
    const ModelFile file(path, files);
    file.verify_all();
    for (const SavedGroup& group : file.index().groups) tensors_of(file, group);
  });
  return loaded;
}

inline bool read_model(const std::string& bytes) {
  const bool loaded = load_model(bytes);
  return load_model(with_checksums(bytes)) || loaded;
}

/// Stores the tensors; neither their values nor whether they fit is checked.
inline void use(const std::vector<NamedTensor>& tensors) {
  ParameterCollection pc;
  pc.add_parameters({2, 3}, "a");
  pc.add_lookup_parameters(2, {3}, "b");
  store_tensors("m", tensors, pc,
                {.allow_missing = true, .allow_extra = true, .allow_reshaped = true});
}

inline bool read_safetensors(const std::string& bytes) {
  return reads(bytes,
               [](auto path, auto* files) { use(dynet::read_safetensors(path, nullptr, files)); });
}

inline bool read_dynet_text(const std::string& bytes) {
  return reads(bytes, [](auto path, auto* files) { use(read_text_tensors(path, files)); });
}

template <VectorFormat format>
bool read_vectors(const std::string& bytes) {
  const Dict words({"the", "Cat"});
  ParameterCollection pc;
  LookupParameter table = pc.add_lookup_parameters(2, {2}, "E");
  VectorOptions options;
  options.format = format;
  options.letters = VectorOptions::Case::fallback;
  options.unknown = VectorOptions::Unknown::mean;
  reads(bytes, [&](auto path, auto* files) {
    options.files = files;
    load_word_vectors(path, words, table, options);
  });
  return reads(bytes, [&](auto path, auto* files) {
    read_word_vectors(
        path, [](std::string_view, const auto&) {}, format, files);
  });
}

inline bool read_trainer_text(const std::string& bytes) {
  Run run(2);
  const std::string state = run.state();
  std::istringstream in(bytes);
  try {
    run.trainer.populate(in);
  } catch (const FileError&) {
    if (run.state() != state) throw std::logic_error("a trainer that was not read has changed");
    return false;
  }
  return true;
}

struct Reader {
  const char* name;
  bool (*read)(const std::string& bytes);
};

inline constexpr Reader kReaders[] = {
    {"model", read_model},
    {"safetensors", read_safetensors},
    {"dynet_text", read_dynet_text},
    {"text_vectors", read_vectors<VectorFormat::text>},
    {"trainer_text", read_trainer_text},
    {"binary_vectors", read_vectors<VectorFormat::binary>},
};

}  // namespace dynet::fuzz
