#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/model.h"

namespace nlp {

/// A command of a program, with its options.
class Command {
 public:
  virtual ~Command() = default;
  virtual void add_options(CLI::App& app) = 0;
  /// Called once the options are read.
  virtual void run() = 0;
};

/// --device: the name of a device that there is.
void add_device(CLI::App& app, dynet::Device*& device);

/// A program that is called as `name command --option value ...`, by program::run.
class CommandLine {
 public:
  CommandLine(std::string name, const std::string& description);

  void add(const std::string& name, const std::string& description,
           std::unique_ptr<Command> command);

  /// Runs the command that the arguments name. Returns the exit status: 1 if it failed,
  /// program::kWrongUsage if the arguments were wrong.
  int run(int argc, char** argv);

 private:
  int parse_and_act(int argc, char** argv);

  std::string name_;
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>> commands_;
};

}  // namespace nlp
