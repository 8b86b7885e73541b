// Seeds and findings of fuzzing, read again with any compiler. Files in corpus/ whose names begin
// with `good` must be read, all other files must not crash, hang or change anything.
//
// DYNET_WRITE_CORPUS=1 writes the good files that this makes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "tests/fuzz/readers.h"
#include "tests/io/damage.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

namespace replay_test {

using namespace dynet;

namespace {

const std::filesystem::path kCorpus = std::filesystem::path(__FILE__).parent_path() / "corpus";

// A good file for each reader, as the library writes it.
std::map<std::string, std::string> made() {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  std::map<std::string, std::string> files;
  const auto keep = [&](const char* name) { files[name] = read_file(path); };
  Run(1).save_to(path);
  keep("model");
  std::ostringstream text;
  Run(1).trainer.save(text);
  files["trainer_text"] = text.str();
  ParameterCollection pc;
  pc.add_parameters({2, 3}, ParameterInitConst(0.5f), "a");
  const LookupParameter table = pc.add_lookup_parameters(2, {3}, ParameterInitConst(-2.0f), "b");
  save_safetensors(path, pc);
  keep("safetensors");
  write_text_tensors(path, tensors_of(pc));
  keep("dynet_text");
  const Dict words({"the", "cat"});
  save_word_vectors(path, words, table, VectorFormat::text);
  keep("text_vectors");
  save_word_vectors(path, words, table, VectorFormat::binary);
  keep("binary_vectors");
  return files;
}

}  // namespace

TEST_CASE("the corpus of the fuzz targets is read without a crash") {
  const auto written = made();
  for (const fuzz::Reader& reader : fuzz::kReaders) {
    const std::filesystem::path folder = kCorpus / reader.name;
    if (std::getenv("DYNET_WRITE_CORPUS")) {
      std::filesystem::create_directories(folder);
      write_file((folder / "good-written").string(), written.at(reader.name));
    }
    std::size_t files = 0, good = 0;
    double slowest = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      INFO(reader.name << " " << name);
      const std::string bytes = read_file(entry.path().string());
      const auto start = std::chrono::steady_clock::now();
      const bool read = reader.read(bytes);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      slowest = std::max(slowest, taken.count());
      if (name.starts_with("good")) CHECK(read);
      good += read;
      ++files;
    }
    CHECK(files > 0);
    CHECK(good > 0);
    CHECK(slowest < 1.0);
    std::printf("%s: %zu files, %zu of them good, the slowest took %.4f s\n", reader.name, files,
                good, slowest);
  }
}

TEST_CASE("damaged files of every format are read without a crash") {
  const auto written = made();
  for (const fuzz::Reader& reader : fuzz::kReaders) {
    const std::string& good = written.at(reader.name);
    CHECK(reader.read(good));
    std::size_t read = 0;
    constexpr std::uint64_t kTimes = 5000;
    for (std::uint64_t k = 0; k < kTimes; ++k) read += reader.read(damaged(good, k));
    CHECK(read < kTimes);
    std::printf("%s: %d damaged files, %zu of them still files of that kind\n", reader.name,
                static_cast<int>(kTimes), read);
  }
}

}  // namespace replay_test
