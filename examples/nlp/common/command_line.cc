#include "examples/nlp/common/command_line.h"

#include <utility>

#include "examples/nlp/common/text.h"
#include "tools/program/errors.h"
#include "tools/program/run.h"

namespace nlp {
namespace {

constexpr int kFailed = 1;

}  // namespace

void add_device(CLI::App& app, dynet::Device*& device) {
  const auto find = [&device](const std::string& name) {
    const dynet::DeviceManager& all = *dynet::get_device_manager();
    for (dynet::Device* d : all.get_devices())
      if (name == d->name) return void(device = d);
    throw CLI::ValidationError(
        "--device", "there is no device " + nlp::quoted(name) + ", there is: " + all.names());
  };
  app.add_option_function<std::string>("--device", find, "Where to compute: CPU, or a GPU as GPU:0")
      ->default_str("CPU");
}

CommandLine::CommandLine(std::string name, const std::string& description)
    : name_(std::move(name)), app_(description) {
  app_.require_subcommand(1);
  app_.option_defaults()->always_capture_default();
}

void CommandLine::add(const std::string& name, const std::string& description,
                      std::unique_ptr<Command> command) {
  commands_.emplace_back(app_.add_subcommand(name, description), std::move(command));
  commands_.back().second->add_options(*commands_.back().first);
}

int CommandLine::run(int argc, char** argv) {
  return program::run(name_, kFailed, [&] { return parse_and_act(argc, argv); });
}

int CommandLine::parse_and_act(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  bool known = first == "-h" || first == "--help";
  std::string names;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const std::string& command = commands_[i].first->get_name();
    known = known || first == command;
    names += (i == 0 ? "" : i + 1 < commands_.size() ? ", " : " or ") + command;
  }
  if (!known) {
    throw program::UsageError(
        (first.empty() ? "no command" : "unknown command " + nlp::quoted(first)) + ": expected " +
        names + " (" + name_ + " --help says more)");
  }
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_.exit(error);  // --help
    throw program::UsageError(std::string(error.what()) + " (" + name_ +
                              " --help lists what there is)");
  }
  for (const auto& [app, command] : commands_) {
    if (app->parsed()) command->run();
  }
  return 0;
}

}  // namespace nlp
