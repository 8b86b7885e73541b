#pragma once

#include <string>
#include <vector>

#include "examples/nlp/common/model.h"
#include "examples/nlp/common/training.h"
#include "tools/program/files.h"

namespace nlp {

/// Checks the output files before a run reads anything, so that errors are not found after hours of
/// training. Throws if the run could not save, or would overwrite other files: the model, its
/// checkpoint and the report must not be data files; existing files in their place must be a model,
/// a checkpoint and a report of this program, and the user must have chosen to resume or to replace
/// them. Throws program::UsageError, UserError or dynet::FileError.
void prepare_run(const RunOptions& run, const std::string& program);

/// Files that a command with a saved model reads, and must not write to: the model, its checkpoint
/// and the data.
std::vector<program::NamedFile> files_read(const SavedModel& model, const program::NamedFile& data);

/// Checks the files of `eval`. Throws program::UsageError if standard output is one of the files
/// that the command reads.
void prepare_eval(const SavedModel& model, const std::string& data);

}  // namespace nlp
