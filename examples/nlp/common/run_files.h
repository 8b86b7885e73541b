#pragma once

#include <string>
#include <vector>

#include "examples/nlp/common/model.h"
#include "examples/nlp/common/training.h"
#include "tools/program/files.h"

namespace nlp {

/// To be called before a run reads anything: throws if it could not save, or if what it saves would
/// replace what somebody may want to keep, so that this is known now and not after hours. The
/// model, its checkpoint and the report must be none of the data; what is there in their place must
/// be a model, a checkpoint and a report of this program, and the user must have chosen to resume
/// or to replace them; and it must be possible to write all. Throws program::UsageError, UserError
/// or dynet::FileError.
void prepare_run(const RunOptions& run, const std::string& program);

/// Files that a command with a saved model reads, and must not write to: the model, its checkpoint,
/// and the data.
std::vector<program::NamedFile> files_read(const SavedModel& model, const program::NamedFile& data);

/// Checks the files of the command that scores a model. Throws program::UsageError if standard
/// output is one of the files that the command reads.
void prepare_eval(const SavedModel& model, const std::string& data);

}  // namespace nlp
