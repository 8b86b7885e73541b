#pragma once

#include <string>

namespace program {

/// Profiles all graphs and trainers of this program from now on. Files of DYNET_PROFILE and
/// DYNET_TRACE are added by `run`.
void profile_to(const std::string& table);

/// Starts what the environment variables DYNET_PROFILE and DYNET_TRACE ask for.
void profile_by_environment();

/// Writes the files of the profile, if there is one. Throws FileError.
void write_profile();

}  // namespace program
