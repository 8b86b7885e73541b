#include "dynet-like/base/isa.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

#ifdef DYNET_ALL_ISAS
constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};

// Features of the levels x86-64-v3 and -v4 that matter; Clang 14 has no names for the levels.
bool can_run(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::avx512:
      return can_run(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2");
    case Isa::baseline:
      return true;
  }
  return false;
}
#else
constexpr std::string_view kNames[] = {DYNET_ONLY_ISA};

bool can_run(Isa) { return true; }
#endif
constexpr unsigned kCount = sizeof kNames / sizeof kNames[0];

const char* wanted_isa() {
  const char* const name = std::getenv("DYNET_ISA");
  return name && *name ? name : nullptr;
}

Isa choose() {
  const char* const wanted = wanted_isa();
  if (!wanted) {
    unsigned best = kCount - 1;
    while (!can_run(static_cast<Isa>(best))) --best;
    return static_cast<Isa>(best);
  }
  std::string names;
  for (unsigned k = 0; k < kCount; ++k) {
    if (kNames[k] == wanted) {
      if (can_run(static_cast<Isa>(k))) return static_cast<Isa>(k);
      throw ArgumentError("DYNET_ISA=" + std::string(wanted) + ": this CPU does not have it");
    }
    names += (k ? ", " : "") + std::string(kNames[k]);
  }
  throw ArgumentError("DYNET_ISA=" + std::string(wanted) + ": this library has kernels for " +
                      names);
}

}  // namespace

Isa isa() {
  static const Isa chosen = choose();
  return chosen;
}

bool isa_is_named() { return wanted_isa() != nullptr; }

const char* isa_name() { return kNames[static_cast<unsigned>(isa())].data(); }

}  // namespace dynet
