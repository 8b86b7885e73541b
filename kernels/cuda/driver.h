#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/base/device_allocator.h"

namespace dynet::cuda {

/// Launch configuration of a kernel.
struct Grid {
  unsigned blocks;         ///< may be zero: no launch
  unsigned threads = 256;  ///< per block, a multiple of 32
  std::size_t shared = 0;  ///< bytes of dynamic shared memory
};

/// C = A B or beta C + A B, with column-major matrices; A and B may be transposed. `batch`
/// products, at the given steps, or, if `each_a`, `each_b` and `each_c` are not null, at these
/// arrays of pointers, which must be on the device.
struct Product {
  bool transpose_a, transpose_b;
  int m, n, k;
  const float* a;
  int lda;
  const float* b;
  int ldb;
  float* c;
  int ldc;
  float beta;
  int batch = 1;
  long long step_a = 0, step_b = 0, step_c = 0;
  const float *const *each_a = nullptr, *const *each_b = nullptr;
  float* const* each_c = nullptr;
  Precision precision = Precision::float32;
};

/// LU factorization and optional inversion of n x n matrices. All pointers are device addresses.
struct Factorization {
  int n, count;
  float* const* matrices;  ///< each is replaced by its factors, L without its unit diagonal, and U
  int* pivots;             ///< n per matrix: the row, from 1, exchanged with row k
  int* info;               ///< per matrix: zero, or the index of the zero pivot
  float* const* inverses;  ///< null: not computed; undefined for a matrix with a zero pivot
};

/// Arguments of a kernel.
struct Arguments {
  void** values;
  const std::size_t* sizes;  ///< bytes of each argument
  std::size_t count;
};

/// A position in a stream, which can be recorded again. It may outlive the stream.
class Mark {
 public:
  virtual ~Mark() = default;
};

/// A stream of work on one device, executed in order. All calls of CUDA go through this interface,
/// so that tests can replace it. Errors of the device are thrown as DeviceError by the call that
/// detects them, which may be a later one.
class Driver {
 public:
  /// Runs a kernel as a host function, for one thread of its grid.
  using Call = void (*)(const void* kernel, void** arguments);
  static constexpr unsigned kMarks = 3;

  virtual ~Driver() = default;
  /// Memory of the device; shared by all streams.
  virtual const std::shared_ptr<DeviceAllocator>& memory() = 0;
  /// Pinned host memory, for asynchronous copies.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  /// Waits for all work of the stream, then frees pinned memory.
  virtual void free_pinned(void* p) noexcept = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  /// Copies to the host, and waits for the copy.
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void launch(const void* kernel, Call call, const Grid& grid,
                      const Arguments& arguments) = 0;
  virtual void multiply(const Product& product) = 0;
  /// Requires matrices with at least one row.
  virtual void factor(const Factorization& factorization) = 0;
  /// Copies into pinned memory without waiting.
  virtual void fetch(void* to, const void* from, std::size_t bytes) = 0;
  /// `mark` records the current position of the stream under a number below `kMarks`; `wait` waits
  /// until the device has reached it.
  virtual void mark(unsigned number) = 0;
  virtual void wait(unsigned number) = 0;
  virtual std::shared_ptr<const Mark> marked(unsigned number) = 0;
  /// Later work of this stream runs after all work now in `other`, which may be on any device. The
  /// host does not wait.
  virtual void wait_for(Driver& other) = 0;
  /// Later work of this stream runs after all work before the last recorded position of `mark`.
  virtual void wait_for(const Mark& mark) = 0;
  /// Copies between any two devices, or within one, without the host.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Whether misuse of the device is checked, at a cost: for streams of graphs, in debug builds and
  /// in the emulation. Streams for updates do not check: other streams write to their memory.
  virtual bool checks() const { return false; }
  /// Fills memory with NaN before its reuse.
  virtual void poison(void* /*p*/, std::size_t /*bytes*/) noexcept {}
};

/// Kind of a stream of a device. Work of the updates stream runs after all work that other streams
/// of the device have at that time, and before their later work; graph streams are not ordered.
enum class StreamKind { graph, updates };

/// Number of devices.
int device_count();
/// The memory of device `number`, which must exist.
const std::shared_ptr<DeviceAllocator>& memory_of(int number);
/// Creates a stream for a graph on a device, or opens the one for updates. Throws DeviceError.
std::unique_ptr<Driver> make_driver(int number, StreamKind kind = StreamKind::graph);
}  // namespace dynet::cuda
