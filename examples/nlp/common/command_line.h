#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/model.h"

namespace nlp {

/// Command of a program with its options.
class Command {
 public:
  virtual ~Command() = default;
  virtual void add_options(CLI::App& app) = 0;
  /// Called after parsing the options.
  virtual void run() = 0;
  /// Runs the command; overridden to join other processes.
  virtual void start() { run(); }
};

/// Groups of options in --help.
inline constexpr const char *kDataOptions = "Data", *kModelOptions = "Model",
                            *kTrainingOptions = "Training", *kOutputOptions = "Output";

/// Puts options added after this call into this group.
void begin_group(CLI::App& app, const std::string& group);

/// Adds --device: the name of an existing device.
void add_device(CLI::App& app, dynet::Device*& device);

/// Adds --threads.
void add_threads(CLI::App& app, unsigned& threads);

/// Adds --profile, which takes effect at once.
void add_profile(CLI::App& app);

/// Command line `name command --option value ...`, run by program::run.
class CommandLine {
 public:
  CommandLine(std::string name, const std::string& description);

  /// `examples` are complete command lines for the end of the command's --help.
  void add(const std::string& name, const std::string& description,
           std::unique_ptr<Command> command, const std::vector<std::string>& examples = {});

  /// Runs the command named by the arguments. Returns the exit status: 1 after a failure,
  /// program::kWrongUsage for wrong arguments.
  int run(int argc, char** argv);

 private:
  std::string name_;
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>> commands_;
  std::vector<std::string> examples_;  ///< the first one of each command
};

}  // namespace nlp
