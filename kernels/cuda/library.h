#pragma once

#include <string>
#include <vector>

namespace dynet::cuda {

/// A shared library loaded on first use, so that programs start without it. It is never unloaded.
class Library {
 public:
  /// Loads the first of these files that exists, in the loader's path or in the usual folders of
  /// CUDA. Throws DeviceError, whose text begins with `what`: the library and its purpose.
  Library(const std::string& what, const std::vector<std::string>& files);

  /// Looks up a function. Throws DeviceError.
  template <class F>
  void find(F*& f, const char* name) const {
    f = reinterpret_cast<F*>(address(name));
  }

 private:
  void* address(const char* name) const;

  std::string what_;
  void* handle_ = nullptr;
};

}  // namespace dynet::cuda
