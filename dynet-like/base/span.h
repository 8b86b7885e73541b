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
/// Stands for std::span in programs compiled as C++17, which see declarations that take one but
/// cannot call them.
template <class T>
struct Span {
  T* first;
  std::size_t count;
};
#endif

}  // namespace dynet
