#pragma once

#include <cstddef>

/// The heap of this test program. Every way to it is counted, and may be closed: the C functions
/// that everything else, operator new included, ends in.
namespace heap {

/// Whether it is: a sanitizer has the heap to itself.
bool counted();
/// Allocations so far.
std::size_t allocations();
/// The n-th allocation during the lifetime of a Risk fails, counted from 0.
void refuse(std::size_t n);
/// None fails any more. Returns whether one has.
bool refuse_nothing();
struct Risk {
  Risk();
  ~Risk();
};

}  // namespace heap
