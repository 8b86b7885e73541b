#include <algorithm>
#include <limits>
#include <vector>

#include "dynet-like/base/errors.h"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/queue.h"
#include "kernels/cuda/update.h"

namespace dynet::cuda {

// What a block works on: so few values that small models have work for many blocks.
constexpr std::size_t kPiece = 4096;

struct UpdateWork {
  /// An UpdatePart as kernels see it.
  struct Part {
    std::size_t n, count;
    float* w;
    const float* g;
    float* state[UpdatePart::kMaxState];
    const std::uint32_t* rows;
    float* const* row_g;
    unsigned first_piece;
    unsigned rows_each;  // of a piece
    float keep;
  };
  /// Parts and the pieces that they are cut into, on the device.
  struct Pieces {
    const Part* parts;
    const std::uint32_t* part_of;
    unsigned count;
  };
  /// Of the gradients of an update.
  struct Norm {
    double square, bad_step;
  };
  /// What the gradients are multiplied by.
  struct Factor {
    const Norm* norm;  // null: nobody looks
    double threshold;
    float scale;
  };

  Pieces steps;
  Factor factor;
  TrainerConstants constants;
};

namespace {

using Part = UpdateWork::Part;
using Pieces = UpdateWork::Pieces;
using Norm = UpdateWork::Norm;
using Factor = UpdateWork::Factor;

struct DoubleSum {
  static __device__ double zero() { return 0; }
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct DoubleSmallest {
  static __device__ double zero() { return INFINITY; }
  __device__ double operator()(double a, double b) const { return b < a ? b : a; }
};

// f(e, g) for each value of this block's piece: where it is from the first of its parameter, and
// where its gradient is, or null.
template <class F>
__device__ void each_of_piece(const Part& p, F f) {
  const std::size_t piece = blockIdx.x - p.first_piece;
  if (!p.rows) {
    const std::size_t end = p.n < (piece + 1) * kPiece ? p.n : (piece + 1) * kPiece;
    for (std::size_t e = piece * kPiece + threadIdx.x; e < end; e += blockDim.x)
      f(e, p.g ? p.g + e : nullptr);
    return;
  }
  const std::size_t first = piece * p.rows_each;
  const auto rows =
      static_cast<std::uint32_t>(p.count - first < p.rows_each ? p.count - first : p.rows_each);
  const auto n = static_cast<std::uint32_t>(p.n);
  for (std::uint32_t e = threadIdx.x; e < rows * n; e += blockDim.x) {
    const std::size_t r = first + e / n;
    f(p.rows[r] * p.n + e % n, p.row_g ? p.row_g[r] + e % n : nullptr);
  }
}

__global__ void square_kernel(Pieces all, double* squares) {
  double sum = 0;
  each_of_piece(all.parts[all.part_of[blockIdx.x]], [&](std::size_t, const float* g) {
    if (g) sum += static_cast<double>(*g) * *g;
  });
  sum = over_block(sum, DoubleSum());
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

__global__ void norm_kernel(Pieces all, const double* squares, Norm* norm) {
  double sum = 0, bad = INFINITY;
  for (unsigned k = threadIdx.x; k < all.count; k += blockDim.x) {
    sum += squares[k];
    if (!std::isfinite(squares[k]) && bad == INFINITY) bad = all.part_of[k];
  }
  sum = over_block(sum, DoubleSum());
  bad = over_block(bad, DoubleSmallest());
  if (threadIdx.x == 0) *norm = {sum, bad};
}

// False: the update is left out.
__device__ bool find_factor(const Factor& f, float* factor) {
  *factor = f.scale;
  if (!f.norm) return true;
  const double norm = std::abs(static_cast<double>(f.scale)) * std::sqrt(f.norm->square);
  if (!std::isfinite(norm)) return false;
  if (norm > f.threshold)
    *factor = static_cast<float>(static_cast<double>(f.scale) * (f.threshold / norm));
  return true;
}

template <class Rule>
__global__ void step_kernel(Pieces all, Factor f, TrainerConstants constants) {
  float factor;
  if (!find_factor(f, &factor)) return;
  const Part p = all.parts[all.part_of[blockIdx.x]];
  const Rule rule(constants.data());
  const float keep = p.keep;
  each_of_piece(p, [&](std::size_t e, const float* g) {
    float a[Rule::kState + 1];
    for (std::size_t k = Rule::kState; k-- > 0;) a[k] = p.state[k][e];
    p.w[e] = rule(p.w[e], g ? *g * factor : 0.0f, a) * keep;
    for (std::size_t k = Rule::kState; k-- > 0;) p.state[k][e] = flush_subnormal(a[k]);
  });
}

__global__ void decay_kernel(Pieces all, Factor f) {
  float factor;
  if (!find_factor(f, &factor)) return;
  const Part p = all.parts[all.part_of[blockIdx.x]];
  const float keep = p.keep;
  each_of_piece(p, [&](std::size_t e, const float*) { p.w[e] = flush_subnormal(p.w[e] * keep); });
}

__global__ void add_kernel(Pieces all) {
  const Part p = all.parts[all.part_of[blockIdx.x]];
  each_of_piece(p, [&](std::size_t e, const float* g) { p.w[e] += *g; });
}

Pieces cut(Queue& q, const std::vector<UpdatePart>& parts) {
  Part* const all = q.stage<Part>(parts.size());
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const UpdatePart& p = parts[i];
    const std::size_t rows_each = std::max<std::size_t>(1, kPiece / p.n);
    all[i] = {p.n,
              p.count,
              p.w,
              p.g,
              {p.state[0], p.state[1], p.state[2]},
              p.rows ? q.send(p.rows, p.count) : nullptr,
              p.row_g ? q.send(p.row_g, p.count) : nullptr,
              static_cast<unsigned>(pieces),
              static_cast<unsigned>(rows_each),
              p.keep};
    pieces += p.rows ? (p.count + rows_each - 1) / rows_each : (p.n + kPiece - 1) / kPiece;
  }
  auto* const part_of = q.stage<std::uint32_t>(pieces);
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::fill(part_of + all[i].first_piece,
              part_of + (i + 1 < parts.size() ? all[i + 1].first_piece : pieces),
              static_cast<std::uint32_t>(i));
  return {q.on_device(all), q.on_device(part_of), static_cast<unsigned>(pieces)};
}

template <class Rule>
void step(Queue& q, const UpdateWork& work) {
  q.launch(Grid{work.steps.count}, step_kernel<Rule>, work.steps, work.factor, work.constants);
}

class CudaUpdater final : public Updater {
 public:
  explicit CudaUpdater(int number) : queue_(make_driver(number, StreamKind::updates)) {
    norm_ = static_cast<Norm*>(memory()->allocate(sizeof(Norm)));
    try {
      norm_here_ = static_cast<Norm*>(queue_.driver().allocate_pinned(sizeof(Norm)));
    } catch (...) {
      memory()->free(norm_);
      throw;
    }
  }
  ~CudaUpdater() override {
    memory()->free(norm_);  // waits
    queue_.driver().free_pinned(norm_here_);
  }

  const std::shared_ptr<MemorySource>& memory() override { return queue_.driver().memory(); }

  void update(const DeviceUpdate& u) override {
    queue_.begin_operation();
    const Pieces sums = cut(queue_, u.sums), steps = cut(queue_, u.steps),
                 decays = cut(queue_, u.decays);
    auto* const squares = reinterpret_cast<double*>(queue_.temporary(2 * steps.count));
    queue_.launch(Grid{sums.count}, add_kernel, sums);
    if (u.looks) {
      queue_.launch(Grid{steps.count}, square_kernel, steps, squares);
      queue_.launch(Grid{1}, norm_kernel, steps, squares, norm_);
      queue_.fetch(norm_here_, norm_, sizeof(Norm));
      scale_ = u.scale;
    }
    const Factor factor{u.looks ? norm_ : nullptr, u.threshold, u.scale};
    u.rule->step(queue_, {steps, factor, u.constants});
    queue_.launch(Grid{decays.count}, decay_kernel, decays, factor);
    queue_.flush();
  }

  UpdateOutcome outcome() override {
    queue_.wait();
    return {std::abs(static_cast<double>(scale_)) * std::sqrt(norm_here_->square),
            std::isinf(norm_here_->bad_step) ? 0 : static_cast<std::size_t>(norm_here_->bad_step)};
  }

 private:
  Queue queue_;
  Norm* norm_ = nullptr;
  Norm* norm_here_ = nullptr;  // pinned
  float scale_ = 1;
};

}  // namespace

const UpdateRule kUpdateSGD{step<rules::SGD>}, kUpdateMomentum{step<rules::Momentum>},
    kUpdateAdagrad{step<rules::Adagrad>}, kUpdateAdadelta{step<rules::Adadelta>},
    kUpdateRMSProp{step<rules::RMSProp>}, kUpdateAdam{step<rules::Adam<false>>},
    kUpdateAmsgrad{step<rules::Adam<true>>};

std::unique_ptr<Updater> make_updater(const std::shared_ptr<MemorySource>& memory) {
  for (int d = 0; d < device_count(); ++d)
    if (memory_of(d) == memory) return std::make_unique<CudaUpdater>(d);
  throw DeviceError("a trainer was given memory of no device");
}

}  // namespace dynet::cuda
