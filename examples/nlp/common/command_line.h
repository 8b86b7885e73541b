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
  /// Runs it, where need be among other processes.
  virtual void start() { run(); }
};

/// Groups of options in --help.
inline constexpr const char *kDataOptions = "Data", *kModelOptions = "Model",
                            *kTrainingOptions = "Training", *kOutputOptions = "Output";

/// The options that are added from here on belong to this group.
void begin_group(CLI::App& app, const std::string& group);

/// --device: the name of a device that there is.
void add_device(CLI::App& app, dynet::Device*& device);

/// --threads.
void add_threads(CLI::App& app, unsigned& threads);

/// A program that is called as `name command --option value ...`, by program::run.
class CommandLine {
 public:
  CommandLine(std::string name, const std::string& description);

  /// `examples` are whole commands, for the end of the command's --help.
  void add(const std::string& name, const std::string& description,
           std::unique_ptr<Command> command, const std::vector<std::string>& examples = {});

  /// Runs the command that the arguments name. Returns the exit status: 1 if it failed,
  /// program::kWrongUsage if the arguments were wrong.
  int run(int argc, char** argv);

 private:
  std::string name_;
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>> commands_;
};

}  // namespace nlp
