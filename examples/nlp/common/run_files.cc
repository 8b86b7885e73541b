#include "examples/nlp/common/run_files.h"

#include <filesystem>
#include <system_error>

#include "dynet-like/io/save.h"
#include "examples/nlp/common/about.h"
#include "examples/nlp/common/run_report.h"
#include "examples/nlp/common/saved_kind.h"
#include "examples/nlp/common/text.h"
#include "tools/program/errors.h"
#include "tools/program/new_files.h"

namespace nlp {
namespace {

namespace fs = std::filesystem;
using program::NamedFile;
using program::UsageError;

const NamedFile kStandardOutput{"", "-"};

/// Reads the kind of a file only.
struct KindReader {
  std::string* kind;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive >> *kind;
  }
};

/// Kind of a file; empty for a model of the library from another program. Throws dynet::FileError
/// for a file that cannot be read.
std::string saved_kind(const std::string& path) {
  dynet::ModelFile(path).verify_all();
  std::string kind;
  KindReader reader{&kind};
  try {
    dynet::load(path, reader);
  } catch (const dynet::Error&) {
    // The archive has unread data, or the file is of another kind.
  }
  return kind;
}

/// Output file of a run.
struct Target {
  NamedFile file;
  std::string what;  ///< "model"
  std::string kind;  ///< "tagger model 1", empty for a report
};

/// True if the file exists. Throws unless a newer version could replace it.
bool probe(const Target& target, const std::string& program) {
  const std::string& path = target.file.path;
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::is_directory(status)) throw UserError(path + " is a directory, not a " + target.what);
  if (!fs::is_regular_file(status)) return false;
  if (target.kind.empty()) {
    if (RunReport::is_report(path, program)) return !fs::is_empty(path);
  } else {
    try {
      if (saved_kind(path) == target.kind) return true;
    } catch (const dynet::FileError& error) {
      throw UsageError("only a " + target.what + " of " + program +
                       " is replaced by one: " + error.what());
    }
  }
  throw UsageError(path + " is no " + target.what + " of " + program +
                   ", and nothing else is replaced by one");
}

/// Compares names, since the files may not exist yet.
void require_other_name(const std::string& report, const std::vector<std::string>& others) {
  const auto whole = [](const std::string& path) {
    std::error_code unknown;  // leaves the path empty on errors, which are reported later
    return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  };
  for (const std::string& other : others) {
    if (!whole(report).empty() && whole(report) == whole(other))
      throw UsageError("--report " + report + " and " + other + " are the same file");
  }
}

void require_writable(const std::string& path) {
  program::require_possible(path);
  const dynet::NewFile can_be_begun(path, &program::files());
}

}  // namespace

void prepare_run(const RunOptions& run, const std::string& program) {
  date_of_files();                     // throws for an invalid SOURCE_DATE_EPOCH
  if (run.world->rank() != 0) return;  // other ranks write nothing
  std::vector<Target> targets = {{{"--model", run.model}, "model", model_kind(program)},
                                 {{"", run.checkpoint()}, "checkpoint", checkpoint_kind(program)}};
  // A report written to a pipe or a descriptor replaces no file.
  const bool report_is_file =
      !run.report.empty() && !program::is_device(run.report) && !program::descriptor_of(run.report);
  if (report_is_file) targets.push_back({{"--report", run.report}, "report", ""});
  std::vector<NamedFile> files = {
      {"--train", run.train}, {"--dev", run.dev}, {"--test", run.test}, {"--init", run.init}};
  for (const Target& target : targets) {
    program::require_different(target.file, files);
    files.push_back(target.file);
  }
  program::require_different(kStandardOutput, files);
  if (report_is_file) require_other_name(run.report, {run.model, run.checkpoint()});

  for (const Target& target : targets) {
    if (probe(target, program) && !run.resume && !run.force) {
      throw UsageError(target.file.path +
                       " exists: --resume goes on with the run that made it, --force replaces it");
    }
  }
  for (const Target& target : targets) require_writable(target.file.path);
  if (run.resume) const dynet::InputFile is_there(run.checkpoint());
}

std::vector<NamedFile> files_read(const SavedModel& model, const NamedFile& data) {
  return {{"--model", model.model}, {"", model.model + ".checkpoint"}, data};
}

void prepare_eval(const SavedModel& model, const std::string& data) {
  program::require_different(kStandardOutput, files_read(model, {"--data", data}));
}

}  // namespace nlp
