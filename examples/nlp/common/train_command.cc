#include "examples/nlp/common/train_command.h"

#include <exception>
#include <iostream>
#include <memory>
#include <utility>

#include "dynet-like/distributed/mpi/world.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/common/silence.h"
#include "tools/program/stop_signals.h"

namespace nlp {

TrainCommand::TrainCommand(std::string training, std::string data)
    : training_(std::move(training)), data_(std::move(data)) {}

void TrainCommand::add_options(CLI::App& app) {
  begin_group(app, kDataOptions);
  app.add_option("--train", train, training_)->type_name("FILE")->required();
  app.add_option("--dev", dev, data_ + " that decide which epoch is best and when to stop")
      ->type_name("FILE");
  app.add_option("--test", test, data_ + " to score the best model on in the end")
      ->type_name("FILE");
  app.add_option("--init", init,
                 "Begin with the weights of this model; its shape, words and labels are kept")
      ->type_name("FILE");
  add_encoding(app, text);
  add_skip_bad(app, text, "samples");

  Options options(&app);
  add_settings(options);

  options.begin_group(kTrainingOptions);
  app.add_option("--epochs", limits.epochs, "Most epochs")->transform(InRange(1, 1000000));
  app.add_option("--patience", limits.patience,
                 "Stop after this many epochs without a better dev score, 0 for never")
      ->transform(InRange(0, 1000000));
  app.add_option("--max-seconds", limits.max_seconds, "Stop after this time, 0 for never")
      ->transform(InRange(0.0, 1e9));
  add_device(app, device);
  add_threads(app, threads);
  add_profile(app);

  begin_group(app, kOutputOptions);
  app.add_option("--model,-m", model,
                 "File for the best model; MODEL.checkpoint holds what --resume needs")
      ->type_name("FILE")
      ->required();
  app.add_option("--report", report,
                 "File for settings, epochs and scores as JSON, one object a line")
      ->type_name("FILE");
  app.add_option("--tensorboard", tensorboard,
                 "Folder for curves and histograms that TensorBoard shows")
      ->type_name("DIR");
  CLI::Option* const resuming =
      app.add_flag("--resume", resume, "Go on with the run that MODEL.checkpoint holds");
  app.add_flag("--force", force,
               "Start over where there is a model or a checkpoint already, and replace them")
      ->excludes(resuming);
  app.get_option("--init")->excludes(resuming);
  app.parse_complete_callback([&app, this] {
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0) given.push_back(option->get_name());
    }
  });
}

void TrainCommand::start() {
  world = dynet::join_world();
  if (const std::string warning = dynet::launcher_warning(*world); !warning.empty())
    std::cerr << "warning: " << warning << std::endl;
  if (world->size() == 1) {
    train_on();
    return;
  }
  std::exception_ptr stopped;  // thrown in all processes
  std::unique_ptr<Silence> silence;
  if (world->rank() == 0) {
    std::cout << world->size() << " processes" << std::endl;
  } else {
    silence = std::make_unique<Silence>();
    report.clear();
    tensorboard.clear();
  }
  dynet::guarded(*world, [&] {
    try {
      train_on();
    } catch (const program::Stopped&) {
      stopped = std::current_exception();
    }
  });
  if (stopped) std::rethrow_exception(stopped);
}

void TrainCommand::train_on() {
  if (!resume && init.empty()) return run();
  compute_with(resume ? checkpoint() : init, [this] { run(); });
}

void add_updates(Options& options, TrainSettings& settings, const std::string& samples) {
  options.begin_group(kTrainingOptions);
  options.add("--batch", settings.batch, samples + " per update", InRange(1, 100000));
  options.add("--learning-rate", settings.learning_rate, "Of Adam, at the start",
              InRange(1e-9, 100.0));
  options.add("--decay", settings.decay, "What an epoch multiplies the learning rate by",
              InRange(1e-3, 1.0));
  options.add(
      "--clip", settings.clip,
      "Largest norm of the gradient of the mean loss, against updates that are wild; 0 for any",
      InRange(0.0, 1e9));
  options.add(
      "--parts", settings.parts,
      "Graphs that the samples of an update are shared out to, for --threads to run at once",
      InRange(1, 256));
  options.add("--seed", settings.seed, "Of everything random", InRange(0, 1e19));
}

void add_unknown(Options& options, TrainSettings& settings) {
  options.begin_group(kTrainingOptions);
  options.add("--unknown", settings.unknown,
              "A word seen n times is hidden in training with probability U / (U + n)",
              InRange(0.0, 1000.0));
}

}  // namespace nlp
