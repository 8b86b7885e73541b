#pragma once

#include "dynet-like/io/files.h"

namespace program {

/// The operating system's files. What dynet::NewFile has begun there is removed if a signal that
/// `run` handles ends the program.
const dynet::FileSystem& files();

/// The same as options.
dynet::SaveOptions save_options();

/// Removes all that was begun. May be called in a handler of signals.
void remove_new_files() noexcept;

}  // namespace program
