#pragma once

#include <cstdint>
#include <type_traits>

namespace dynet {

/// Instruction sets that the CPU kernels are compiled for: x86-64, x86-64 with AVX2 and FMA, x86-64
/// with AVX-512 (levels 1, 3 and 4 of the x86-64 psABI). A library for another CPU, or tuned for
/// one machine, has a single set of kernels.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// Instruction set of this process: the best one that the library contains and the CPU supports, or
/// the value of the environment variable DYNET_ISA (baseline, avx2 or avx512). Determined once.
/// Throws ArgumentError for an unknown value and for one that the library or the CPU does not
/// support.
Isa isa();
/// Whether DYNET_ISA names it. Then nothing beyond it is used either, such as AMX for bf16.
bool isa_is_named();
/// Name of the instruction set; "native" in a library tuned for the machine that compiled it.
const char* isa_name();

/// A function with one version per instruction set.
template <class F>
struct PerIsa {
  F versions[3];  ///< indexed by Isa

  /// One version for all instruction sets.
  template <class G, class = std::enable_if_t<std::is_convertible_v<G, F>>>
  constexpr PerIsa(G one)  // NOLINT: implicit, for readable op forms
      : versions{one, one, one} {}
  /// One version per instruction set.
  constexpr PerIsa(F baseline, F avx2, F avx512) : versions{baseline, avx2, avx512} {}

  /// Version for the instruction set of this process.
  F here() const { return versions[static_cast<unsigned>(isa())]; }
  operator F() const { return here(); }  // NOLINT: implicit, callable like a function
};

}  // namespace dynet
