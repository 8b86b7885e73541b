#pragma once

namespace dynet {

/// The version of the library that the program was linked with, as "major.minor.patch".
const char* version() noexcept;

}  // namespace dynet
