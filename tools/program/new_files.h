#pragma once

#include <functional>

#include "dynet-like/io/files.h"

namespace program {

/// The file system. Unfinished files of dynet::NewFile are removed if a signal handled by `run`
/// ends the program.
const dynet::FileSystem& files();

/// SaveOptions with `files()`.
dynet::SaveOptions save_options();

/// Dry run of `save` with the options that it gets; the file is dropped. Throws any error that
/// prevents writing, such as a full disk, without replacing a file.
void rehearse(const std::function<void(const dynet::SaveOptions&)>& save);

/// Removes all unfinished files. Async-signal-safe.
void remove_new_files() noexcept;

}  // namespace program
