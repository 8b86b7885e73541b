#pragma once

// Memory of this process on Linux; zero on other systems.
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

/// Resident memory in MiB, currently and at its peak since the last `forget_peak`.
inline double resident() { return status_mib("VmRSS:"); }
inline double peak_resident() { return status_mib("VmHWM:"); }
inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace bench
