// Entry point of libFuzzer: the bytes are a program that builds and runs a graph, and its mode. The
// results must agree with those without batches.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "tests/support/graph_program.h"

namespace {

GraphMode chosen(unsigned byte) {
  GraphMode mode{.name = "chosen"};
  mode.batched = !(byte & 1);
  mode.immediate = byte & 2;
  mode.inference = byte & 4;
  mode.switching = byte & 8;
  mode.check = byte & 16;
  mode.asks = byte & 32;
  mode.interleaved = byte & 64;
  mode.full = byte & 128;
  return mode;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const GraphMode mode = chosen(data[0]);
  const bool steady = mode.inference || mode.switching;  // see GraphProgram::changes
  const GraphProgram program{.width = 2u + data[1] % 15u, .actions = 60, .changes = !steady};
  const Choices choices(std::span<const std::uint8_t>(data + 2, size - 2));
  const GraphLog expected =
      run_program(program, choices, {.name = "unbatched", .batched = false, .full = mode.full});
  const std::string difference =
      first_difference(expected, run_program(program, choices, mode), SameBits::none);
  if (!difference.empty()) throw std::runtime_error(difference);
  return 0;
}
