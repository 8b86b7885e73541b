// dynet-like: inspects model files, compares two, and converts between formats.

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/printable.h"
#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/int8.h"
#include "dynet-like/io/layout.h"
#include "tools/cli/inspect.h"
#include "tools/program/arguments.h"
#include "tools/program/files.h"
#include "tools/program/help.h"
#include "tools/program/new_files.h"
#include "tools/program/run.h"

namespace {

constexpr const char* kName = "dynet-like";
constexpr int kDifferent = 1;
constexpr int kFailed = 2;

using Tensors = std::vector<dynet::NamedTensor>;

// Detects DyNet's model files by their first line, regardless of the name.
bool is_dynet_text(const std::string& path) {
  const dynet::InputFile file(path);
  char first = 0, second = 0;
  if (file.size() < 2) return false;
  file.read(0, &first, 1);
  file.read(1, &second, 1);
  return first == '#' && (second == 'P' || second == 'L');
}

Tensors read(const std::string& path) {
  return is_dynet_text(path) ? dynet::read_text_tensors(path) : dynet::read_tensors(path);
}

void write(const std::string& path, dynet::FileContents contents) {
  if (!path.ends_with(".model"))
    return dynet::write_contents(path, std::move(contents), program::save_options());
  dynet::take_layout(contents.tensors);
  dynet::write_text_tensors(path, contents.tensors, program::save_options());
}

void inspect(const std::string& path) {
  if (!is_dynet_text(path)) return cli::inspect(path, std::cout);
  const Tensors tensors = read(path);
  std::cout << dynet::printable(path) << ": DyNet's text\n";
  cli::print_tensors(tensors, std::cout);
}

// Contents without a representation in the target format are lost: everything except arrays in
// DyNet's text format and in word vectors.
void convert(const std::string& from, const std::string& to, const std::string& weights) {
  program::require_different({"OUT", to}, {{"IN", from}});
  if (weights == "int8") {
    const auto is_known = [&](const char* end) { return to.ends_with(end); };
    if (is_known(".safetensors") || is_known(".vec") || is_known(".txt") || is_known(".bin"))
      throw dynet::FileError("cannot save " + dynet::printable(to) +
                             ": only model files have 8 bits for each weight");
    if (is_dynet_text(from) || dynet::detect_format(from) != dynet::FileFormat::model)
      throw dynet::FileError(
          "cannot load " + dynet::printable(from) +
          ": --weights int8 is for model files; convert it to one (.dynet) first");
    return dynet::write_int8_copy(from, to, program::save_options());
  }
  if (is_dynet_text(from)) return write(to, {read(from), {}});
  write(to, dynet::read_contents(from));
}

int act(int argc, char** argv) {
  CLI::App app{
      "Looks at files of models: .dynet, .safetensors, DyNet's text (.model), and of "
      "word vectors: .vec, .txt, .bin",
      kName};
  app.require_subcommand(1);
  program::set_help(app);
  std::string one, two, weights;
  auto* inspect_command = app.add_subcommand("inspect", "print what is in a file, and verify it");
  inspect_command->add_option("FILE", one, "a file of any of the formats")->required();
  auto* diff = app.add_subcommand("diff", "print how two files differ; 1 if they do");
  diff->add_option("A", one, "a file")->required();
  diff->add_option("B", two, "another, of any format")->required();
  auto* convert_command =
      app.add_subcommand("convert", "write the arrays of a file in another format");
  convert_command->add_option("IN", one, "a file of any of the formats")->required();
  convert_command->add_option("OUT", two, "a new file; the end of its name says the format")
      ->required();
  convert_command
      ->add_option("--weights", weights,
                   "int8: a copy of a model file with 8 bits for each value of its matrices and "
                   "tables")
      ->check(CLI::IsMember({"int8"}));
  program::end_help(app, {"dynet-like COMMAND --help"});
  program::end_help(*inspect_command, {"dynet-like inspect tagger.model"});
  program::end_help(*diff, {"dynet-like diff old.model new.safetensors"});
  program::end_help(*convert_command, {"dynet-like convert tagger.model tagger.safetensors",
                                       "dynet-like convert --weights int8 tagger.model small.model",
                                       "dynet-like convert vectors.safetensors vectors.dynet"});
  if (!program::parse(app, argc, argv)) return 0;
  // The output must not be an input file.
  program::require_different({"", "-"}, {{"", one}, {"", two}});
  if (*inspect_command) inspect(one);
  if (*convert_command) convert(one, two, weights);
  if (*diff && cli::print_differences({one, read(one)}, {two, read(two)}, std::cout) > 0)
    return kDifferent;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return program::run(kName, kFailed, [&] { return act(argc, argv); });
}
