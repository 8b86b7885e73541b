#pragma once

#include <string>
#include <vector>

namespace dynet::cuda {

/// A shared library that is opened when it is first needed, so that programs start without it. It
/// stays open.
class Library {
 public:
  /// The first of these files that there is: where the loader looks, then in the usual folders of
  /// CUDA. Throws DeviceError, with `what` and what it is for.
  Library(const std::string& what, const std::vector<std::string>& files);

  /// Throws DeviceError.
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
