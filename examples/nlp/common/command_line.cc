#include "examples/nlp/common/command_line.h"

#include <utility>

#include "examples/nlp/common/options.h"
#include "examples/nlp/common/text.h"
#include "tools/program/arguments.h"
#include "tools/program/help.h"
#include "tools/program/profile.h"
#include "tools/program/run.h"

namespace nlp {
namespace {

constexpr int kFailed = 1;

}  // namespace

void begin_group(CLI::App& app, const std::string& group) { app.option_defaults()->group(group); }

void add_device(CLI::App& app, dynet::Device*& device) {
  const auto find = [&device](const std::string& name) {
    const dynet::DeviceManager& all = *dynet::get_device_manager();
    for (dynet::Device* d : all.get_devices())
      if (name == d->name) return void(device = d);
    throw CLI::ValidationError(
        "--device", "there is no device " + in_quotes(name) + ", there is: " + all.names());
  };
  app.add_option_function<std::string>("--device", find, "Where to compute: CPU, or a GPU as GPU:0")
      ->default_str("CPU");
}

void add_threads(CLI::App& app, unsigned& threads) {
  app.add_option("--threads", threads, "Compute on so many threads; the results are the same")
      ->transform(InRange(1, 1024));
}

void add_profile(CLI::App& app) {
  app.add_option_function<std::string>(
         "--profile", program::profile_to,
         "Write a table of where the time goes to this file, see docs/profiling.md")
      ->type_name("FILE");
}

CommandLine::CommandLine(std::string name, const std::string& description)
    : name_(std::move(name)), app_(description, name_) {
  app_.require_subcommand(1);
  app_.option_defaults()->always_capture_default();
  program::set_help(app_);
}

void CommandLine::add(const std::string& name, const std::string& description,
                      std::unique_ptr<Command> command, const std::vector<std::string>& examples) {
  CLI::App& app = *app_.add_subcommand(name, description);
  command->add_options(app);
  program::end_help(app, examples);
  if (!examples.empty()) examples_.push_back(examples[0]);
  commands_.emplace_back(&app, std::move(command));
}

int CommandLine::run(int argc, char** argv) {
  return program::run(name_, kFailed, [&] {
    examples_.push_back(name_ + " COMMAND --help");
    program::end_help(app_, examples_);
    if (!program::parse(app_, argc, argv)) return 0;
    for (const auto& [app, command] : commands_) {
      if (app->parsed()) command->start();
    }
    return 0;
  });
}

}  // namespace nlp
