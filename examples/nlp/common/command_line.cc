#include "examples/nlp/common/command_line.h"

#include <cstdlib>
#include <sstream>

#include "examples/nlp/common/text.h"
#include "tools/program/errors.h"
#include "tools/program/run.h"

namespace nlp {
namespace {

constexpr int kFailed = 1;

}  // namespace

Between::Between(double low, double high)
    : CLI::Validator(
          [low, high](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (end != text.c_str() && *end == '\0' && value >= low && value <= high) return "";
            std::ostringstream message;
            message << nlp::quoted(text) << " is no number from " << low << " to " << high;
            return message.str();
          },
          "") {}

void add_device(CLI::App& command, dynet::Device*& device) {
  const auto find = [&device](const std::string& name) {
    const dynet::DeviceManager& all = *dynet::get_device_manager();
    for (dynet::Device* d : all.get_devices())
      if (name == d->name) return void(device = d);
    throw CLI::ValidationError(
        "--device", "there is no device " + nlp::quoted(name) + ", there is: " + all.names());
  };
  command
      .add_option_function<std::string>("--device", find,
                                        "Where to compute: CPU, or a GPU as GPU:0")
      ->default_str("CPU");
}

void add_model(CLI::App& command, SavedModel& model) {
  command.add_option("--model,-m", model.model, "A model file")->required();
  add_device(command, model.device);
}

void add_run(CLI::App& command, RunOptions& run, const std::string& training,
             const std::string& data) {
  command.add_option("--train", run.train, training)->required();
  command.add_option("--dev", run.dev, data + " that decide which epoch is best and when to stop");
  command.add_option("--test", run.test, data + " to score the best model on in the end");
  command
      .add_option("--model,-m", run.model,
                  "File for the best model; MODEL.checkpoint holds what --resume needs")
      ->required();
  CLI::Option* const resume =
      command.add_flag("--resume", run.resume, "Go on with the run that MODEL.checkpoint holds");
  command
      .add_flag("--force", run.force,
                "Start over where there is a model or a checkpoint already, and replace them")
      ->excludes(resume);
  add_device(command, run.device);
  command.parse_complete_callback([&command, &run] {
    for (const CLI::Option* option : command.get_options()) {
      if (option->count() > 0) run.given.push_back(option->get_name());
    }
  });
}

void add_unknown(CLI::App& command, float& unknown) {
  command
      .add_option("--unknown", unknown,
                  "A word seen n times is hidden in training with probability U / (U + n)")
      ->check(Between(0.0, 1000.0));
}

void add_limits(CLI::App& command, TrainLimits& limits) {
  command.add_option("--epochs", limits.epochs, "Most epochs")->check(Between(1, 1000000));
  command
      .add_option("--patience", limits.patience,
                  "Stop after this many epochs without a better dev score, 0 for never")
      ->check(Between(0, 1000000));
  command.add_option("--max-seconds", limits.max_seconds, "Stop after this time, 0 for never")
      ->check(Between(0.0, 1e9));
}

CommandLine::CommandLine(std::string name, const std::string& description)
    : name_(std::move(name)), app_(description) {
  app_.require_subcommand(1);
  app_.option_defaults()->always_capture_default();
}

CLI::App& CommandLine::command(const std::string& command, const std::string& description,
                               std::function<void()> action) {
  commands_.emplace_back(app_.add_subcommand(command, description), std::move(action));
  return *commands_.back().first;
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
  for (const auto& [command, action] : commands_) {
    if (command->parsed()) action();
  }
  return 0;
}

}  // namespace nlp
