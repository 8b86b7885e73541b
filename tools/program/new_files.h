#pragma once

#include <functional>

#include "dynet-like/io/files.h"

namespace program {

/// The operating system's files. What dynet::NewFile has begun there is removed if a signal that
/// `run` handles ends the program.
const dynet::FileSystem& files();

/// The same as options.
dynet::SaveOptions save_options();

/// Lets `save` write a file with the options that it gets, and drops the file: whatever keeps it
/// from being written, a disk that is full for one, is thrown, and nothing is replaced.
void rehearse(const std::function<void(const dynet::SaveOptions&)>& save);

/// Removes all that was begun. May be called in a handler of signals.
void remove_new_files() noexcept;

}  // namespace program
