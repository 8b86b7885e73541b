#include "examples/nlp/common/run_report.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>

#include "dynet-like/param/parameters.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/json.h"
#include "tools/program/files.h"
#include "tools/program/new_files.h"

namespace nlp {
namespace {

/// Drops an incomplete last line, and lines of unfinished epochs, of a run that was killed.
void drop_unfinished(const std::string& path, unsigned finished) {
  std::ifstream in(path, std::ios::binary);
  std::string kept;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    const Json object = Json::parse(line, nullptr, false);
    const Json epoch = object.is_object() ? object.value("epoch", Json()) : Json();
    if (!epoch.is_number() || epoch.get<double>() <= finished) kept += line + '\n';
  }
  if (kept.size() == std::filesystem::file_size(path)) return;
  dynet::NewFile file(path, program::save_options().files);
  file.write(kept);
  file.commit();
}

void write_line(std::streambuf& out, const Json& object) {
  const std::string line = json_line(object) + '\n';
  out.sputn(line.data(), static_cast<std::streamsize>(line.size()));
  out.pubsync();
}

}  // namespace

RunReport::RunReport(const RunOptions& run, const std::string& program,
                     const OptionValues& settings, unsigned finished,
                     const dynet::ParameterCollection* parameters)
    : parameters_(parameters), epochs_(finished) {
  if (!run.tensorboard.empty())
    board_ = std::make_unique<dynet::TensorBoardWriter>(
        run.tensorboard,
        run.resume ? std::optional<std::int64_t>(finished + std::int64_t{1}) : std::nullopt);
  if (run.report.empty()) return;
  const std::optional<int> descriptor = program::descriptor_of(run.report);
  const bool continued = run.resume && std::filesystem::is_regular_file(run.report);
  if (continued && !descriptor) drop_unfinished(run.report, finished);
  const int how = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (continued ? 0 : O_TRUNC);
  const int fd = descriptor ? program::DescriptorBuffer::copy_of(*descriptor, run.report)
                            : ::open(run.report.c_str(), how, 0666);
  if (fd < 0) throw program::OutputError(run.report, errno);
  out_ = std::make_unique<program::DescriptorBuffer>(fd, run.report);

  Json options = {{"train", without_folders(run.train)},
                  {"dev", without_folders(run.dev)},
                  {"test", without_folders(run.test)},
                  {"model", without_folders(run.model)}};
  if (!run.init.empty()) options["init"] = without_folders(run.init);
  options["device"] = run.device->name;
  options.update(json_of(settings));
  options["epochs"] = run.limits.epochs;
  options["patience"] = run.limits.patience;
  options["max-seconds"] = run.limits.max_seconds;
  write_line(
      *out_,
      {{"line", "settings"}, {"program", program}, {"resumed", run.resume}, {"settings", options}});
}

void RunReport::epoch(const EpochReport& epoch) {
  epochs_ = epoch.epoch;
  if (board_) {
    board_->add_scalar("loss/train", epoch.loss, epochs_);
    for (const Figure& f : epoch.dev) board_->add_scalar(f.name + "/dev", f.model, epochs_);
    board_->add_scalar("run/clipped", epoch.clipped, epochs_);
    board_->add_scalar("run/per second", epoch.per_second, epochs_);
    if (parameters_) board_->add_parameters(*parameters_, epochs_);
    board_->flush();
  }
  if (!out_) return;
  Json line = {{"line", "epoch"},
               {"epoch", epoch.epoch},
               {"share", epoch.share},
               {"loss", epoch.loss},
               {"clipped", epoch.clipped}};
  if (!epoch.dev.empty()) line["dev"] = json_of(epoch.dev, &Figure::model);
  line["best"] = epoch.best;
  line["per_second"] = epoch.per_second;
  line["seconds"] = epoch.seconds;
  write_line(*out_, line);
}

void RunReport::scores(const std::string& data, const Figures& figures) {
  if (board_) {
    for (const Figure& f : figures) board_->add_scalar(f.name + "/final " + data, f.model, epochs_);
    board_->flush();
  }
  if (!out_) return;
  write_line(*out_, {{"line", "scores"},
                     {"data", data},
                     {"model", json_of(figures, &Figure::model)},
                     {"baseline", json_of(figures, &Figure::baseline)}});
}

bool RunReport::is_report(const std::string& path, const std::string& program) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (in.peek() == std::ifstream::traits_type::eof()) return true;
  std::getline(in, line);
  const Json first = Json::parse(line, nullptr, false);
  return first.is_object() && first.value("program", Json()) == program;
}

}  // namespace nlp
