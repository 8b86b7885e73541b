// Replays, with any compiler, the good files that fuzzing of the example programs starts from, and
// the files that it found. Those in tests/fuzz/corpus/<program> whose names begin with `good` must
// be of use to a command; of all others a command may say in one sentence what is wrong.
//
// DYNET_WRITE_CORPUS=1 writes the good files that this makes; DYNET_CHANGED_FILES=5000 tries so
// many changes of each.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/fuzz/model_bytes.h"
#include "tests/fuzz/programs.h"
#include "tests/io/damage.h"
#include "tests/support/prelude.h"

namespace program_files_test {

using namespace dynet;

const std::filesystem::path kCorpus =
    std::filesystem::path(__FILE__).parent_path().parent_path() / "fuzz" / "corpus";

/// The files of a program by name.
std::map<std::string, std::string> corpus_of(const fuzz::FuzzedProgram& program) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus / program.name))
    files[entry.path().filename().string()] = read_file(entry.path().string());
  return files;
}

void write_good_files(const fuzz::FuzzedProgram& program, const fuzz::ProgramDesk& desk) {
  std::filesystem::create_directories(kCorpus / program.name);
  for (const auto& [name, options] : program.trained) {
    const auto [model, checkpoint] = desk.train(options);
    const std::string path = (kCorpus / program.name / ("good-" + name)).string();
    std::ofstream(path, std::ios::binary) << model;
    if (name == program.trained[0].first)
      std::ofstream(path + "-checkpoint", std::ios::binary) << checkpoint;
  }
}

TEST_CASE("Files of the programs: all that fuzzing keeps") {
  for (const fuzz::FuzzedProgram& program : fuzz::fuzzed_programs()) {
    const fuzz::ProgramDesk desk(program);
    if (std::getenv("DYNET_WRITE_CORPUS")) write_good_files(program, desk);
    std::size_t files = 0, used = 0;
    double slowest = 0;
    for (const auto& [name, bytes] : corpus_of(program)) {
      INFO(program.name << " " << name);
      const auto start = std::chrono::steady_clock::now();
      bool is_used = false;
      CHECK_NOTHROW(is_used = desk.use(bytes));
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      slowest = std::max(slowest, taken.count());
      if (name.starts_with("good")) CHECK(is_used);
      used += is_used;
      ++files;
    }
    CHECK(used > program.trained.size());
    CHECK(slowest < 10);
    std::printf("%s: %zu files, %zu of them used, the slowest took %.3f s\n", program.name.c_str(),
                files, used, slowest);
  }
}

TEST_CASE("Files of the programs: some changes, with right checksums") {
  const char* const asked = std::getenv("DYNET_CHANGED_FILES");
  const std::uint64_t times = asked ? std::stoull(asked) : 60;
  for (const fuzz::FuzzedProgram& program : fuzz::fuzzed_programs()) {
    const fuzz::ProgramDesk desk(program);
    std::size_t used = 0, tried = 0;
    for (const auto& [name, bytes] : corpus_of(program)) {
      if (!name.starts_with("good")) continue;
      for (std::uint64_t k = 0; k < times; ++k, ++tried) {
        INFO(program.name << " " << name << " " << k);
        CHECK_NOTHROW(used += desk.use(fuzz::mutated(bytes, k)));
      }
    }
    CHECK(used > 0);
    CHECK(used < tried);
    std::printf("%s: %zu of %zu changed files are used\n", program.name.c_str(), used, tried);
  }
}

}  // namespace program_files_test
