// All command-line programs of the Python package in one file, with one copy of the library. The
// first argument names the program.

#include <array>
#include <iostream>
#include <string_view>

#define PROGRAM(name, run) int run(int argc, char** argv);
#include "programs.inc"  // made by CMake: a line for each program
#undef PROGRAM

namespace {

struct Program {
  std::string_view name;
  int (*run)(int argc, char** argv);
};

#define PROGRAM(name, run) Program{name, run},
constexpr std::array kPrograms = {
#include "programs.inc"
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Program& program : kPrograms) {
    if (program.name == name) return program.run(argc - 1, argv + 1);
  }
  std::cerr << name << ": this build of the Python package is without it, see docs/install.md\n";
  return 2;
}
