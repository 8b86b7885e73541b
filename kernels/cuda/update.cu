#include <algorithm>
#include <limits>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/param/update_rules.h"
#include "kernels/cuda/copy.h"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/pieces.h"
#include "kernels/cuda/queue.h"
#include "kernels/cuda/update.h"

namespace dynet::cuda {

struct UpdateWork {
  /// An UpdatePart for kernels.
  struct Part {
    std::size_t n, count;
    float* w;
    const float* g;
    float* state[UpdatePart::kMaxState];
    const std::uint32_t* rows;
    float* const* row_g;
    std::size_t rows_each;  // per piece; 0: pieces have kPiece values
    unsigned first_piece;
    float decay_factor;
  };
  /// Norm of the gradients of an update.
  struct Norm {
    double square, bad_step;
  };
  /// Factor of the gradients.
  struct Factor {
    const Norm* norm;  // null: not checked
    double threshold;
    float scale;
  };

  Pieces<Part> steps;
  Factor factor;
  TrainerConstants constants;
};

namespace {

using Part = UpdateWork::Part;
using Pieces = cuda::Pieces<Part>;
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

// Table index of the r-th row of a part; gradient of that row, or null.
__device__ std::size_t row_number(const Part& p, std::size_t r) { return p.rows ? p.rows[r] : r; }
__device__ const float* gradient_of(const Part& p, std::size_t r) {
  return p.row_g ? p.row_g[r] : p.g ? p.g + r * p.n : nullptr;
}

// f(e, g) for each value of this block's piece: its index from the start of the parameter, and a
// pointer to its gradient, or null.
template <class F>
__device__ void each_of_piece(const Part& p, F f) {
  const std::size_t piece = blockIdx.x - p.first_piece;
  if (p.rows_each == 0) {
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
    const float* const g = gradient_of(p, r);
    f(row_number(p, r) * p.n + e % n, g ? g + e % n : nullptr);
  }
}

__global__ void square_kernel(Pieces all, double* squares) {
  begin_kernel();
  double sum = 0;
  each_of_piece(all.parts[all.part_of[blockIdx.x]], [&](std::size_t, const float* g) {
    if (g) sum += static_cast<double>(*g) * *g;
  });
  sum = over_block(sum, DoubleSum());
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

__global__ void norm_kernel(Pieces all, const double* squares, Norm* norm) {
  begin_kernel();
  double sum = 0, bad = INFINITY;
  for (unsigned k = threadIdx.x; k < all.count; k += blockDim.x) {
    sum += squares[k];
    if (!std::isfinite(squares[k]) && bad == INFINITY) bad = all.part_of[k];
  }
  sum = over_block(sum, DoubleSum());
  bad = over_block(bad, DoubleSmallest());
  if (threadIdx.x == 0) *norm = {sum, bad};
}

// Computes the factor of the gradients; false: the update is skipped.
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
  begin_kernel();
  float factor;
  if (!find_factor(f, &factor)) return;
  const Part p = all.parts[all.part_of[blockIdx.x]];
  const Rule rule(constants.data());
  const float decay_factor = p.decay_factor;
  each_of_piece(p, [&](std::size_t e, const float* g) {
    float a[Rule::kState + 1];
    for (std::size_t k = Rule::kState; k-- > 0;) a[k] = p.state[k][e];
    p.w[e] = rule(p.w[e], g ? *g * factor : 0.0f, a) * decay_factor;
    for (std::size_t k = Rule::kState; k-- > 0;) p.state[k][e] = flush_subnormal(a[k]);
  });
}

__global__ void decay_kernel(Pieces all, Factor f) {
  begin_kernel();
  float factor;
  if (!find_factor(f, &factor)) return;
  const Part p = all.parts[all.part_of[blockIdx.x]];
  const float decay_factor = p.decay_factor;
  each_of_piece(
      p, [&](std::size_t e, const float*) { p.w[e] = flush_subnormal(p.w[e] * decay_factor); });
}

__global__ void average_kernel(Pieces all, Factor f, float part) {
  begin_kernel();
  float factor;
  if (!find_factor(f, &factor)) return;
  const Part p = all.parts[all.part_of[blockIdx.x]];
  each_of_piece(p, [&](std::size_t e, const float*) {
    float* const a = p.state[0] + e;
    *a += part * (p.w[e] - *a);
  });
}

// See EGTrainer. One block per row, or per parameter.
__global__ void exponentiated_kernel(Pieces all, Factor f, TrainerConstants constants) {
  begin_kernel();
  float factor;
  if (!find_factor(f, &factor)) return;
  const Part p = all.parts[all.part_of[blockIdx.x]];
  const std::size_t r = blockIdx.x - p.first_piece;
  float* const w = p.w + row_number(p, r) * p.n;
  float* const h = p.state[0] + row_number(p, r) * p.n;
  const float* const g = gradient_of(p, r);
  const float rate = constants[0], momentum = constants[1];
  float largest = -INFINITY, moves = 0;
  for (std::size_t e = threadIdx.x; e < p.n; e += blockDim.x) {
    if (g || h[e] != 0) moves = 1;
    h[e] = flush_subnormal(momentum * h[e] - (g ? rate * factor * g[e] : 0.0f));
    if (w[e] > 0 && h[e] > largest) largest = h[e];
  }
  moves = over_block(moves, Largest());
  largest = over_block(largest, Largest());
  double sum = 0;
  for (std::size_t e = threadIdx.x; e < p.n; e += blockDim.x) {
    if (moves != 0 && w[e] > 0) w[e] *= std::exp(h[e] - largest);
    sum += static_cast<double>(w[e]);
  }
  sum = over_block(sum, DoubleSum());
  const float scale =
      moves != 0 ? static_cast<float>(static_cast<double>(p.decay_factor) / sum) : p.decay_factor;
  for (std::size_t e = threadIdx.x; e < p.n; e += blockDim.x) w[e] *= scale;
}

// With `whole` a piece is a row, or a parameter.
Pieces cut(Queue& q, const std::vector<UpdatePart>& parts, bool whole = false) {
  Part* const all = q.stage<Part>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const UpdatePart& p = parts[i];
    all[i] = {p.n,
              p.count,
              p.w,
              p.g,
              {p.state[0], p.state[1], p.state[2]},
              p.rows ? q.send(p.rows, p.count) : nullptr,
              p.row_g ? q.send(p.row_g, p.count) : nullptr,
              whole    ? 1
              : p.rows ? std::max<std::size_t>(1, kPiece / p.n)
                       : 0,
              0,
              p.decay_factor};
  }
  return cut(q, all, parts.size(), [](const Part& p) {
    return p.rows_each ? (p.count + p.rows_each - 1) / p.rows_each : (p.n + kPiece - 1) / kPiece;
  });
}

template <class Rule>
void step(Queue& q, const UpdateWork& work) {
  q.launch(Grid{work.steps.count}, step_kernel<Rule>, work.steps, work.factor, work.constants);
}

void step_exponentiated(Queue& q, const UpdateWork& work) {
  q.launch(Grid{work.steps.count}, exponentiated_kernel, work.steps, work.factor, work.constants);
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
    queue_.driver().free_pinned(norm_here_);
    memory()->free(norm_);
  }

  const std::shared_ptr<DeviceAllocator>& memory() override { return queue_.driver().memory(); }

  void update(const Update& u) override {
    try {
      put_in(u);
      queue_.flush();
    } catch (...) {
      queue_.forget();
      throw;
    }
  }

  UpdateOutcome outcome() override {
    queue_.wait();
    return {std::abs(static_cast<double>(scale_)) * std::sqrt(norm_here_->square),
            std::isinf(norm_here_->bad_step) ? 0 : static_cast<std::size_t>(norm_here_->bad_step)};
  }

 private:
  void put_in(const Update& u) {
    queue_.begin_operation();
    for (const UnifiedRows& rows : u.unify) {
      const std::vector<Write> writes(rows.to.size(), Write::add);
      copy_tensors(queue_, writes.size(), rows.n, rows.from.data(), rows.to.data(), writes.data());
    }
    const Pieces steps = cut(queue_, u.steps, u.rule->whole), decays = cut(queue_, u.decays);
    if (u.checks_norm) {
      auto* const squares = reinterpret_cast<double*>(queue_.temporary(2 * steps.count));
      queue_.launch(Grid{steps.count}, square_kernel, steps, squares);
      queue_.launch(Grid{1}, norm_kernel, steps, squares, norm_);
      queue_.fetch(norm_here_, norm_, sizeof(Norm));
      scale_ = u.scale;
    }
    const Factor factor{u.checks_norm ? norm_ : nullptr, u.threshold, u.scale};
    u.rule->step(queue_, {steps, factor, u.constants});
    queue_.launch(Grid{decays.count}, decay_kernel, decays, factor);
    const Pieces averages = cut(queue_, u.averages);
    queue_.launch(Grid{averages.count}, average_kernel, averages, factor, u.average);
  }

  Queue queue_;
  Norm* norm_ = nullptr;
  Norm* norm_here_ = nullptr;  // pinned
  float scale_ = 1;
};

}  // namespace

const UpdateRule kUpdateSGD{step<rules::SGD>}, kUpdateMomentum{step<rules::Momentum>},
    kUpdateAdagrad{step<rules::Adagrad>}, kUpdateAdadelta{step<rules::Adadelta>},
    kUpdateRMSProp{step<rules::RMSProp>}, kUpdateAdam{step<rules::Adam<false>>},
    kUpdateAmsgrad{step<rules::Adam<true>>}, kUpdateExponentiated{step_exponentiated, true};

std::unique_ptr<Updater> make_updater(const std::shared_ptr<DeviceAllocator>& memory) {
  return std::make_unique<CudaUpdater>(memory->number());
}

}  // namespace dynet::cuda
