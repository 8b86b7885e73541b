#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/target_groups.h"
#include "kernels/cuda/views.h"

namespace dynet::cuda {

/// Commands of a graph for its device: kernels, products, and the numbers of the host that these
/// need, which are sent in one copy. Nothing runs before `flush`, so one copy serves many
/// operations; commands run in order.
class Queue {
 public:
  explicit Queue(std::unique_ptr<Driver> driver);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Driver& driver() { return *driver_; }

  /// Memory of the host for n values that are to go to the device; write them before `flush`.
  template <class T>
  T* stage(std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    return static_cast<T*>(stage_bytes(n * sizeof(T)));
  }
  /// Device address of staged numbers, or of a part of them.
  template <class T>
  const T* on_device(const T* staged) const {
    return reinterpret_cast<const T*>(find(reinterpret_cast<const std::byte*>(staged)));
  }
  /// n values on the device, for the kernels of this operation.
  template <class T>
  const T* send(const T* values, std::size_t n) {
    T* const to = stage<T>(n);
    if (n > 0) std::memcpy(to, values, n * sizeof(T));
    return on_device(to);
  }
  /// Uninitialized numbers on the device, until this operation is done.
  float* temporary(std::size_t n);

  /// n numbers on the device, until the next `flush`, for what several operations need: a key names
  /// them, and only the first time they are uninitialized.
  struct Kept {
    float* p;
    bool fresh;
  };
  Kept kept(std::span<const float* const> key, std::size_t n);

  /// A kernel with these arguments. A grid without blocks is left out.
  template <class... P>
  void launch(const Grid& grid, void (*kernel)(P...), const std::type_identity_t<P>&... arguments) {
    static_assert((std::is_trivially_copyable_v<P> && ...));
    static_assert(argument_bytes<P...>() <= kMostArguments, "CUDA hands no more to a kernel");
    if (grid.blocks == 0) return;
    using Work = Launch<P...>;
    commands_.push_back(
        {&Work::run, new (allocate_command(sizeof(Work))) Work{kernel, grid, {arguments...}}});
  }
  /// The same with as many blocks of 256 threads as it takes to have `threads`.
  template <class... P>
  void launch_for(std::size_t threads, void (*kernel)(P...),
                  const std::type_identity_t<P>&... arguments) {
    launch(Grid{static_cast<unsigned>((threads + 255) / 256)}, kernel, arguments...);
  }
  /// n values, kept until `flush`; and in front of them those that were kept before.
  template <class T>
  std::span<const T> keep(const T* values, std::size_t n, std::span<const T> before = {}) {
    T* const kept = memory_.allocate_array<T>(before.size() + n);
    std::copy_n(values, n, std::copy(before.begin(), before.end(), kept));
    return {kept, before.size() + n};
  }
  /// Says what the kernel that was put in last does, for an operation that can do both at once.
  template <class S>
  void describe_last(const S& s) {
    static_assert(std::is_trivially_destructible_v<S>);
    last_ = {&kKind<S>, new (memory_.allocate(sizeof s)) S(s), commands_.size()};
  }
  /// Description of the last command; null if it has another type, or a later command is in.
  template <class S>
  const S* last() const {
    return last_.kind == &kKind<S> && last_.commands == commands_.size()
               ? static_cast<const S*>(last_.description)
               : nullptr;
  }
  /// Commands that were put in since the last `flush`.
  std::size_t size() const { return commands_.size(); }
  /// Takes the last ones out again: what comes next does their work.
  void take_back(std::size_t commands = 1) {
    commands_.truncate(commands_.size() - commands);
    for (Poison& p : poisons_) p.command = std::min(p.command, commands_.size());
    last_ = {};
  }
  /// How the products are made that come from now on.
  Precision precision() const { return precision_; }
  void set_precision(Precision precision) { precision_ = precision; }
  /// A product of matrices, in the queue's precision; left out if C has no elements. A list of
  /// results was staged; no two overlap, for all are made at the same time: DeviceError, where the
  /// driver checks.
  void multiply(const Product& product);
  /// The same for matrices and inverses. Left out if there are none, or if they have no rows.
  void factor(const Factorization& factorization);

  /// `n` tensors of `size` numbers each, as kernels see them.
  TensorArray<float> many(float* const* p, std::size_t n, std::size_t size);
  TensorArray<const float> many(const float* const* p, std::size_t n, std::size_t size);
  /// Tensors of a batch: its values, those of operand k, its scratch of `size` numbers a node.
  TensorArray<float> outs(const Batch<float>& b) { return many(b.outs, b.count, b.dim().size()); }
  TensorArray<const float> ins(const Batch<float>& b, std::size_t k) {
    return many(const_cast<const float* const*>(b.ins + k * b.count), b.count, b.dim(k).size());
  }
  TensorArray<float> auxs(const Batch<float>& b, std::size_t size) {
    return many(b.auxs, b.count, size);
  }
  TensorArray<const float> d_outs(const GradientBatch<float>& b) {
    return many(const_cast<const float* const*>(b.d_outs), b.count, b.dim().size());
  }
  /// Targets of the gradients of operand k: each target once, with the nodes whose parts are summed
  /// there. No targets, if none is needed.
  GradientTargets targets(const GradientBatch<float>& b, std::size_t k) {
    return targets(b.d_ins + k * b.count, b.writes + k * b.count, b.count, b.dim(k).size());
  }
  /// So many nodes, and no more, are added up by one thread.
  static constexpr std::size_t kMostNodes = 16;
  /// The same of n tensors of `size` numbers; those at null are left out. Up to `most` nodes of a
  /// target are added up at once.
  GradientTargets targets(float* const* to, const Write* writes, std::size_t n, std::size_t size,
                          std::size_t most = kMostNodes);
  /// Bytes of the arguments of a kernel.
  static constexpr std::size_t kMostArguments = 4096;

  /// To be called before each operation: temporaries may be used again.
  void begin_operation() { rewind(temporaries_, first_temporary_); }
  /// Rewinds memory that only commands of this queue use. If the driver checks, the old numbers are
  /// overwritten.
  void rewind(Arena& arena, Arena::Mark to);
  /// Copies between any devices.
  void copy(void* to, const void* from, std::size_t bytes);
  /// Copies into pinned memory; the bytes are there after `wait`.
  void fetch(void* to, const void* from, std::size_t bytes);
  /// Starts everything that was put in, and returns before it is done.
  void flush();
  /// The same of what was put in for all operations before, if that is much, so that the device
  /// works while the host goes on.
  void start_early();
  /// Forgets everything that was put in and not started.
  void forget();
  /// Orders later flushes after all that `writer`, the last queue that wrote there or null, has
  /// flushed; then this queue is the writer.
  void write_after(std::shared_ptr<const Mark>& writer);
  /// Waits until everything is done that was flushed.
  void wait() { driver_->wait(kDone); }
  /// Flushes, and copies n numbers from the device when they are there.
  void read(float* to, const float* from, std::size_t n);

 private:
  static constexpr std::size_t kAlignment = 16;
  static constexpr unsigned kDone = 2;  // the mark behind all work; 0 and 1: behind what was sent
  template <class... P>
  static constexpr std::size_t argument_bytes() {
    std::size_t bytes = 0;
    ((bytes = (bytes + alignof(P) - 1) / alignof(P) * alignof(P) + sizeof(P)), ...);
    return bytes;
  }
  struct Command {
    void (*run)(Driver&, void* work);
    void* work;
  };
  template <class... P>
  struct Launch {
    void (*kernel)(P...);
    Grid grid;
    std::tuple<P...> arguments;

    static void run(Driver& driver, void* work) {
      auto& w = *static_cast<Launch*>(work);
      std::apply(
          [&](auto&... a) {
            void* values[] = {&a...};
            constexpr std::size_t kSizes[] = {sizeof(P)...};
            driver.launch(reinterpret_cast<const void*>(w.kernel), &call, w.grid,
                          {values, kSizes, sizeof...(P)});
          },
          w.arguments);
    }
    static void call(const void* kernel, void** a) {
      call_with(kernel, a, std::index_sequence_for<P...>{});
    }
    template <std::size_t... I>
    static void call_with(const void* kernel, void** a, std::index_sequence<I...>) {
      const auto f = reinterpret_cast<void (*)(P...)>(const_cast<void*>(kernel));
      f(*static_cast<std::remove_cv_t<P>*>(a[I])...);
    }
  };
  struct Named {
    std::span<const float* const> key;
    float* p;
  };
  struct Last {
    const char* kind = nullptr;
    const void* description = nullptr;
    std::size_t commands = 0;
  };
  template <class S>
  static constexpr char kKind = 0;  // its address tells which S was described
  struct Chunk {
    std::byte *host, *device;
    std::size_t size, used, sent;
  };
  struct Poison {  // of memory, before a command
    std::size_t command;
    void* p;
    std::size_t bytes;
  };
  class TargetList;
  void upload();
  void run();
  void start_round();
  void clear();
  void* stage_bytes(std::size_t bytes);
  void* allocate_command(std::size_t bytes);
  const std::byte* find(const std::byte* staged) const;
  template <class T>
  void check_apart(T* const* list, std::size_t n, std::size_t size) const;

  std::unique_ptr<Driver> driver_;
  Arena memory_;  // of commands
  Arena temporaries_;
  Arena::Mark first_temporary_;  // behind a block that keeps the arena from giving memory back
  Arena kept_;
  std::vector<Named> named_;  // what is kept
  PodVector<Command> commands_;
  PodVector<Poison> poisons_;  // in the order of their commands
  Last last_;
  std::vector<Chunk> chunks_[2];  // by turns: one is filled while the other may still be copied
  std::size_t chunk_ = 0;
  unsigned half_ = 0;
  bool half_free_ = true;
  bool started_ = false;  // a part of what was put in since the last `flush`
  Precision precision_ = Precision::float32;
  TargetGroups groups_;  // scratch
};

}  // namespace dynet::cuda
