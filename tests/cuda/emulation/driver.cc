// Devices made of the CPU.

#include "kernels/cuda/driver.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "dynet-like/base/errors.h"
#include "tests/cuda/emulation/checks.h"
#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/lanes.h"
#include "tests/cuda/emulation/memory.h"
#include "tests/cuda/emulation/streams.h"

namespace dynet::cuda {
namespace {

using emulation::counts;
using emulation::may_fail;
using emulation::Memory;

// The arguments of a kernel, which CUDA copies when the kernel is started.
class Kept {
 public:
  explicit Kept(const Arguments& a) {
    for (std::size_t i = 0; i < a.count; ++i) {
      auto& copy = values_.emplace_back((a.sizes[i] + sizeof(Unit) - 1) / sizeof(Unit));
      std::memcpy(copy.data(), a.values[i], a.sizes[i]);
    }
  }
  std::vector<void*> pointers() {
    std::vector<void*> all;
    for (auto& v : values_) all.push_back(v.data());
    return all;
  }

 private:
  struct alignas(std::max_align_t) Unit {
    std::byte bytes[alignof(std::max_align_t)];
  };
  std::vector<std::vector<Unit>> values_;
};

// To the nearest number with so many bits less, halfway to the even one.
float rounded(float x, unsigned bits) {
  if (!std::isfinite(x)) return x;
  auto word = std::bit_cast<std::uint32_t>(x);
  word += (1u << (bits - 1)) - 1 + (word >> bits & 1);
  return std::bit_cast<float>(word >> bits << bits);
}

using Matrix = Eigen::MatrixXf;

// A factor of a product: `rows` x `columns`, or transposed in memory, as precise as the product is.
Matrix factor(const float* from, bool transposed, int rows, int columns, int step,
              Precision precision) {
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> there(
      from, transposed ? columns : rows, transposed ? rows : columns, Eigen::OuterStride<>(step));
  Matrix m = there;
  if (precision != Precision::float32)
    m = m.unaryExpr([&](float x) { return rounded(x, precision == Precision::tf32 ? 13 : 16); });
  if (transposed) m.transposeInPlace();
  return m;
}

/// Elements of a matrix in memory, from its first to its last.
struct Extent {
  const float* first;
  const float* end;

  Extent(const float* from, int rows, int columns, int step)
      : first(from), end(from + static_cast<std::ptrdiff_t>(step) * (columns - 1) + rows) {}
  bool meets(const Extent& other) const { return first < other.end && other.first < end; }
};

void multiply_now(const Memory& memory, const Product& p) {
  const auto which = [&](auto* first, auto* const* each, long long step, int i) {
    auto* const matrix = each ? memory.ours(each)[i] : first + i * step;
    if (!memory.holds(matrix)) throw std::logic_error("a matrix of a product is not on the device");
    return memory.ours(matrix);
  };
  // All are made at the same time: every factor and every old result is read before any result is
  // written, and these are written in an order of chance.
  std::vector<Matrix> products;
  std::vector<Extent> read;
  for (int i = 0; i < p.batch; ++i) {
    const float* const from_a = which(p.a, p.each_a, p.step_a, i);
    const float* const from_b = which(p.b, p.each_b, p.step_b, i);
    read.emplace_back(from_a, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.lda);
    read.emplace_back(from_b, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.ldb);

    const Matrix a = factor(from_a, p.transpose_a, p.m, p.k, p.lda, p.precision);
    const Matrix b = factor(from_b, p.transpose_b, p.k, p.n, p.ldb, p.precision);
    products.push_back(a * b);
    if (p.beta != 0) {
      const float* const c = which(p.c, p.each_c, p.step_c, i);
      products.back() += p.beta * factor(c, false, p.m, p.n, p.ldc, Precision::float32);
    }
  }
  for (const int i : emulation::shuffled(p.batch)) {
    float* const to = which(p.c, p.each_c, p.step_c, i);
    const Extent written(to, p.m, p.n, p.ldc);
    if (p.k > 0 && std::any_of(read.begin(), read.end(),
                               [&](const Extent& other) { return other.meets(written); }))
      throw std::logic_error(
          "a product is written where one that is made at the same time, or it itself, reads");
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(to, p.m, p.n, Eigen::OuterStride<>(p.ldc)) =
        products[static_cast<std::size_t>(i)];
  }
}

// Factors and inverse of one matrix, as LAPACK's getrf and getri.
int factor_now(Eigen::Map<Matrix> a, int* pivots) {
  int info = 0;
  for (int k = 0; k < a.rows(); ++k) {
    int pivot = k;
    for (int i = k + 1; i < a.rows(); ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    pivots[k] = pivot + 1;
    a.row(k).swap(a.row(pivot));
    if (a(k, k) == 0) {
      if (info == 0) info = k + 1;
      continue;
    }
    const auto below = a.rows() - k - 1;
    a.col(k).tail(below) /= a(k, k);
    a.bottomRightCorner(below, below) -= a.col(k).tail(below) * a.row(k).tail(below);
  }
  return info;
}
void invert_now(const Matrix& factors, const int* pivots, Eigen::Map<Matrix> to) {
  to.setIdentity();
  for (int k = 0; k < to.rows(); ++k) to.row(k).swap(to.row(pivots[k] - 1));
  factors.triangularView<Eigen::UnitLower>().solveInPlace(to);
  factors.triangularView<Eigen::Upper>().solveInPlace(to);
}

void factor_now(const Memory& memory, const Factorization& f) {
  for (int i = 0; i < f.count; ++i) {
    const auto matrix = [&](float* const* each) {
      float* const there = memory.ours(each)[i];
      if (!memory.holds(there)) throw std::logic_error("a matrix is not on the device");
      return Eigen::Map<Matrix>(memory.ours(there), f.n, f.n);
    };
    int* const pivots = memory.ours(f.pivots) + i * f.n;
    const int info = factor_now(matrix(f.matrices), pivots);
    memory.ours(f.info)[i] = info;
    if (f.inverses && info == 0) invert_now(matrix(f.matrices), pivots, matrix(f.inverses));
  }
}

class Emulated final : public Driver {
 public:
  Emulated(int device, StreamKind kind)
      : device_(device), graphs_(kind == StreamKind::graph), stream_(device, kind) {
    for (auto& m : marks_) m = std::make_shared<emulation::StreamMark>();
  }
  ~Emulated() override {
    if (workspace_) emulation::memory(device_).refund(emulation::kWorkspace);
  }

  const std::shared_ptr<DeviceAllocator>& memory() override { return memory_of(device_); }
  void* allocate_pinned(std::size_t bytes) override {
    may_fail<OutOfMemoryError>("allocating pinned memory");
    ++counts().allocations;
    void* const p = ::operator new(bytes);
    // Nothing that lies there by chance looks like a pointer; zeros are what nobody writes then.
    std::memset(p, emulation::idle() ? 0 : 0xff, bytes);
    return p;
  }
  void free_pinned(void* p) noexcept override {
    try {
      stream_.reach(stream_.end());
    } catch (...) {  // as CUDA, which would tell it to the next call
    }
    ++counts().frees;
    ::operator delete(p);
  }
  void upload(void* to, const void* from, std::size_t bytes) override {
    may_fail<DeviceError>("copying to the device");
    emulation::check_no_host_pointers("what goes to the device", from, bytes);
    ++counts().uploads;
    counts().uploaded += bytes;
    put([=](Memory& m) { std::memcpy(m.ours(to), from, bytes); });
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    fetch(to, from, bytes);
    ++counts().waits;
    stream_.reach(stream_.end());
  }
  void fetch(void* to, const void* from, std::size_t bytes) override {
    may_fail<DeviceError>("copying from the device");
    put([=](Memory& m) {
      if (bytes > 0) std::memcpy(to, m.ours(from), bytes);
    });
  }
  void launch(const void* kernel, Call call, const Grid& grid,
              const Arguments& arguments) override {
    may_fail<DeviceError>("starting a kernel");
    emulation::check_launch(grid, arguments);
    emulation::memory(device_).load(kernel);
    ++counts().launches;
    if (emulation::idle()) return;
    put([=, kept = Kept(arguments), device = device_](Memory&) mutable {
      emulation::open_memory(device);
      const std::vector<void*> pointers = kept.pointers();
      emulation::run(grid.blocks, grid.threads, grid.shared, [&] {
        call(kernel, const_cast<void**>(pointers.data()));
        if (!emulation::has_waited())
          throw std::logic_error("a kernel has not waited for the one before");
      });
    });
  }
  bool checks() const override { return graphs_ && !emulation::idle(); }
  void poison(void* p, std::size_t bytes) noexcept override {
    put([=](Memory& m) { std::memset(m.ours(p), 0xff, bytes); });
  }
  void multiply(const Product& p) override {
    may_fail<DeviceError>("a product of matrices");
    emulation::check_product(p, device_);
    take_workspace();
    ++counts().products;
    if (emulation::idle()) return;
    put([=](Memory& m) { multiply_now(m, p); });
  }
  void factor(const Factorization& f) override {
    may_fail<DeviceError>("factors of matrices");
    emulation::check_factorization(f, device_);
    take_workspace();
    ++counts().factorizations;
    if (emulation::idle()) return;
    put([=](Memory& m) { factor_now(m, f); });
  }
  void mark(unsigned number) override {
    may_fail<DeviceError>("marking a place in a stream");
    stream_.mark(*marks_[number]);
  }
  void wait(unsigned number) override {
    ++counts().waits;
    stream_.reach(*marks_[number]);
  }
  std::shared_ptr<const Mark> marked(unsigned number) override { return marks_[number]; }
  void wait_for(Driver& other) override {
    may_fail<DeviceError>("waiting for another stream");
    stream_.wait_for(static_cast<Emulated&>(other).stream_);
  }
  void wait_for(const Mark& mark) override {
    may_fail<DeviceError>("waiting for another stream");
    stream_.wait_for(static_cast<const emulation::StreamMark&>(mark));
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    may_fail<DeviceError>("copying between devices");
    counts().between += bytes;
    put([=](Memory&) {
      const auto there = [](const void* p) -> Memory& {
        for (int d = 0; d < emulation::kDevices; ++d)
          if (emulation::memory(d).holds(p)) return emulation::memory(d);
        throw DeviceError("a copy between devices touches memory of none");
      };
      if (bytes > 0) std::memcpy(there(to).ours(to), there(from).ours(from), bytes);
    });
  }

  template <class F>
  void put(F f) {
    stream_.put([f, device = device_]() mutable { f(emulation::memory(device)); });
  }

 private:
  void take_workspace() {
    if (!workspace_)
      emulation::memory(device_).charge("allocating a workspace", emulation::kWorkspace);
    workspace_ = true;
  }

  int device_;
  bool graphs_;
  emulation::Stream stream_;
  std::shared_ptr<emulation::StreamMark> marks_[kMarks];
  bool workspace_ = false;
};

}  // namespace

int device_count() { return emulation::kDevices; }

const std::shared_ptr<DeviceAllocator>& memory_of(int number) {
  return emulation::shared_memory(number);
}

std::unique_ptr<Driver> make_driver(int number, StreamKind kind) {
  if (number < 0 || number >= device_count()) throw DeviceError("there is no such device");
  return std::make_unique<Emulated>(number, kind);
}

}  // namespace dynet::cuda

std::size_t& dynet::emulation::limit(int device) {
  static std::size_t bytes[kDevices] = {std::size_t{1} << 32, std::size_t{1} << 32,
                                        std::size_t{1} << 32};
  return bytes[device];
}

dynet::emulation::Counts& dynet::emulation::counts() {
  static Counts all;
  return all;
}

std::atomic<bool>& dynet::emulation::idle() {
  static std::atomic<bool> yes = false;
  return yes;
}
