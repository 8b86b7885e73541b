#pragma once

#include <cstddef>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace dynet {

#if __cplusplus >= 202002L
template <class T>
using Span = std::span<T>;
#else
/// Replacement of std::span in C++17 programs: functions that take one can be declared but not
/// called.
template <class T>
struct Span {
  T* first;
  std::size_t count;
};
#endif

}  // namespace dynet
