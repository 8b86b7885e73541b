#include "kernels/cuda/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "dynet-like/base/errors.h"

namespace dynet::cuda {
namespace {

constexpr const char* kFolders[] = {
#ifdef DYNET_CUDA_LIBRARIES
    DYNET_CUDA_LIBRARIES,  // location at build time
#endif
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
};

std::string last_error() {
  const char* const text = dlerror();
  return text ? text : "unknown error";
}

}  // namespace

Library::Library(const std::string& what, const std::vector<std::string>& files) : what_(what) {
  std::string why;
  for (const std::string& file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return;
    const std::string error = last_error();
    if (why.empty()) why = error;
    for (const std::string folder : kFolders) {
      const std::string path = folder + "/" + file;
      if (access(path.c_str(), F_OK) != 0) continue;
      handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) return;
      why = last_error();  // the error of an existing file is more informative
    }
  }
  throw DeviceError(what_ + ", cannot be loaded: " + why);
}

void* Library::address(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (!found) throw DeviceError(what_ + ", lacks a function: " + last_error());
  return found;
}

}  // namespace dynet::cuda
