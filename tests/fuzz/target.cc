// Entry point of libFuzzer; the environment variable DYNET_READER names the reader.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "tests/fuzz/readers.h"

namespace {

const dynet::fuzz::Reader& chosen() {
  const char* const name = std::getenv("DYNET_READER");
  for (const dynet::fuzz::Reader& reader : dynet::fuzz::kReaders)
    if (name && std::string(name) == reader.name) return reader;
  throw std::runtime_error("DYNET_READER must be one of the names in tests/fuzz/readers.h");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const dynet::fuzz::Reader& reader = chosen();
  reader.read({reinterpret_cast<const char*>(data), size});
  return 0;
}
