// Time of saving and loading a model, relative to copying its file with cp and flushing the copy.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include "benchmarks/measure.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/save.h"

namespace {

using namespace dynet;

// Fastest of repeated measurements.
class Fastest {
 public:
  template <class Work>
  void time(Work work) {
    const double start = bench::wall_clock();
    work();
    seconds_ = std::min(seconds_, bench::wall_clock() - start);
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 1e9;
};

void flushed_copy(const std::string& from, const std::string& to) {
  if (std::system(("cp '" + from + "' '" + to + "'").c_str()) != 0)
    throw std::runtime_error("cp failed");
  const int fd = ::open(to.c_str(), O_RDONLY);
  const int r = fd < 0 ? 1 : ::fsync(fd);
  ::close(fd);
  if (r != 0) throw std::runtime_error("the copy cannot be flushed");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of saving and loading a model beside cp of its file.");
  std::string folder = ".";
  unsigned mebibytes = 1024;
  int rounds = 5;
  app.add_option("FOLDER", folder, "where the files are written")->capture_default_str();
  app.add_option("MIB", mebibytes, "size of the model")->capture_default_str();
  app.add_option("--rounds", rounds, "of which the fastest counts")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const std::string path = folder + "/bench-files.dynet", copy = folder + "/bench-files.copy";
  int status = 0;
  try {
    ParameterCollection model;
    model.add_lookup_parameters(1024 * mebibytes, {256}, ParameterInitConst(0.5f));
    const double size = 1e-9 * 1024 * 1024 * mebibytes;
    Fastest saving, copying, loading, mapping;
    for (int r = 0; r < rounds; ++r) {  // alternating, since disk speed varies
      saving.time([&] { save(path, model); });
      copying.time([&] { flushed_copy(path, copy); });
      loading.time([&] { load(path, model); });
      mapping.time([&] { load(path, LoadOptions{.map = true}, model); });
    }
    std::printf("%u MiB, best of %d\n", mebibytes, rounds);
    const auto print = [&](const char* name, const Fastest& f) {
      std::printf("%-14s %6.2f s  %6.2f GB/s  %.2f of cp\n", name, f.seconds(), size / f.seconds(),
                  copying.seconds() / f.seconds());
    };
    print("cp and fsync", copying);
    print("save", saving);
    print("load", loading);
    print("load, mapped", mapping);
  } catch (const std::exception& e) {
    std::cerr << "bench-files: " << e.what() << '\n';
    status = 1;
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(copy, ignored);
  return status;
}
