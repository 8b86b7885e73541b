#pragma once

#include <atomic>
#include <cstddef>

namespace dynet::emulation {

/// Bytes that the device has. A test may make it smaller.
std::size_t& limit();

/// How often the host has waited for the device to read or write its memory.
std::atomic<std::size_t>& copies();

}  // namespace dynet::emulation
