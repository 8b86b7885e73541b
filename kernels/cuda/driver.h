#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/base/device_allocator.h"

namespace dynet::cuda {

/// How many threads run a kernel.
struct Grid {
  unsigned blocks;         ///< may be zero: nothing runs
  unsigned threads = 256;  ///< of a block, a multiple of 32
  std::size_t shared = 0;  ///< bytes of dynamic shared memory
};

/// C = A B or beta C + A B, of matrices in columns; A and B may be transposed. `batch` products at
/// the given distances, or where the pointers `each_a`, `each_b` and `each_c` say, which lie on the
/// device.
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

/// Square matrices of n rows, and what becomes of them. All that is named here lies on the device.
struct Factorization {
  int n, count;
  float* const* matrices;  ///< each becomes its factors, L without its ones and U
  int* pivots;             ///< n of each: the row, from 1 on, that row k was exchanged with
  int* info;               ///< of each: zero, or which pivot is zero
  float* const* inverses;  ///< null: none are wanted; of a matrix whose pivot is zero undefined
};

/// The arguments of a kernel.
struct Arguments {
  void** values;
  const std::size_t* sizes;  ///< bytes of each
  std::size_t count;
};

/// A place in a stream, which may be put elsewhere later. It may outlive the stream.
class Mark {
 public:
  virtual ~Mark() = default;
};

/// A stream of work on one device, which runs in order. Everything that the library asks of CUDA
/// goes through here, so that something else can stand in for it. Errors of the device are thrown
/// as DeviceError, by the call that meets them, which may be a later one.
class Driver {
 public:
  /// Runs a kernel as an ordinary function, for one thread of its grid.
  using Call = void (*)(const void* kernel, void** arguments);
  static constexpr unsigned kMarks = 3;

  virtual ~Driver() = default;
  /// Memory of the device, shared by all streams.
  virtual const std::shared_ptr<DeviceAllocator>& memory() = 0;
  /// Memory of the host that the device copies from while the host goes on.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  /// Waits for all that was put into the stream.
  virtual void free_pinned(void* p) noexcept = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  /// Returns when the bytes are there.
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void launch(const void* kernel, Call call, const Grid& grid,
                      const Arguments& arguments) = 0;
  virtual void multiply(const Product& product) = 0;
  /// The matrices must have rows.
  virtual void factor(const Factorization& factorization) = 0;
  /// The same into pinned memory, but does not wait.
  virtual void fetch(void* to, const void* from, std::size_t bytes) = 0;
  /// Marks this place in the stream, under a number below `kMarks`; waits until it is reached.
  virtual void mark(unsigned number) = 0;
  virtual void wait(unsigned number) = 0;
  virtual std::shared_ptr<const Mark> marked(unsigned number) = 0;
  /// Work that is put in after this call runs after all work now in `other`, of any device. The
  /// host does not wait.
  virtual void wait_for(Driver& other) = 0;
  /// Makes later work run after all work before a mark, of any stream, at its present place.
  virtual void wait_for(const Mark& mark) = 0;
  /// Copies between places of any two devices, or of one, without the host.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Whether mistakes in the use of the device are looked for, which takes time: in the streams of
  /// graphs, of debug builds and where something stands in for the device. Other streams write to
  /// the memory of that for updates.
  virtual bool checks() const { return false; }
  /// Fills memory that is about to be used again with NaN.
  virtual void poison(void* /*p*/, std::size_t /*bytes*/) noexcept {}
};

/// Which stream of a device. What is put into that for updates is done after all that lies in the
/// others then, and before all that is put into them later; others do not know of each other.
enum class StreamKind { graph, updates };

/// How many devices there are.
int device_count();
/// The memory of device `number`, which must exist.
const std::shared_ptr<DeviceAllocator>& memory_of(int number);
/// A new stream for a graph on device `number`, or the one for updates. Throws DeviceError.
std::unique_ptr<Driver> make_driver(int number, StreamKind kind = StreamKind::graph);
}  // namespace dynet::cuda
