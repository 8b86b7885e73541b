#include "kernels/cpu/selection.h"

#include <algorithm>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/indices.h"
#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

void copy_rows(const T* from, std::size_t from_step, T* to, std::size_t to_step, std::size_t rows,
               std::size_t length) {
  for (std::size_t r = 0; r < rows; ++r)
    std::copy_n(from + r * from_step, length, to + r * to_step);
}

void gradient_rows(bool add, const T* from, std::size_t from_step, T* to, std::size_t to_step,
                   std::size_t rows, std::size_t length) {
  for (std::size_t r = 0; r < rows; ++r)
    store_or_add(add, array(to + r * to_step, length), array(from + r * from_step, length));
}

}  // namespace

void pick_forward(const Batch<T>& b) {
  const Along x(b.dim(0), b.attr<PickAttr>().dimension);
  const std::size_t size = b.dim(0).batch_size(), out = b.dim().batch_size(), batch = b.dim().bd;
  const bool repeat = b.dim(0).bd == 1;
  for (std::size_t i = 0; i < b.count; ++i) {
    const unsigned* index = keep_indices<PickAttr>(b, i, b.aux(i), x.size, "the dimension");
    const bool one = b.attr<PickAttr>(i).indices.count == 1;
    for (std::size_t k = 0; k < batch; ++k)
      copy_rows(b.in(0, i) + (repeat ? 0 : k) * size + index[one ? 0 : k] * x.inner,
                x.size * x.inner, b.out(i) + k * out, x.inner, x.outer, x.inner);
  }
}

void pick_backward(const GradientBatch<T>& b) {
  const Along x(b.dim(0), b.attr<PickAttr>().dimension);
  const std::size_t size = b.dim(0).batch_size(), out = b.dim().batch_size(), batch = b.dim().bd;
  const bool repeat = b.dim(0).bd == 1;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    if (!b.add(0, i)) std::fill_n(b.d_in(0, i), b.dim(0).size(), T(0));
    const unsigned* index = kept_indices<PickAttr, T>(b, i, b.aux(i));
    const bool one = b.attr<PickAttr>(i).indices.count == 1;
    for (std::size_t k = 0; k < batch; ++k)
      gradient_rows(true, b.d_out(i) + k * out, x.inner,
                    b.d_in(0, i) + (repeat ? 0 : k) * size + index[one ? 0 : k] * x.inner,
                    x.size * x.inner, x.outer, x.inner);
  }
}

void pick_batch_forward(const Batch<T>& b) {
  const std::size_t size = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i) {
    const unsigned* index = keep_indices<PickAttr>(b, i, b.aux(i), b.dim(0).bd, "the batch");
    for (std::size_t k = 0; k < b.dim().bd; ++k)
      std::copy_n(b.in(0, i) + index[k] * size, size, b.out(i) + k * size);
  }
}

void pick_batch_backward(const GradientBatch<T>& b) {
  const std::size_t size = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    if (!b.add(0, i)) std::fill_n(b.d_in(0, i), b.dim(0).size(), T(0));
    const unsigned* index = kept_indices<PickAttr, T>(b, i, b.aux(i));
    for (std::size_t k = 0; k < b.dim().bd; ++k)
      array(b.d_in(0, i) + index[k] * size, size) += array(b.d_out(i) + k * size, size);
  }
}

void select_forward(const Batch<T>& b) {
  const Along x(b.dim(0), b.attr<PickAttr>().dimension);
  for (std::size_t i = 0; i < b.count; ++i) {
    const unsigned* index = keep_indices<PickAttr>(b, i, b.aux(i), x.size, "the dimension");
    const std::uint32_t n = b.attr<PickAttr>(i).indices.count;
    for (std::uint32_t k = 0; k < n; ++k)
      copy_rows(b.in(0, i) + index[k] * x.inner, x.size * x.inner, b.out(i) + k * x.inner,
                n * x.inner, x.outer * b.dim().bd, x.inner);
  }
}

void select_backward(const GradientBatch<T>& b) {
  const Along x(b.dim(0), b.attr<PickAttr>().dimension);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    if (!b.add(0, i)) std::fill_n(b.d_in(0, i), b.dim(0).size(), T(0));
    const unsigned* index = kept_indices<PickAttr, T>(b, i, b.aux(i));
    const std::uint32_t n = b.attr<PickAttr>(i).indices.count;
    for (std::uint32_t k = 0; k < n; ++k)
      gradient_rows(true, b.d_out(i) + k * x.inner, n * x.inner, b.d_in(0, i) + index[k] * x.inner,
                    x.size * x.inner, x.outer * b.dim().bd, x.inner);
  }
}

void pick_range_forward(const Batch<T>& b) {
  const Along x(b.dim(0), b.attr<RangeAttr>().dimension);
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& a = b.attr<RangeAttr>(i);
    const std::size_t length = (a.end - a.start) * x.inner;
    copy_rows(b.in(0, i) + a.start * x.inner, x.size * x.inner, b.out(i), length,
              x.outer * b.dim().bd, length);
  }
}

void pick_range_backward(const GradientBatch<T>& b) {
  const Along x(b.dim(0), b.attr<RangeAttr>().dimension);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const auto& a = b.attr<RangeAttr>(i);
    const std::size_t before = a.start * x.inner, length = (a.end - a.start) * x.inner;
    const std::size_t all = x.size * x.inner, rows = x.outer * b.dim().bd;
    T* const dx = b.d_in(0, i);
    if (!b.add(0, i))
      for (std::size_t r = 0; r < rows; ++r) {
        std::fill_n(dx + r * all, before, T(0));
        std::fill_n(dx + r * all + before + length, all - before - length, T(0));
      }
    gradient_rows(b.add(0, i), b.d_out(i), length, dx + before, all, rows, length);
  }
}

void alias_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i)
    if (b.d_in(0, i)) store_or_add(b.add(0, i), array(b.d_in(0, i), n), array(b.d_out(i), n));
}

namespace {

/// Positions in the operand of a result's elements, in the order of the result.
class Walk {
 public:
  /// Appends a dimension of the result: its size, and the stride of its slices in the operand.
  void append(std::size_t size, std::size_t step) {
    empty_ = empty_ || size == 0;
    if (size == 1) return;
    if (rank_ > 0 && step_[rank_ - 1] * size_[rank_ - 1] == step) {
      size_[rank_ - 1] *= size;
      return;
    }
    size_[rank_] = size;
    step_[rank_++] = step;
  }

  /// Calls use(start in the result, start in the operand, stride in the operand, length) for every
  /// run of contiguous elements of the result; the first run starts at `start` of the operand.
  template <class Use>
  void run(std::size_t start, Use use) const {
    if (empty_) return;
    if (rank_ == 0) return use(0, start, 1, 1);
    std::size_t at[kMaxTensorDim + 1] = {}, in = start;
    for (std::size_t out = 0;; out += size_[0]) {
      use(out, in, step_[0], size_[0]);
      unsigned k = 1;
      for (; k < rank_; ++k) {
        in += step_[k];
        if (++at[k] < size_[k]) break;
        in -= step_[k] * size_[k];
        at[k] = 0;
      }
      if (k >= rank_) return;
    }
  }

 private:
  std::size_t size_[kMaxTensorDim + 1], step_[kMaxTensorDim + 1];
  unsigned rank_ = 0;
  bool empty_ = false;
};

void walk_forward(const Batch<T>& b, const Walk& walk, std::size_t start) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const T* const x = b.in(0, i);
    T* const y = b.out(i);
    walk.run(start, [&](std::size_t out, std::size_t in, std::size_t step, std::size_t n) {
      if (step == 1) {
        std::copy_n(x + in, n, y + out);
        return;
      }
      for (std::size_t k = 0; k < n; ++k) y[out + k] = x[in + k * step];
    });
  }
}

/// `all`: every element of the operand is in the result.
void walk_backward(const GradientBatch<T>& b, const Walk& walk, std::size_t start, bool all) {
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const T* const dy = b.d_out(i);
    T* const dx = b.d_in(0, i);
    const bool add = b.add(0, i) || !all;
    if (!all && !b.add(0, i)) std::fill_n(dx, b.dim(0).size(), T(0));
    walk.run(start, [&](std::size_t out, std::size_t in, std::size_t step, std::size_t n) {
      if (add)
        for (std::size_t k = 0; k < n; ++k) dx[in + k * step] += dy[out + k];
      else
        for (std::size_t k = 0; k < n; ++k) dx[in + k * step] = dy[out + k];
    });
  }
}

Walk transposed(const Batch<T>& b) {
  const auto& a = b.attr<TransposeAttr>();
  std::size_t steps[kMaxTensorDim], elements = 1;
  for (unsigned k = 0; k < kMaxTensorDim; ++k) {
    steps[k] = elements;
    elements *= b.dim(0)[k];
  }
  Walk walk;
  for (unsigned k = 0; k < a.rank; ++k) walk.append(b.dim()[k], steps[a.order[k]]);
  walk.append(b.dim().bd, elements);
  return walk;
}

Walk strided(const Batch<T>& b, std::size_t& start) {
  const auto& a = b.attr<StridedAttr>();
  const Dim& x = b.dim(0);
  Walk walk;
  std::size_t step = 1;
  start = 0;
  for (unsigned k = 0; k <= x.nd; ++k) {
    const auto stride = static_cast<std::size_t>(k < a.strides.count ? a.strides.v[k] : 1);
    if (k < a.from.count) start += static_cast<std::size_t>(a.from.v[k]) * step;
    walk.append(k < x.nd ? b.dim()[k] : b.dim().bd, stride * step);
    step *= x[k];
  }
  return walk;
}

}  // namespace

void transpose_forward(const Batch<T>& b) { walk_forward(b, transposed(b), 0); }

void transpose_backward(const GradientBatch<T>& b) { walk_backward(b, transposed(b), 0, true); }

void strided_select_forward(const Batch<T>& b) {
  std::size_t start;
  const Walk walk = strided(b, start);
  walk_forward(b, walk, start);
}

void strided_select_backward(const GradientBatch<T>& b) {
  std::size_t start;
  const Walk walk = strided(b, start);
  walk_backward(b, walk, start, b.dim() == b.dim(0));
}

void concatenate_forward(const Batch<T>& b) {
  const std::size_t d = b.attr<ConcatenateAttr>().dimension;
  const Along y(b.dim(), d);
  const std::size_t all = y.size * y.inner, batch = b.dim().bd;
  std::size_t before = 0;
  for (std::size_t k = 0; k < b.arity; ++k) {
    const Dim& dim = b.dim(k);
    const std::size_t length = dim[static_cast<unsigned>(d)] * y.inner;
    const std::size_t step = dim.bd == 1 ? 0 : length * y.outer;
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; e < batch; ++e)
        copy_rows(b.in(k, i) + e * step, length, b.out(i) + e * y.outer * all + before, all,
                  y.outer, length);
    before += length;
  }
}

void concatenate_backward(const GradientBatch<T>& b) {
  const std::size_t d = b.attr<ConcatenateAttr>().dimension;
  const Along y(b.dim(), d);
  const std::size_t all = y.size * y.inner, batch = b.dim().bd;
  std::size_t before = 0;
  for (std::size_t k = 0; k < b.arity; ++k) {
    const Dim& dim = b.dim(k);
    const std::size_t length = dim[static_cast<unsigned>(d)] * y.inner;
    const std::size_t step = dim.bd == 1 ? 0 : length * y.outer;
    for (std::size_t i = 0; i < b.count; ++i) {
      if (!b.d_in(k, i)) continue;
      for (std::size_t e = 0; e < batch; ++e)
        gradient_rows(b.add(k, i) || (e > 0 && dim.bd == 1),
                      b.d_out(i) + e * y.outer * all + before, all, b.d_in(k, i) + e * step, length,
                      y.outer, length);
    }
    before += length;
  }
}

void concatenate_batch_forward(const Batch<T>& b) {
  std::size_t before = 0;
  for (std::size_t k = 0; k < b.arity; ++k) {
    const std::size_t n = b.dim(k).size();
    for (std::size_t i = 0; i < b.count; ++i) std::copy_n(b.in(k, i), n, b.out(i) + before);
    before += n;
  }
}

void concatenate_batch_backward(const GradientBatch<T>& b) {
  std::size_t before = 0;
  for (std::size_t k = 0; k < b.arity; ++k) {
    const std::size_t n = b.dim(k).size();
    for (std::size_t i = 0; i < b.count; ++i)
      if (b.d_in(k, i))
        store_or_add(b.add(k, i), array(b.d_in(k, i), n), array(b.d_out(i) + before, n));
    before += n;
  }
}

}  // namespace dynet::cpu::DYNET_ISA
