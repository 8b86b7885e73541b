#include "tests/cuda/runtime/runtime.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "kernels/cuda/cublas.h"

struct FakeStream {
  int device, number;
};
struct FakeEvent {
  int device, number;
};
struct FakeHandle {
  cudaStream_t stream;
};

namespace dynet::fake {

Runtime& runtime() {
  static Runtime& r = *new Runtime;  // which outlives what still has memory of it
  return r;
}

namespace {

// The next error that was asked for, or success.
int next_error(const char* name) {
  std::vector<int>& errors = runtime().errors[name];
  if (errors.empty()) return 0;
  const int error = errors.front();
  errors.erase(errors.begin());
  return error;
}
cudaError_t call(const char* name) {
  if (runtime().ended && std::string(name) != "cudaGetDevice")
    runtime().calls.push_back(std::string(name) + " after the end");
  const auto error =
      runtime().ended ? cudaErrorCudartUnloading : static_cast<cudaError_t>(next_error(name));
  if (error != cudaSuccess) runtime().last = error;
  return error;
}
void note(const std::string& text) { runtime().calls.push_back(text); }

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}
std::string name(cudaStream_t s) {
  if (s == cudaStreamLegacy) return "legacy " + std::to_string(runtime().device);
  require(runtime().streams.count(s) > 0, "a stream is not there");
  require(s->device == runtime().device, "a stream of another device than the current one");
  return std::to_string(s->number);
}
std::string name(cudaEvent_t e) {
  require(runtime().events.count(e) > 0, "an event is not there");
  return std::to_string(e->number);
}
cudaError_t allocate(const char* name, int device, void** p, std::size_t bytes) {
  if (const cudaError_t error = call(name)) return error;
  *p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  runtime().memory[static_cast<std::byte*>(*p)] = {device, bytes};
  return cudaSuccess;
}
cudaError_t free(const char* name, int device, void* p) {
  if (const cudaError_t error = call(name)) return error;
  const auto at = runtime().memory.find(static_cast<std::byte*>(p));
  require(at != runtime().memory.end() && at->second.first == device, "memory is not there");
  note(std::string(name) + " " + std::to_string(at->second.second));
  runtime().memory.erase(at);
  std::free(p);
  return cudaSuccess;
}
cudaError_t copy(const char* name, void* to, const void* from, std::size_t bytes, int kind,
                 const std::string& where) {
  note("copy " + std::to_string(bytes) + " of kind " + std::to_string(kind) + where);
  if (const cudaError_t error = call(name)) return error;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t create(const char* function, T** made, std::set<const void*>& all) {
  if (const cudaError_t error = call(function)) return error;
  static int number = 0;
  *made = new T{runtime().device, ++number};
  all.insert(*made);
  return cudaSuccess;
}
template <class T>
cudaError_t destroy(const char* function, T* made, std::set<const void*>& all) {
  if (const cudaError_t error = call(function)) return error;
  name(made);
  all.erase(made);
  delete made;
  return cudaSuccess;
}

cublasStatus_t blas(const char* name) { return static_cast<cublasStatus_t>(next_error(name)); }
FakeHandle& at(cublasHandle_t h) {
  require(runtime().handles.count(h) > 0, "a handle is not there");
  return *h;
}
/// A product of any kind.
template <class... Arguments>
cublasStatus_t multiply(cublasHandle_t h, Arguments...) {
  name(at(h).stream);
  ++runtime().products;
  return blas("cublasGemm");
}
template <class... Arguments>
cublasStatus_t find_factors(cublasHandle_t h, Arguments... arguments) {
  at(h);
  return blas(sizeof...(arguments) == 6 ? "cublasSgetrfBatched" : "cublasSgetriBatched");
}

}  // namespace
}  // namespace dynet::fake

using dynet::fake::call;
using dynet::fake::name;
using dynet::fake::note;
using dynet::fake::runtime;

const char* cudaGetErrorString(cudaError_t) { return "words of CUDA"; }
const char* cudaGetErrorName(cudaError_t) { return "name of CUDA"; }
cudaError_t cudaGetLastError() { return std::exchange(runtime().last, cudaSuccess); }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 5;
  return call("cudaGetDeviceCount");
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  *value = which == cudaDevAttrComputeMode              ? (device == 1 ? 2 : 0)
           : which == cudaDevAttrComputeCapabilityMajor ? (device == 4   ? 7
                                                           : device == 2 ? 8
                                                                         : 9)
                                                        : 0;
  return call("cudaDeviceGetAttribute");
}
cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t error = call("cudaSetDevice")) return error;
  runtime().device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = runtime().device;
  return call("cudaGetDevice");
}
cudaError_t cudaDeviceSynchronize() {
  note("synchronize " + std::to_string(runtime().device));
  return call("cudaDeviceSynchronize");
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int other) {
  *can = device == 2 && other != 2;
  return call("cudaDeviceCanAccessPeer");
}
cudaError_t cudaDeviceEnablePeerAccess(int other, unsigned flags) {
  if (flags != 0) return runtime().last = cudaErrorInvalidValue;
  if (runtime().ways.insert({runtime().device, other}).second) return cudaSuccess;
  return runtime().last = cudaErrorPeerAccessAlreadyEnabled;
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  *left = runtime().left - runtime().held(runtime().device);
  *all = runtime().left;
  return call("cudaMemGetInfo");
}
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  return dynet::fake::allocate("cudaMalloc", runtime().device, p, bytes);
}
cudaError_t cudaFree(void* p) { return dynet::fake::free("cudaFree", runtime().device, p); }
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  return dynet::fake::allocate("cudaHostAlloc", -1, p, bytes);
}
cudaError_t cudaFreeHost(void* p) { return dynet::fake::free("cudaFreeHost", -1, p); }
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return dynet::fake::copy("cudaMemcpy", to, from, bytes, kind, "");
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return dynet::fake::copy("cudaMemcpyAsync", to, from, bytes, kind, " in " + name(stream));
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  note("set " + std::to_string(bytes) + " in " + name(stream));
  if (const cudaError_t error = call("cudaMemsetAsync")) return error;
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  name(stream);
  if (const cudaError_t error = call("cudaMemset2DAsync")) return error;
  for (std::size_t k = 0; k < height; ++k)
    std::memset(static_cast<std::byte*>(to) + k * pitch, value, width);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return dynet::fake::create("cudaStreamCreate", stream, runtime().streams);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return dynet::fake::destroy("cudaStreamDestroy", stream, runtime().streams);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t error = call("cudaStreamSynchronize")) return error;
  note("synchronize stream " + name(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  note(name(stream) + " waits for " + name(event));
  return call("cudaStreamWaitEvent");
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return dynet::fake::create("cudaEventCreate", event, runtime().events);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return dynet::fake::destroy("cudaEventDestroy", event, runtime().events);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  note("record " + name(event) + " in " + name(stream));
  dynet::fake::require(event->device == runtime().device, "an event of another device");
  return call("cudaEventRecord");
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  note("wait for " + name(event));
  return call("cudaEventSynchronize");
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  note("allow " + std::to_string(value));
  return call("cudaFuncSetAttribute");
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void*, void** arguments) {
  const bool early = c->numAttrs == 1 &&
                     c->attrs->id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                     c->attrs->val.programmaticStreamSerializationAllowed == 1;
  note(std::string(early ? "early " : "") + "launch " + std::to_string(c->gridDim.x) + " x " +
       std::to_string(c->blockDim.x) + " with " + std::to_string(*static_cast<int*>(arguments[0])) +
       ", " + std::to_string(c->dynamicSmemBytes) + " in " + name(c->stream));
  return call("cudaLaunchKernel");
}

const dynet::cuda::Cublas& dynet::cuda::cublas() {
  static const Cublas functions{[](cublasHandle_t* handle) {
                                  if (const auto status = fake::blas("cublasCreate")) return status;
                                  *handle = new FakeHandle{nullptr};
                                  fake::runtime().handles.insert(*handle);
                                  return CUBLAS_STATUS_SUCCESS;
                                },
                                [](cublasHandle_t handle) {
                                  fake::require(!fake::runtime().ended,
                                                "cuBLAS is called after the end");
                                  fake::at(handle);
                                  fake::runtime().handles.erase(handle);
                                  delete handle;
                                  return CUBLAS_STATUS_SUCCESS;
                                },
                                [](cublasHandle_t handle, cudaStream_t stream) {
                                  fake::at(handle).stream = stream;
                                  return fake::blas("cublasSetStream");
                                },
                                [](cublasHandle_t handle, cublasMath_t) {
                                  fake::at(handle);
                                  return fake::blas("cublasSetMathMode");
                                },
                                [](cublasStatus_t) { return "words of cuBLAS"; },
                                fake::multiply,
                                fake::multiply,
                                fake::multiply,
                                fake::find_factors,
                                fake::find_factors};
  return functions;
}
