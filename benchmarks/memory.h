#pragma once

// Memory of this process, as Linux tells it; elsewhere zero.
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

namespace bench {

inline double status_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key)) return std::atof(line.c_str() + key.size()) / 1024;
  return 0;
}

/// Resident memory in MiB, now and at its highest since the last `forget_peak`.
inline double resident() { return status_mib("VmRSS:"); }
inline double peak_resident() { return status_mib("VmHWM:"); }
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace bench
