#pragma once

namespace dynet {

/// Version of the library that the program is linked with, "major.minor.patch".
const char* version() noexcept;

}  // namespace dynet
