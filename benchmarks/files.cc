// How long saving and loading a model takes beside copying its file with cp and flushing the copy.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "dynet-like/dynet.h"

namespace {

using namespace dynet;

template <class Work>
double best_of(int rounds, Work work) {
  double best = 1e9;
  for (int r = 0; r < rounds; ++r) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

int flushed_copy(const std::string& from, const std::string& to) {
  if (std::system(("cp '" + from + "' '" + to + "'").c_str()) != 0) return 1;
  const int fd = ::open(to.c_str(), O_RDONLY);
  const int r = fd < 0 ? 1 : ::fsync(fd);
  ::close(fd);
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const unsigned mebibytes = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1024;
  const std::string path = folder + "/bench-files.dynet", copy = folder + "/bench-files.copy";
  ParameterCollection model;
  model.add_lookup_parameters(1024 * mebibytes, {256}, ParameterInitConst(0.5f));
  const double size = 1e-9 * 1024 * 1024 * mebibytes;
  const int rounds = 3;
  const double saving = best_of(rounds, [&] { save(path, model); });
  int failed = 0;
  const double copying = best_of(rounds, [&] { failed |= flushed_copy(path, copy); });
  const double loading = best_of(rounds, [&] { load(path, model); });
  std::printf("%u MiB, best of %d\n", mebibytes, rounds);
  std::printf("cp and fsync  %6.2f s  %6.2f GB/s\n", copying, size / copying);
  std::printf("save          %6.2f s  %6.2f GB/s  %.2f of cp\n", saving, size / saving,
              copying / saving);
  std::printf("load          %6.2f s  %6.2f GB/s  %.2f of cp\n", loading, size / loading,
              copying / loading);
  std::filesystem::remove(path);
  std::filesystem::remove(copy);
  return failed;
}
