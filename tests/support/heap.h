#pragma once

#include <cstddef>

/// The heap of this test program: counts all allocations and can make one fail. It replaces the C
/// functions that everything, operator new included, calls.
namespace heap {

/// Whether allocations are counted; false under a sanitizer, which replaces the heap itself.
bool counted();
/// Number of allocations so far.
std::size_t allocations();
/// Makes the n-th allocation during the lifetime of a Risk fail, counted from 0.
void refuse(std::size_t n);
/// Lets all allocations succeed. Returns whether one has failed.
bool refuse_nothing();
struct Risk {
  Risk();
  ~Risk();
};

}  // namespace heap
