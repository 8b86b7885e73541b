#pragma once

#include <cstdint>
#include <type_traits>

namespace dynet {

/// Instruction sets that the CPU kernels are compiled for: the original x86-64, with AVX2 and FMA,
/// with AVX-512 (the levels 1, 3 and 4 of the x86-64 psABI). A library for another CPU, or tuned
/// for one machine, has only one set of kernels.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// Instruction set of this process: the best that the library has and the CPU can run, or the value
/// of the environment variable DYNET_ISA (baseline, avx2 or avx512). Read once. Throws
/// ArgumentError if the value is none of the three, or if the library or the CPU does not have it.
Isa isa();
/// Its name; "native" in a library that is tuned for the machine it was compiled on.
const char* isa_name();

/// A function in a version for each instruction set.
template <class F>
struct PerIsa {
  F versions[3];  ///< by the numbers of Isa

  /// One that serves all.
  template <class G, class = std::enable_if_t<std::is_convertible_v<G, F>>>
  constexpr PerIsa(G one)  // NOLINT: implicit, so that forms read plainly
      : versions{one, one, one} {}
  /// Each by itself.
  constexpr PerIsa(F baseline, F avx2, F avx512) : versions{baseline, avx2, avx512} {}

  /// That for this process.
  F here() const { return versions[static_cast<unsigned>(isa())]; }
  operator F() const { return here(); }  // NOLINT: implicit, so that it is called as one function
};

}  // namespace dynet
