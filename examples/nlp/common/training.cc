#include "examples/nlp/common/training.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "dynet-like/base/random.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_report.h"
#include "examples/nlp/common/text.h"
#include "tools/program/new_files.h"
#include "tools/program/stop_signals.h"

namespace nlp {
namespace {

class Loop {
 public:
  Loop(Training& training, TrainState& state, const RunOptions& run, std::ostream& out,
       RunReport* report)
      : training_(training),
        state_(state),
        checkpoint_(run.checkpoint()),
        limits_(run.limits),
        out_(out),
        report_(report),
        progress_output_(standard_error_output()),
        started_(progress_output_.clock()) {}

  void go() {
    bool in_time = true;
    while (in_time && state_.epoch < limits_.epochs && !out_of_patience()) {
      const bool whole = epoch();
      if (asked_to_stop()) return;
      in_time = whole && (!out_of_time() || state_.epoch == limits_.epochs);
    }
    if (!in_time) {
      out_ << "stopped after " << duration(seconds()) << ", as --max-seconds asks\n";
    } else if (out_of_patience()) {
      out_ << "stopped: no better dev score in " << limits_.patience << " epochs\n";
    }
    out_.flush();
  }

 private:
  double seconds() const { return progress_output_.clock() - started_; }
  bool out_of_time() {
    return limits_.max_seconds > 0 && training_.agreed(seconds() >= limits_.max_seconds) != 0;
  }
  bool asked_to_stop() { return training_.agreed(program::StopSignals::received()) != 0; }
  bool out_of_patience() const {
    return limits_.patience > 0 && training_.has_dev() &&
           state_.epoch >= state_.best_epoch + limits_.patience;
  }

  /// Trains until the end of the epoch or the time limit, scores, and saves. False after the time
  /// limit or a signal; then nothing is scored, so that a resumed run is the same as an
  /// uninterrupted one.
  bool epoch() {
    const double epoch_started = seconds();
    const unsigned number = state_.epoch + 1;
    const std::vector<std::size_t> sizes = training_.begin_epoch(number);
    read_checked(checkpoint_, [&] {
      require(state_.position == 0 || state_.position < sizes.size(),
              "it is said to have made " + with_commas(state_.position) + " updates of epoch " +
                  std::to_string(number) + ", which has " + with_commas(sizes.size()));
    });
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    const auto here = sizes.begin() + static_cast<std::ptrdiff_t>(state_.position);
    const std::size_t before = std::accumulate(sizes.begin(), here, std::size_t{0});
    std::size_t done = before;
    bool whole = true;
    {
      Progress progress(progress_output_, "epoch " + std::to_string(number), training_.unit(),
                        total, before);
      while (state_.position < sizes.size()) {
        const double epochs_done =
            state_.epoch + static_cast<double>(state_.position) / static_cast<double>(sizes.size());
        const std::uint64_t clips = training_.clips();
        state_.loss += training_.update(number, state_.position, epochs_done);
        state_.clipped += training_.clips() - clips;
        require_finite(state_.loss);
        done += sizes[state_.position];
        ++state_.position;
        progress.update(done, loss_text(done));
        if ((out_of_time() || asked_to_stop()) && state_.position < sizes.size()) {
          whole = false;
          break;
        }
      }
    }
    if (!whole && asked_to_stop()) {
      training_.save_checkpoint(program::save_options());
      return false;
    }
    EpochReport report;
    report.epoch = number;
    report.share = whole ? 1 : Ratio{done, total}.value();
    report.loss = mean_loss(done);
    report.clipped = Ratio{state_.clipped, state_.position}.value();
    report.per_second =
        static_cast<double>(done - before) / std::max(1e-9, seconds() - epoch_started);
    std::string line = "epoch " + std::to_string(number);
    if (!whole) line += " (" + percent(report.share) + " of it)";
    line += ": " + loss_text(done);
    keep_if_better(report, line);
    report.seconds = seconds();
    if (report.clipped > 0) line += ", " + percent(report.clipped) + " clipped";
    line += ", " + with_commas(static_cast<std::size_t>(report.per_second)) + " " +
            training_.unit() + "/s, " + duration(report.seconds);
    if (training_.has_dev() && report.best) line += ", best";
    if (whole) {
      ++state_.epoch;
      state_.position = 0;
      state_.loss = 0;
      state_.clipped = 0;
    }
    // The report precedes the checkpoint, so that no epoch is missing; a resumed run drops repeated
    // epochs.
    if (report_ != nullptr) report_->epoch(report);
    training_.save_checkpoint(program::save_options());
    out_ << line << std::endl;
    return whole;
  }

  double mean_loss(std::size_t done) const {
    return done == 0 ? 0.0 : state_.loss / static_cast<double>(done);
  }
  std::string loss_text(std::size_t done) const { return training_.loss_text(mean_loss(done)); }

  /// Scores the dev data, adds the score to the report and the line of the epoch, and saves the
  /// model if it is the best.
  void keep_if_better(EpochReport& report, std::string& line) {
    report.best = true;
    if (training_.has_dev()) {
      DevScore dev = training_.score_dev();
      report.best = state_.best_epoch == 0 || dev.score > state_.best_score;
      if (report.best) state_.best_score = dev.score;
      line += ", " + dev.text;
      report.dev = std::move(dev.figures);
    }
    if (!report.best) return;
    state_.best_epoch = report.epoch;
    training_.save_model();
  }

  Training& training_;
  TrainState& state_;
  const std::string checkpoint_;
  const TrainLimits limits_;
  std::ostream& out_;
  RunReport* const report_;  ///< null: none
  Progress::Output progress_output_;
  double started_;
};

/// "epoch 2 and 17 updates"
std::string progress_text(const TrainState& state) {
  std::string text = "epoch " + std::to_string(state.epoch);
  if (state.position > 0) text += " and " + with_commas(state.position) + " updates";
  return text;
}

/// Explains how to resume a run that a signal stopped.
std::string stop_text(const TrainState& state, const RunOptions& run, int signal) {
  std::string text = std::string("stopped by ") + program::signal_name(signal) + " after " +
                     progress_text(state) + "; all is saved in " + run.checkpoint() +
                     ": the same command goes on with --resume";
  if (run.force) text += " in place of --force";
  return text + (state.best_epoch == 0
                     ? "\nno model of this run is saved yet"
                     : "\nsaved in " + run.model + ": the best model so far, of epoch " +
                           std::to_string(state.best_epoch));
}

/// Throws unless all options given by the user are unchanged. `were` starts the error message.
void require_kept(const RunOptions& run, const OptionValues& before, const OptionValues& wanted,
                  const std::string& were) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [name, value] = wanted[i];
    if (run.was_given(name) && value != before[i].second) {
      throw UserError(were + name + " " + before[i].second + ": it cannot go on with " + value);
    }
  }
}

}  // namespace

void TrainSettings::check() const {
  require_named("optimizer", kOptimizers, optimizer);
  require_number("number of samples per update", batch, 1, 1e5);
  require_number("learning rate", static_cast<double>(learning_rate), 0, 1e3);
  require_number("decay", static_cast<double>(decay), 0, 1);
  require_number("clipping", static_cast<double>(clip), 0, 1e9);
  require_number("share of hidden words", static_cast<double>(unknown), 0, 1000);
  require_number("number of parts", parts, 0, 256);
}

void TrainState::check() const {
  require_number("number of epochs", epoch, 0, 1e6);
  require(best_epoch <= epoch + (position > 0 ? 1 : 0),
          "its best epoch is " + std::to_string(best_epoch) + " of " + std::to_string(epoch));
  require(std::isfinite(loss) && std::isfinite(best_score),
          "its loss or its best score is no finite number");
  require(clipped <= position, std::to_string(clipped) + " of " + std::to_string(position) +
                                   " updates are said to be clipped");
}

std::string Training::loss_text(double mean) const { return "loss " + fixed(mean, 4); }

void run_epochs(Training& training, TrainState& state, const RunOptions& run, std::ostream& out,
                RunReport* report) {
  if (run.resume) out << "resuming after " << progress_text(state) << std::endl;
  int signal = 0;
  {
    const program::StopSignals remembered;
    program::rehearse([&](const dynet::SaveOptions& how) { training.save_checkpoint(how); });
    Loop(training, state, run, out, report).go();
    signal = training.agreed(program::StopSignals::received());
  }
  if (signal != 0) {
    out << stop_text(state, run, signal) << std::endl;
    throw program::Stopped(signal);
  }
}

bool RunOptions::was_given(const std::string& option) const {
  return std::find(given.begin(), given.end(), option) != given.end();
}

float decayed_rate(float rate, float decay, double epochs) {
  return rate * static_cast<float>(std::pow(static_cast<double>(decay), epochs));
}

double hiding_probability(float a, std::size_t count) {
  const double known = static_cast<double>(count), unknown = static_cast<double>(a);
  return unknown > 0 ? unknown / (unknown + known) : 0;
}

std::string too_rare(unsigned min_count, const std::string& option) {
  std::string text;
  if (min_count > 1)
    text = ", as training has the others less than " + std::to_string(min_count) +
           " times: a smaller --min-count" + (option.empty() ? " helps" : " or ");
  return option.empty() ? text : (text.empty() ? ": " : text) + option + " helps";
}

void require_same(const RunOptions& run, const OptionValues& begun, const OptionValues& wanted) {
  require_kept(run, begun, wanted, "the run in " + run.checkpoint() + " began with ");
}

void require_fitting(const RunOptions& run, const OptionValues& had, const OptionValues& wanted) {
  require_kept(run, had, wanted, "the model in " + run.init + " has ");
}

void require_same_data(const RunOptions& run, std::uint64_t begun, std::uint64_t found) {
  if (begun != found) {
    throw UserError("the run in " + run.checkpoint() + " began with other training data");
  }
}

void Fingerprint::add(std::string_view text) {
  for (char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  value_ = dynet::mix_bits(value_ ^ text.size());
}

void require_finite(double loss) {
  if (std::isfinite(loss)) return;
  throw dynet::NumericError(
      "training broke off: the loss is no longer a number; try a smaller --learning-rate");
}

}  // namespace nlp
