// dynet-like: what is in files of models, how two differ, and the same in another format.

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "dynet-like/base/version.h"
#include "dynet-like/io/inspect.h"

int main(int argc, char** argv) {
  CLI::App app{"Looks at files of models: .dynet, .safetensors, .npy, .npz"};
  app.require_subcommand(1);
  std::string one, two;
  auto* inspect = app.add_subcommand("inspect", "print what is in a file, and verify it");
  inspect->add_option("FILE", one, "a file of any of the formats")->required();
  auto* diff = app.add_subcommand("diff", "print how two files differ; 1 if they do");
  diff->add_option("A", one, "a file")->required();
  diff->add_option("B", two, "another, of any format")->required();
  auto* convert = app.add_subcommand("convert", "write the arrays of a file in another format");
  convert->add_option("IN", one, "a file of any of the formats")->required();
  convert->add_option("OUT", two, "a new file; the end of its name says the format")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    if (*inspect) dynet::inspect(one, std::cout);
    if (*convert) dynet::write_tensors(two, dynet::read_tensors(one));
    if (*diff && dynet::print_differences(one, two, std::cout) > 0) return 1;
  } catch (const std::exception& e) {
    std::cerr << "dynet-like: " << e.what() << '\n';
    return 2;
  }
  return 0;
}
