// The training loop that the programs share, with a program that only counts.

#include "examples/nlp/common/training.h"

#include <signal.h>

#include "tests/examples/program.h"
#include "tools/program/stop_signals.h"

namespace training_test {

using namespace nlp;

struct Counter : Training {
  TrainState state;
  std::vector<double> scores;  ///< of the dev data, by epoch
  Strings log;
  TrainState saved;
  unsigned last_epoch = 0;
  unsigned clipped = 0;
  mutable std::string
      signal_at;  ///< what is done when SIGTERM comes: "1.1 at 0.333333", "dev", "model"

  void signal_if(const std::string& now) const {
    if (now != signal_at) return;
    signal_at.clear();
    raise(SIGTERM);
  }

  std::string unit() const override { return "words"; }
  std::vector<std::size_t> begin_epoch(unsigned epoch) override {
    last_epoch = epoch;
    return {10, 20, 30};
  }
  double update(unsigned epoch, std::size_t number, double epochs_done) override {
    std::ostringstream entry;
    entry << epoch << '.' << number << " at " << option_text(epochs_done);
    log.push_back(entry.str());
    if (number != 1) ++clipped;
    signal_if(entry.str());
    return 60.0;
  }
  std::uint64_t clips() const override { return 100 + clipped; }
  bool has_dev() const override { return !scores.empty(); }
  DevScore score_dev() override {
    signal_if("dev");
    return {scores.at(last_epoch - 1), "dev score"};
  }
  void save_model() override {
    signal_if("model");
    log.push_back("model");
  }
  void save_checkpoint(const dynet::SaveOptions&) override {
    signal_if("checkpoint");
    saved = state;
  }
};

RunOptions run_with(const TrainLimits& limits) {
  RunOptions run;
  run.limits = limits;
  return run;
}

TEST_CASE("Training: epochs, updates, and what is said about them") {
  Counter counter;
  std::ostringstream out;
  run_epochs(counter, counter.state, run_with({2, 3, 0}), out);
  CHECK(counter.log == Strings{"1.0 at 0", "1.1 at 0.333333", "1.2 at 0.666667", "model",
                               "2.0 at 1", "2.1 at 1.33333", "2.2 at 1.66667", "model"});
  CHECK(contains(out.str(), "epoch 1: loss 3.0000, "));
  CHECK(contains(out.str(), "\nepoch 2: loss 3.0000, "));
  CHECK_FALSE(contains(out.str(), "best"));
  CHECK(counter.saved.epoch == 2);
  CHECK(counter.saved.position == 0);
}

TEST_CASE("Training: the best model is kept and patience ends the run") {
  Counter counter;
  counter.scores = {-5, -3, -4, -3, -2};
  std::ostringstream out;
  run_epochs(counter, counter.state, run_with({10, 2, 0}), out);
  CHECK(counter.state.epoch == 4);
  CHECK(counter.state.best_epoch == 2);
  CHECK(counter.state.best_score == -3);
  CHECK(std::count(counter.log.begin(), counter.log.end(), "model") == 2);
  CHECK(contains(out.str(), "stopped: no better dev score in 2 epochs"));
  // Without patience it goes on and finds a better one.
  run_epochs(counter, counter.state, run_with({5, 0, 0}), out);
  CHECK(counter.state.best_epoch == 5);
}

TEST_CASE("Training: a run that time ends goes on with the next update") {
  Counter counter;
  std::ostringstream out;
  run_epochs(counter, counter.state, run_with({2, 3, 1e-9}), out);
  CHECK(counter.log == Strings{"1.0 at 0", "model"});
  CHECK(contains(out.str(), "epoch 1 (16.67 % of it): loss 6.0000"));
  CHECK(counter.saved.position == 1);
  CHECK(counter.saved.clipped == 1);
  CHECK(contains(out.str(), "100.00 % clipped"));
  counter.log.clear();
  RunOptions resumed = run_with({1, 3, 0});
  resumed.resume = true;
  run_epochs(counter, counter.state, resumed, out);
  CHECK(contains(out.str(), "resuming after epoch 0 and 1 updates\n"));
  CHECK(counter.log == Strings{"1.1 at 0.333333", "1.2 at 0.666667", "model"});
  CHECK(contains(out.str(), "\nepoch 1: loss 3.0000"));
  // Clipped updates count in both parts of the epoch.
  CHECK(contains(from(out.str(), "resuming"), ", 66.67 % clipped, "));
  CHECK(counter.saved.clipped == 0);
}

TEST_CASE("Training: a run that a signal stops goes on as if there had been none") {
  const auto run = [](Counter& counter, RunOptions options) {
    std::ostringstream out;
    options.model = "m";
    try {
      run_epochs(counter, counter.state, options, out);
    } catch (const program::Stopped& stopped) {
      CHECK(stopped.signal() == SIGTERM);
      out << "(stopped)";
    }
    return out.str();
  };
  const RunOptions two_epochs = run_with({2, 3, 0});
  Counter whole;
  whole.scores = {1, 2};
  CHECK_FALSE(contains(run(whole, two_epochs), "stopped"));

  // When it comes, and after what it stops the run.
  for (const auto& [moment, after, model] :
       {std::array{"1.1 at 0.333333", "epoch 0 and 2 updates", ""},
        {"1.2 at 0.666667", "epoch 1", "epoch 1"},
        {"dev", "epoch 1", "epoch 1"},
        {"model", "epoch 1", "epoch 1"},
        {"2.0 at 1", "epoch 1 and 1 updates", "epoch 1"},
        {"2.2 at 1.66667", "epoch 2", "epoch 2"},
        // While it is tried out whether there is room for the checkpoint.
        {"checkpoint", "epoch 0 and 1 updates", ""}}) {
    INFO(moment);
    Counter counter;
    counter.scores = whole.scores;
    counter.signal_at = moment;
    RunOptions options = two_epochs;
    const std::string stopped = run(counter, options);
    CHECK(contains(
        stopped, std::string("stopped by SIGTERM after ") + after +
                     "; all is saved in m.checkpoint: the same command goes on with "
                     "--resume\n" +
                     (*model ? std::string("saved in m: the best model so far, of ") + model + "\n"
                             : "no model of this run is saved yet\n") +
                     "(stopped)"));
    counter.state = counter.saved;
    counter.signal_at = "";
    options.resume = true;
    CHECK_FALSE(contains(run(counter, options), "stopped"));
    CHECK(counter.log == whole.log);
    CHECK(counter.saved.best_epoch == whole.saved.best_epoch);
  }
  Counter counter;
  counter.signal_at = "1.0 at 0";
  RunOptions options = two_epochs;
  options.force = true;
  CHECK(contains(run(counter, options), "goes on with --resume in place of --force\n"));
}

TEST_CASE("Training: marks tell texts and their borders apart") {
  const auto mark = [](const Strings& texts) {
    Fingerprint result;
    for (const std::string& text : texts) result.add(text);
    return result.value();
  };
  CHECK(mark({"ab", "c"}) == mark({"ab", "c"}));
  CHECK(mark({"ab", "c"}) != mark({"a", "bc"}));
  CHECK(mark({"a", ""}) != mark({"a"}));
  CHECK(mark({"a", "b"}) != mark({"b", "a"}));
  CHECK(error_from([] { require_same_data(RunOptions(), 1, 1); }) == "no error");
  CHECK(contains(error_from([] { require_same_data(RunOptions(), 1, 2); }), "other training data"));
}

TEST_CASE("Training: options of a resumed run") {
  const OptionValues begun = {{"--a", "1"}, {"--b", "2"}}, wanted = {{"--a", "1"}, {"--b", "3"}};
  const auto given = [](const std::string& option) {
    RunOptions run;
    run.model = "file";
    run.given = {option};
    return run;
  };
  CHECK(error_from([&] { require_same(given("--a"), begun, wanted); }) == "no error");
  CHECK(error_from([&] { require_same(given("--b"), begun, wanted); }) ==
        "the run in file.checkpoint began with --b 2: it cannot go on with 3");
  CHECK(decayed_rate(0.1f, 0.5f, 2) == Approx(0.025f));
  CHECK(hiding_probability(0.25f, 3) == Approx(0.25 / 3.25));
  CHECK(hiding_probability(0, 0) == 0);
  CHECK(contains(error_from([] { require_finite(0.0 / 0.0); }), "no longer a number"));
}

TEST_CASE("Training: a checkpoint that cannot be is refused") {
  for (const std::uint64_t position : {3u, 200u}) {
    Counter counter;
    counter.state.position = position;
    RunOptions run = run_with({2, 3, 0});
    run.model = "m";
    std::ostringstream out;
    CHECK(error_from([&] { run_epochs(counter, counter.state, run, out); }) ==
          "m.checkpoint was damaged or altered: it is said to have made " +
              std::to_string(position) + " updates of epoch 1, which has 3");
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto said = [](const TrainState& state) { return error_from([&] { state.check(); }); };
  CHECK(said({.epoch = 2, .position = 1, .clipped = 1, .best_epoch = 3}) == "no error");
  CHECK(said({.epoch = 2, .best_epoch = 3}) == "its best epoch is 3 of 2");
  CHECK(said({.loss = nan}) != "no error");
  CHECK(said({.best_score = nan}) != "no error");
  CHECK(said({.position = 1, .clipped = 2}) == "2 of 1 updates are said to be clipped");
}

}  // namespace training_test
