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

/// Commands of a graph for its device: kernels, products, and the host data that they need, which
/// is sent in one copy. Nothing runs before `flush`, so that one copy serves many operations;
/// commands run in order.
class Queue {
 public:
  explicit Queue(std::unique_ptr<Driver> driver);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Driver& driver() { return *driver_; }

  /// Host memory for n values to be sent to the device; they must be written before `flush`.
  template <class T>
  T* stage(std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    return static_cast<T*>(stage_bytes(n * sizeof(T)));
  }
  /// Device address of staged values, or of a part of them.
  template <class T>
  const T* on_device(const T* staged) const {
    return reinterpret_cast<const T*>(find(reinterpret_cast<const std::byte*>(staged)));
  }
  /// Stages n values and returns their device address.
  template <class T>
  const T* send(const T* values, std::size_t n) {
    T* const to = stage<T>(n);
    if (n > 0) std::memcpy(to, values, n * sizeof(T));
    return on_device(to);
  }
  /// Uninitialized device memory for n numbers, valid until the operation ends.
  float* temporary(std::size_t n);

  /// Device memory for n numbers, shared by several operations until the next `flush`, identified
  /// by a key; `fresh`: new and uninitialized.
  struct Kept {
    float* p;
    bool fresh;
  };
  Kept kept(std::span<const float* const> key, std::size_t n);

  /// Adds a kernel with its arguments. A grid without blocks is skipped.
  template <class... P>
  void launch(const Grid& grid, void (*kernel)(P...), const std::type_identity_t<P>&... arguments) {
    static_assert((std::is_trivially_copyable_v<P> && ...));
    static_assert(argument_bytes<P...>() <= kMostArguments, "CUDA hands no more to a kernel");
    if (grid.blocks == 0) return;
    using Work = Launch<P...>;
    commands_.push_back(
        {&Work::run, new (allocate_command(sizeof(Work))) Work{kernel, grid, {arguments...}}});
  }
  /// Adds a kernel with enough blocks of 256 threads for `threads` threads.
  template <class... P>
  void launch_for(std::size_t threads, void (*kernel)(P...),
                  const std::type_identity_t<P>&... arguments) {
    launch(Grid{static_cast<unsigned>((threads + 255) / 256)}, kernel, arguments...);
  }
  /// Copies n values, after those of `before`, to host memory that is valid until `flush`.
  template <class T>
  std::span<const T> keep(const T* values, std::size_t n, std::span<const T> before = {}) {
    T* const kept = memory_.allocate_array<T>(before.size() + n);
    std::copy_n(values, n, std::copy(before.begin(), before.end(), kept));
    return {kept, before.size() + n};
  }
  /// Describes the last command, so that a later operation can fuse with it.
  template <class S>
  void describe_last(const S& s) {
    static_assert(std::is_trivially_destructible_v<S>);
    last_ = {&kKind<S>, new (memory_.allocate(sizeof s)) S(s), commands_.size()};
  }
  /// Description of the last command; null if it has another type or is not the last.
  template <class S>
  const S* last() const {
    return last_.kind == &kKind<S> && last_.commands == commands_.size()
               ? static_cast<const S*>(last_.description)
               : nullptr;
  }
  /// Number of commands since the last `flush`.
  std::size_t size() const { return commands_.size(); }
  /// Removes the last commands; the caller replaces them by a fused one.
  void take_back(std::size_t commands = 1) {
    commands_.truncate(commands_.size() - commands);
    for (Poison& p : poisons_) p.command = std::min(p.command, commands_.size());
    last_ = {};
  }
  /// Precision of later products.
  Precision precision() const { return precision_; }
  void set_precision(Precision precision) { precision_ = precision; }
  /// Adds a product of matrices in the queue's precision; skipped if C has no elements. A list of
  /// results must be staged and must not overlap, since they are computed at the same time; drivers
  /// that check throw DeviceError.
  void multiply(const Product& product);
  /// Adds a factorization; skipped if there are no matrices or they have no rows.
  void factor(const Factorization& factorization);

  /// A view of `n` tensors of `size` numbers each for kernels.
  TensorArray<float> many(float* const* p, std::size_t n, std::size_t size);
  TensorArray<const float> many(const float* const* p, std::size_t n, std::size_t size);
  /// A view of tensors that may lie at any equal distance from each other.
  TensorArray<float> spaced(float* const* p, std::size_t n) {
    return many(p, n, n > 1 && p[1] > p[0] ? static_cast<std::size_t>(p[1] - p[0]) : 0);
  }
  /// Views of a batch: its values, those of operand k, its scratch of `size` numbers per node.
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
  /// Targets of the gradients of operand k: each distinct target once, with the nodes whose
  /// gradients are summed there. Empty if no gradient is needed.
  GradientTargets targets(const GradientBatch<float>& b, std::size_t k) {
    return targets(b.d_ins + k * b.count, b.writes + k * b.count, b.count, b.dim(k).size());
  }
  /// Those of sums of `size` numbers for each node (GradientBatch::d_sums).
  GradientTargets sums(const GradientBatch<float>& b, std::size_t size) {
    return {
        {b.count, many(b.d_sums, b.count, size), nullptr, nullptr, nullptr, false}, 1, {}, 0, {}};
  }
  /// Maximum number of nodes that one thread sums.
  static constexpr std::size_t kMostNodes = 16;
  /// Targets of n tensors of `size` numbers; null tensors are left out. At most `most` nodes of a
  /// target are summed at once.
  GradientTargets targets(float* const* to, const Write* writes, std::size_t n, std::size_t size,
                          std::size_t most = kMostNodes);
  /// Maximum size of a kernel's arguments, in bytes.
  static constexpr std::size_t kMostArguments = 4096;

  /// Must be called before each operation: frees its predecessor's temporaries.
  void begin_operation() { rewind(temporaries_, first_temporary_); }
  /// Rewinds an arena used only by commands of this queue. If the driver checks, the freed memory
  /// is poisoned after the commands so far.
  void rewind(Arena& arena, Arena::Mark to);
  /// Adds a copy between any devices.
  void copy(void* to, const void* from, std::size_t bytes);
  /// Adds a copy into pinned memory; the bytes are valid after `wait`.
  void fetch(void* to, const void* from, std::size_t bytes);
  /// Starts all commands, and returns before they are complete.
  void flush();
  /// Starts the commands of previous operations if there are many, so that the device works while
  /// the host continues.
  void start_early();
  /// Drops all commands that were not started.
  void forget();
  /// Orders later flushes after everything flushed by `writer`, the last queue that wrote to some
  /// memory, or null; then makes this queue the writer.
  void write_after(std::shared_ptr<const Mark>& writer);
  /// Waits for all flushed commands.
  void wait() { driver_->wait(kDone); }
  /// Flushes, and copies n numbers from the device.
  void read(float* to, const float* from, std::size_t n);

 private:
  static constexpr std::size_t kAlignment = 16;
  static constexpr unsigned kDone = 2;  // mark after all work; 0, 1: after each half's uploads
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
  static constexpr char kKind = 0;  // its address identifies S
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
  Arena::Mark first_temporary_;  // after a first block, which keeps the arena's memory allocated
  Arena kept_;
  std::vector<Named> named_;  // entries of kept_
  PodVector<Command> commands_;
  PodVector<Poison> poisons_;  // in the order of their commands
  Last last_;
  std::vector<Chunk> chunks_[2];  // one half is filled while the other is sent
  std::size_t chunk_ = 0;
  unsigned half_ = 0;
  bool half_free_ = true;
  bool started_ = false;  // whether some commands since the last `flush` were started
  Precision precision_ = Precision::float32;
  TargetGroups groups_;  // scratch
};

}  // namespace dynet::cuda
