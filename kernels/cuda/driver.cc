#include "kernels/cuda/driver.h"

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "kernels/cuda/capability.h"
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/memory_pool.h"

namespace dynet::cuda {
namespace {

[[noreturn]] void fail(const char* what, cudaError_t error) {
  const std::string text =
      std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  cudaGetLastError();  // clears the reported error; other calls may succeed
  if (error == cudaErrorMemoryAllocation) throw OutOfMemoryError("out of memory, " + text);
  throw DeviceError(text);
}
void check(const char* what, cudaError_t error) {
  if (error != cudaSuccess) fail(what, error);
}
// Whether the current device has less free memory than cuBLAS needs to start.
bool short_of_memory() {
  std::size_t left = 0, all = 0;
  return cudaMemGetInfo(&left, &all) == cudaSuccess && left < (std::size_t{256} << 20);
}

void check(const char* what, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  // If memory for its handle is missing, cuBLAS reports that it was not initialized.
  const bool memory = status == CUBLAS_STATUS_ALLOC_FAILED ||
                      (status == CUBLAS_STATUS_NOT_INITIALIZED && short_of_memory());
  cudaGetLastError();  // clears the reported error
  const std::string text = std::string(what) + ": " + cublas().status_string(status) + " (cuBLAS)";
  if (memory) throw OutOfMemoryError("out of memory, " + text);
  throw DeviceError(text);
}

// Whether CUDA has been unloaded before the process ends. Static objects that are destroyed later
// must not free anything.
bool cuda_has_ended() {
  int device = 0;
  return cudaGetDevice(&device) == cudaErrorCudartUnloading;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : -1;
}
int capability_of(int device) {
  return attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
         attribute(cudaDevAttrComputeCapabilityMinor, device);
}

// CUDA's numbers of the usable devices; empty if there is no driver.
std::vector<int> usable_devices() {
  std::vector<int> all;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return all;
  }
  for (int d = 0; d < count; ++d)
    if (capability_of(d) >= oldest_capability() &&
        attribute(cudaDevAttrComputeMode, d) != static_cast<int>(cudaComputeModeProhibited))
      all.push_back(d);
  return all;
}

// Sets the device of the calling thread.
void use(int device) { check("the device cannot be used", cudaSetDevice(device)); }

// Enables direct copies between two devices, if supported. Fast if already enabled.
void open_way(int device, int other) {
  for (const auto& [from, to] : {std::pair(device, other), std::pair(other, device)}) {
    int reaches = 0;
    if (from == to || cudaDeviceCanAccessPeer(&reaches, from, to) != cudaSuccess || !reaches)
      continue;
    use(from);
    cudaDeviceEnablePeerAccess(to, 0);
  }
  cudaGetLastError();  // already enabled, or not supported
}

// An own pool: CUDA's pools order reuse within one stream, but memory is shared by all streams.
class Memory final : public DeviceAllocator, private PlainMemory {
 public:
  Memory(int number, int device) : number_(number), device_(device) {}

  int number() const override { return number_; }

  void* allocate(std::size_t bytes) override { return pool_.allocate(bytes); }
  void free(void* p) noexcept override { pool_.free(p); }
  void trim() noexcept override { pool_.trim(); }
  MemoryPool& pool() { return pool_; }
  void read(void* to, const void* from, std::size_t bytes) override {
    copy("reading from the device", to, from, bytes, cudaMemcpyDeviceToHost);
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    copy("writing to the device", to, from, bytes, cudaMemcpyHostToDevice);
  }
  void receive(void* to, DeviceAllocator& source, const void* from, std::size_t bytes) override;

 private:
  void* take(std::size_t bytes) override {
    use(device_);
    void* p = nullptr;
    if (const cudaError_t error = cudaMalloc(&p, bytes); error != cudaSuccess) {
      std::size_t left = 0, all = 0;
      cudaMemGetInfo(&left, &all);
      const std::string asked = std::to_string(bytes) + " bytes asked for on device " +
                                std::to_string(device_) + ", which has " + std::to_string(left) +
                                " of " + std::to_string(all) + " left";
      fail(asked.c_str(), error);
    }
    return p;
  }
  void give_back(void* p) noexcept override {
    cudaSetDevice(device_);
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaGetLastError();  // a failed device is reported by another call
  }
  // Work in the legacy stream waits for all other streams, and they wait for it.
  void separate(void* p) override {
    use(device_);
    check("clearing memory", cudaMemsetAsync(p, 0, 1, cudaStreamLegacy));
  }
  void copy(const char* what, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    use(device_);
    check(what, cudaDeviceSynchronize());
    if (bytes > 0) check(what, cudaMemcpy(to, from, bytes, kind));
    check(what, cudaDeviceSynchronize());  // small writes may be in transfer
  }

  int number_, device_;
  MemoryPool pool_{*this, device_};
};

// Updates use the legacy stream, which CUDA orders with all ordinary streams; graphs use ordinary
// streams. Destroyed if a later member of the driver fails.
struct Stream {
  cudaStream_t stream = cudaStreamLegacy;
  explicit Stream(StreamKind kind) {
    if (kind == StreamKind::graph)
      check("a stream cannot be made", cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (cuda_has_ended()) return;
    cudaStreamSynchronize(stream);
    if (stream != cudaStreamLegacy) cudaStreamDestroy(stream);
  }
};
struct Event final : Mark {
  cudaEvent_t event = nullptr;
  Event() {
    check("an event cannot be made", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() override {
    if (!cuda_has_ended()) cudaEventDestroy(event);
  }
};
// Makes the update stream of `device` wait for all work in the update stream of `other`.
void let_wait(int device, int other) {
  use(other);
  const Event reached;
  check("marking a place in a stream", cudaEventRecord(reached.event, cudaStreamLegacy));
  use(device);
  check("waiting for another stream", cudaStreamWaitEvent(cudaStreamLegacy, reached.event));
}

void Memory::receive(void* to, DeviceAllocator& source, const void* from, std::size_t bytes) {
  const int other = static_cast<Memory&>(source).device_;
  open_way(device_, other);
  let_wait(device_, other);
  check("copying between devices",
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStreamLegacy));
  let_wait(other, device_);
}

struct Blas {
  cublasHandle_t handle = nullptr;
  Blas(cudaStream_t stream, DeviceAllocator& memory) {
    auto made = cublas().create(&handle);
    if (made != CUBLAS_STATUS_SUCCESS && short_of_memory()) {
      memory.trim();
      made = cublas().create(&handle);
    }
    check("cuBLAS cannot be started", made);
    // The precision is set for each product. Deterministic results require one stream per handle,
    // with the handle's own workspace.
    auto status = cublas().set_math_mode(handle, CUBLAS_DEFAULT_MATH);
    if (status == CUBLAS_STATUS_SUCCESS) status = cublas().set_stream(handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS) return;
    cublas().destroy(handle);
    check("cuBLAS cannot be set up", status);
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas() {
    if (!cuda_has_ended()) cublas().destroy(handle);
  }
};

cublasComputeType_t compute_type(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Precision::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

class CudaDriver final : public Driver {
 public:
  CudaDriver(int device, const std::shared_ptr<DeviceAllocator>& memory, StreamKind kind)
      : device_((use(device), device)),
        memory_(memory),
        stream_(kind),
        early_(kind == StreamKind::graph && kernels_wait(capability_of(device))) {
    for (auto& e : events_) e = std::make_shared<Event>();
  }
  ~CudaDriver() override {
    if (!cuda_has_ended()) cudaSetDevice(device_);
  }

  const std::shared_ptr<DeviceAllocator>& memory() override { return memory_; }

  void* allocate_pinned(std::size_t bytes) override {
    use(device_);
    void* p = nullptr;
    check("pinned memory of the host", cudaHostAlloc(&p, bytes, cudaHostAllocDefault));
    return p;
  }
  void free_pinned(void* p) noexcept override {
    if (cuda_has_ended()) return;
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_.stream);
    cudaFreeHost(p);
    cudaGetLastError();
  }

  void upload(void* to, const void* from, std::size_t bytes) override {
    copy("copying to the device", to, from, bytes, cudaMemcpyHostToDevice);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    fetch(to, from, bytes);
    check("copying from the device", cudaStreamSynchronize(stream_.stream));
  }
  void fetch(void* to, const void* from, std::size_t bytes) override {
    copy("copying from the device", to, from, bytes, cudaMemcpyDeviceToHost);
  }
  // CUDA derives the devices from the addresses; without peer access it copies through the host.
  void copy(void* to, const void* from, std::size_t bytes) override {
    copy("copying between devices", to, from, bytes, cudaMemcpyDefault);
  }

  void launch(const void* kernel, Call, const Grid& grid, const Arguments& arguments) override {
    constexpr std::size_t kAlways = 48 * 1024;  // limit without an attribute
    use(device_);
    if (grid.shared > kAlways)
      check("shared memory of a kernel",
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(grid.shared)));
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid.blocks);
    config.blockDim = dim3(grid.threads);
    config.dynamicSmemBytes = grid.shared;
    config.stream = stream_.stream;
    config.attrs = &early;
    config.numAttrs = early_ ? 1 : 0;
    const auto start = [&] { return cudaLaunchKernelExC(&config, kernel, arguments.values); };
    cudaError_t started = start();
    if (started == cudaErrorMemoryAllocation) {  // kernels are loaded on first use
      memory_->trim();
      started = start();
    }
    check("starting a kernel", started);
  }

  void multiply(const Product& p) override {
    use(device_);
    if (p.k == 0) return sum_of_nothing(p);
    const cublasHandle_t blas = handle();
    const auto transpose = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const cublasComputeType_t type = compute_type(p.precision);
    const float one = 1;
    constexpr auto kFloat = CUDA_R_32F;
    constexpr auto kAny = CUBLAS_GEMM_DEFAULT;
    const auto in_general = [](auto* const* pointers) {
      return reinterpret_cast<const void* const*>(pointers);
    };
    check("a product of matrices",
          p.each_c ? cublas().gemms_of(blas, transpose(p.transpose_a), transpose(p.transpose_b),
                                       p.m, p.n, p.k, &one, in_general(p.each_a), kFloat, p.lda,
                                       in_general(p.each_b), kFloat, p.ldb, &p.beta,
                                       const_cast<void* const*>(in_general(p.each_c)), kFloat,
                                       p.ldc, p.batch, type, kAny)
          : p.batch == 1 ? cublas().gemm(blas, transpose(p.transpose_a), transpose(p.transpose_b),
                                         p.m, p.n, p.k, &one, p.a, kFloat, p.lda, p.b, kFloat,
                                         p.ldb, &p.beta, p.c, kFloat, p.ldc, type, kAny)
                         : cublas().gemms(blas, transpose(p.transpose_a), transpose(p.transpose_b),
                                          p.m, p.n, p.k, &one, p.a, kFloat, p.lda, p.step_a, p.b,
                                          kFloat, p.ldb, p.step_b, &p.beta, p.c, kFloat, p.ldc,
                                          p.step_c, p.batch, type, kAny));
  }

  bool checks() const override {
#ifdef NDEBUG
    return false;
#else
    return stream_.stream != cudaStreamLegacy;
#endif
  }
  void poison(void* p, std::size_t bytes) noexcept override {
    cudaSetDevice(device_);
    cudaMemsetAsync(p, 0xff, bytes, stream_.stream);
    cudaGetLastError();  // a failed device is reported by another call
  }

  void factor(const Factorization& f) override {
    use(device_);
    const cublasHandle_t blas = handle();
    check("factors of matrices",
          cublas().factor(blas, f.n, f.matrices, f.n, f.pivots, f.info, f.count));
    if (f.inverses)
      check("inverses of matrices", cublas().invert(blas, f.n, f.matrices, f.n, f.pivots,
                                                    f.inverses, f.n, f.info, f.count));
  }

  void mark(unsigned number) override {
    use(device_);
    check("marking a place in a stream", cudaEventRecord(events_[number]->event, stream_.stream));
  }
  void wait(unsigned number) override {
    check("waiting for the device", cudaEventSynchronize(events_[number]->event));
  }
  std::shared_ptr<const Mark> marked(unsigned number) override { return events_[number]; }
  void wait_for(Driver& other) override {
    auto& that = static_cast<CudaDriver&>(other);
    open_way(device_, that.device_);
    use(that.device_);
    check("marking a place in a stream", cudaEventRecord(that.reached_.event, that.stream_.stream));
    wait_for(that.reached_);
  }
  void wait_for(const Mark& mark) override {
    use(device_);
    check("waiting for another stream",
          cudaStreamWaitEvent(stream_.stream, static_cast<const Event&>(mark).event));
  }

 private:
  cublasHandle_t handle() {
    if (!blas_) blas_.emplace(stream_.stream, *memory_);  // takes time and memory
    return blas_->handle;
  }

  void copy(const char* what, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    use(device_);
    if (bytes > 0) check(what, cudaMemcpyAsync(to, from, bytes, kind, stream_.stream));
  }

  // Sets C to beta C for products without terms; beta is 0 or 1.
  void sum_of_nothing(const Product& p) {
    if (p.beta != 0) return;
    for (int i = 0; i < p.batch; ++i)
      check("clearing a matrix",
            cudaMemset2DAsync(p.c + i * p.step_c, static_cast<std::size_t>(p.ldc) * sizeof(float),
                              0, static_cast<std::size_t>(p.m) * sizeof(float),
                              static_cast<std::size_t>(p.n), stream_.stream));
  }

  int device_;
  std::shared_ptr<DeviceAllocator> memory_;
  Stream stream_;
  bool early_;  // kernels start before their predecessors end
  std::shared_ptr<Event> events_[kMarks];
  Event reached_;  // another stream waits for it; may be recorded again at once
  std::optional<Blas> blas_;
};

}  // namespace

int device_count() { return static_cast<int>(usable_devices().size()); }

// One allocator object per device, shared by all streams: it identifies the owner of memory.
const std::shared_ptr<DeviceAllocator>& memory_of(int number) {
  static const auto all = [] {
    std::vector<std::shared_ptr<DeviceAllocator>> memories;
    for (const int device : usable_devices())
      memories.push_back(std::make_shared<Memory>(static_cast<int>(memories.size()), device));
    return memories;
  }();
  return all.at(static_cast<std::size_t>(number));
}

MemoryPool& pool_of(int number) { return static_cast<Memory&>(*memory_of(number)).pool(); }

std::unique_ptr<Driver> make_driver(int number, StreamKind kind) {
  const std::vector<int> all = usable_devices();
  if (number < 0 || static_cast<std::size_t>(number) >= all.size())
    throw DeviceError("there is no device " + std::to_string(number) + ", of " +
                      std::to_string(all.size()) + " that can be used");
  return std::make_unique<CudaDriver>(all[static_cast<std::size_t>(number)], memory_of(number),
                                      kind);
}

}  // namespace dynet::cuda
