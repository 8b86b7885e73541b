// The function that libFuzzer calls with model files and checkpoints of the program that the
// environment variable DYNET_READER names. It changes what the files hold, and their checksums are
// right.

#include "tests/fuzz/programs.h"

#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/fuzz/model_bytes.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using dynet::fuzz::FuzzedProgram;

// Memory that the process has from `new` and `malloc`, now and at most.
std::atomic<std::ptrdiff_t> live{0}, peak{0};

void add(const volatile void* /*at*/, std::size_t bytes) {
  const std::ptrdiff_t now = live += static_cast<std::ptrdiff_t>(bytes);
  std::ptrdiff_t most = peak;
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
}
void subtract(const volatile void* at) {
  if (at != nullptr) live -= static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(at));
}

/// The memory that a program may take for a file of so many bytes.
std::ptrdiff_t most_memory(std::size_t bytes) {
  return static_cast<std::ptrdiff_t>((std::size_t{32} << 20) + 256 * bytes);
}

const FuzzedProgram& chosen() {
  const char* const name = std::getenv("DYNET_READER");
  for (const FuzzedProgram& program : dynet::fuzz::fuzzed_programs())
    if (name && name == program.name) return program;
  throw std::runtime_error("DYNET_READER must be one of the names in tests/fuzz/programs.h");
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  const std::string before(reinterpret_cast<const char*>(data), size);
  std::string after;
  auto file = dynet::fuzz::take_apart(before);
  if (file && !file->sections.empty() && seed % 4 == 0) {
    std::string& archive = file->sections[0];
    archive.resize(archive.size() + 64);
    archive.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(archive.data()),
                                    archive.size() - 64, archive.size()));
    after = dynet::fuzz::put_together(*std::move(file));
  } else {
    after = dynet::fuzz::mutated(before, seed);
  }
  if (after.size() > most) return size;
  std::copy(after.begin(), after.end(), data);
  return after.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static dynet::fuzz::ProgramDesk& desk = *new dynet::fuzz::ProgramDesk(chosen());
  static const int hooks = __sanitizer_install_malloc_and_free_hooks(add, subtract);
  const std::ptrdiff_t before = live;
  peak = before;
  desk.use({reinterpret_cast<const char*>(data), size});
  if (hooks > 0 && peak > before + most_memory(size))
    throw std::runtime_error("a file of " + std::to_string(size) + " bytes takes " +
                             std::to_string(peak - before) + " bytes of memory");
  return 0;
}
