#include "kernels/cpu/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/product.h"

// Attention over blocks of queries and keys (Dao, Fu, Ermon, Rudra, Re 2022). Forward maintains for
// each query a running maximum m of the scores and a sum l of e^(s - m), and rescales its
// accumulator when m grows. It stores m and 1 / l for backward, which recomputes the scores; stored
// separately they are exact for large scores. With p = e^(s - m) / l, y = sum_j p_j v_j and the
// gradient g of y,
//
//     dv_j = sum_i p_ij g_i,   ds_ij = p_ij (g_i' v_j - g_i' y_i).
//
// Masked query-key pairs are never computed, whatever the masked values are: if the queries of a
// block see different numbers of keys, each query is a product of its own.

namespace dynet::cpu::DYNET_ISA {
namespace {

constexpr std::size_t kQueries = 32, kKeys = 128;  // sizes of a block

/// One head of a batch element.
struct Head {
  const AttentionSizes& sizes;
  std::size_t length;      // number of keys that are not masked
  const T *q, *k, *v;      // keys and values have contiguous columns
  const T* bias;           // null: none
  T *out, *most, *by_sum;  // per query: the maximum score, and one over the sum

  std::size_t q_step() const { return sizes.size * sizes.heads; }
  std::size_t out_step() const { return sizes.value_size * sizes.heads; }
  const T* query(std::size_t i) const { return q + i * q_step(); }
  T* value(std::size_t i) const { return out + i * out_step(); }
  /// Number of keys visible to query i: a prefix.
  std::size_t visible(std::size_t i) const {
    if (!sizes.causal) return length;
    const std::size_t end = i + 1 + sizes.keys;
    return std::min(end > sizes.queries ? end - sizes.queries : 0, length);
  }
  /// Calls f(at, n, b, step) for runs of biases of query i and keys [first, first + n): the biases
  /// of keys [at, at + n) start at b with stride `step`.
  template <class F>
  void each_bias(std::size_t i, std::size_t first, std::size_t n, F f) const {
    const auto reach = static_cast<std::ptrdiff_t>(sizes.biases / 2);
    const auto begin = static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(n);
    const std::ptrdiff_t own =
        static_cast<std::ptrdiff_t>(i + sizes.keys) - static_cast<std::ptrdiff_t>(sizes.queries);
    const std::ptrdiff_t near = std::clamp(own - reach, begin, end);
    const std::ptrdiff_t far = std::clamp(own + reach + 1, begin, end);
    const auto part = [&](std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t b,
                          std::size_t step) {
      if (from < to)
        f(static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from),
          static_cast<std::size_t>(b), step);
    };
    part(begin, near, 0, 0);
    part(near, far, near - own + reach, 1);
    part(far, end, 2 * reach, 0);
  }
};

/// Block of scores: one row per query.
class Block {
 public:
  explicit Block(const Head& head) : head_(head) {}

  std::size_t first_query = 0, queries = 0, first_key = 0, keys = 0;

  T* row(std::size_t r) { return scores_.data() + r * kKeys; }
  /// Number of keys of the block visible to the query of row r.
  std::size_t seen(std::size_t r) const {
    const std::size_t n = head_.visible(first_query + r);
    return n > first_key ? std::min(n - first_key, keys) : 0;
  }
  /// Calls f(this) for the blocks of these queries.
  template <class F>
  void each(std::size_t query, F f) {
    first_query = query;
    queries = std::min(kQueries, head_.sizes.queries - query);
    const std::size_t most = head_.visible(query + queries - 1);
    for (first_key = 0; first_key < most; first_key += kKeys) {
      keys = std::min(kKeys, most - first_key);
      f();
    }
  }
  /// Calls f(row, rows, keys) for runs of rows that see the same, non-zero number of keys of the
  /// block.
  template <class F>
  void each_group(F f) const {
    for (std::size_t r = 0, end = 0; r < queries; r = end) {
      const std::size_t n = seen(r);
      for (end = r + 1; end < queries && seen(end) == n; ++end) {
      }
      if (n > 0) f(r, end - r, n);
    }
  }
  /// Computes the scores.
  void fill() {
    const AttentionSizes& s = head_.sizes;
    products(s.size, head_.k, [&](std::size_t r) { return head_.query(first_query + r); });
    const T scale = static_cast<T>(s.scale);
    for (std::size_t r = 0; r < queries; ++r) {
      const std::size_t n = seen(r);
      array(row(r), n) *= scale;
      if (!head_.bias) continue;
      head_.each_bias(first_query + r, first_key, n,
                      [&](std::size_t at, std::size_t m, std::size_t b, std::size_t step) {
                        if (step == 0)
                          array(row(r) + at, m) += head_.bias[b];
                        else
                          array(row(r) + at, m) += array(head_.bias + b, m);
                      });
    }
  }
  /// Computes the products of the columns with the keys.
  template <class F>
  void products(std::size_t size, const T* columns, F column) {
    std::array<const T*, kQueries> y;
    std::array<T*, kQueries> x;
    for (std::size_t r = 0; r < queries; ++r) {
      y[r] = column(r);
      x[r] = row(r);
      if (size == 0) std::fill_n(x[r], keys, T(0));
    }
    if (size > 0)
      multiply_transposed(size, keys, queries, columns + first_key * size, y.data(), x.data(),
                          kStore.data());
  }

  static constexpr std::array<bool, kQueries> kStore{};

 private:
  const Head& head_;
  std::array<T, kQueries * kKeys> scores_;
};

/// Pointers to the columns of a product.
template <class P>
struct ColumnList {
  std::array<P*, kQueries> p;

  template <class F>
  ColumnList(std::size_t n, F column) {
    for (std::size_t r = 0; r < n; ++r) p[r] = column(r);
  }
  P* const* data() const { return p.data(); }
};
constexpr std::array<bool, kQueries> all_of_them() {
  std::array<bool, kQueries> all{};
  all.fill(true);
  return all;
}
constexpr std::array<bool, kQueries> kAdd = all_of_them();

void head_forward(const Head& head) {
  const AttentionSizes& s = head.sizes;
  const std::size_t size = s.value_size;
  Block block(head);
  for (std::size_t query = 0; query < s.queries; query += kQueries) {
    const std::size_t end = std::min(query + kQueries, s.queries);
    for (std::size_t i = query; i < end; ++i) {
      std::fill_n(head.value(i), size, T(0));
      head.most[i] = -kInfinity<T>;
      head.by_sum[i] = T(0);
    }
    block.each(query, [&] {
      block.fill();
      for (std::size_t r = 0; r < block.queries; ++r) {
        const std::size_t n = block.seen(r), i = query + r;
        T* const p = block.row(r);
        T m = head.most[i];
        for (std::size_t j = 0; j < n; ++j) m = p[j] > m ? p[j] : m;
        if (m > head.most[i]) {
          const T factor = std::exp(head.most[i] - m);
          array(head.value(i), size) *= factor;
          head.by_sum[i] *= factor;
          head.most[i] = m;
        }
        const T off = shift(m);
        map_vectors(p, p, n, [&](auto v) { return exponential(v - off); });
        head.by_sum[i] += sum_in_order(array(p, n));
      }
      block.each_group([&](std::size_t row, std::size_t rows, std::size_t keys) {
        if (size == 0) return;
        const ColumnList<const T> p(rows, [&](std::size_t r) { return block.row(row + r); });
        const ColumnList<T> y(rows, [&](std::size_t r) { return head.value(query + row + r); });
        multiply(size, keys, rows, head.v + block.first_key * size, p.data(), y.data(),
                 kAdd.data());
      });
    });
    for (std::size_t i = query; i < end; ++i) {
      head.most[i] = shift(head.most[i]);
      head.by_sum[i] = head.by_sum[i] == T(0) ? T(0) : T(1) / head.by_sum[i];
      array(head.value(i), size) *= head.by_sum[i];
    }
  }
}

/// Gradients of a head; null if not needed.
struct HeadGradients {
  T *q, *k, *v, *bias;  // laid out like the head's operands
  const T* out;
};

void head_backward(const Head& head, const HeadGradients& d) {
  const AttentionSizes& s = head.sizes;
  Block block(head), slopes(head);
  std::array<T, kQueries> means;  // of the slopes, by probability
  for (std::size_t query = 0; query < s.queries; query += kQueries) {
    const auto d_value = [&](std::size_t r) { return d.out + (query + r) * head.out_step(); };
    block.each(query, [&] {
      if (block.first_key == 0)
        for (std::size_t r = 0; r < block.queries; ++r)
          means[r] = sum_in_order(
              array(d_value(r), s.value_size) *
              array(std::as_const(head.out) + (query + r) * head.out_step(), s.value_size));
      block.fill();
      for (std::size_t r = 0; r < block.queries; ++r) {
        const T off = head.most[query + r], by_sum = head.by_sum[query + r];
        map_vectors(block.row(r), block.row(r), block.seen(r),
                    [&](auto v) { return exponential(v - off) * by_sum; });
      }
      const std::size_t first = block.first_key;
      block.each_group([&](std::size_t row, std::size_t rows, std::size_t keys) {
        if (!d.v || s.value_size == 0) return;
        const ColumnList<const T> y(rows, [&](std::size_t r) { return d_value(row + r); });
        const ColumnList<const T> p(rows, [&](std::size_t r) { return block.row(row + r); });
        multiply_outer(s.value_size, keys, rows, true, d.v + first * s.value_size, y.data(),
                       p.data());
      });
      if (!d.q && !d.k && !d.bias) return;
      slopes.first_query = block.first_query, slopes.queries = block.queries;
      slopes.first_key = block.first_key, slopes.keys = block.keys;
      slopes.products(s.value_size, head.v, d_value);
      for (std::size_t r = 0; r < block.queries; ++r) {
        const std::size_t n = block.seen(r);
        T* const ds = slopes.row(r);
        array(ds, n) = array(block.row(r), n) * (array(ds, n) - means[r]);
        if (d.bias)
          head.each_bias(query + r, first, n,
                         [&](std::size_t at, std::size_t m, std::size_t b, std::size_t step) {
                           if (step == 0)
                             d.bias[b] += sum_in_order(array(ds + at, m));
                           else
                             array(d.bias + b, m) += array(ds + at, m);
                         });
        array(ds, n) *= static_cast<T>(s.scale);
      }
      block.each_group([&](std::size_t row, std::size_t rows, std::size_t keys) {
        if (s.size == 0) return;
        const ColumnList<const T> ds(rows, [&](std::size_t r) { return slopes.row(row + r); });
        if (d.k) {
          const ColumnList<const T> q(rows,
                                      [&](std::size_t r) { return head.query(query + row + r); });
          multiply_outer(s.size, keys, rows, true, d.k + first * s.size, q.data(), ds.data());
        }
        if (d.q) {
          const ColumnList<T> to(
              rows, [&](std::size_t r) { return d.q + (query + row + r) * head.q_step(); });
          multiply(s.size, keys, rows, head.k + first * s.size, ds.data(), to.data(), kAdd.data());
        }
      });
    });
  }
}

/// Rows of a matrix with contiguous columns; no copy of a whole matrix.
const T* without_gaps(const T* x, std::size_t rows, std::size_t of, std::size_t cols,
                      std::vector<T>& copy) {
  if (rows == of) return x;
  copy.resize(rows * cols);
  for (std::size_t j = 0; j < cols; ++j) std::copy_n(x + j * of, rows, copy.data() + j * rows);
  return copy.data();
}

/// Calls f(element, key head, heads) for every batch element and key head of node i, where `heads`
/// are the query heads that share the key head.
template <class F>
void each_key_head(const Batch<T>& b, std::size_t i, const AttentionSizes& s, F f) {
  const auto& a = b.attr<AttentionAttr>(i);
  const auto* const lengths = b.payload<AttentionAttr, unsigned>(i);
  const bool biased = b.arity > 3;
  const auto at = [&](std::size_t k, std::size_t e) {
    return b.in(k, i) + (b.dim(k, i).bd == 1 ? 0 : e * b.dim(k, i).batch_size());
  };
  std::vector<T> keys, values;
  std::vector<Head> heads;
  const Dim& d = b.node(i).dim;
  for (std::size_t e = 0; e < d.bd; ++e)
    for (std::size_t kh = 0; kh < s.key_heads; ++kh) {
      const T* const k =
          without_gaps(at(1, e) + kh * s.size, s.size, s.size * s.key_heads, s.keys, keys);
      const T* const v = without_gaps(at(2, e) + kh * s.value_size, s.value_size,
                                      s.value_size * s.key_heads, s.keys, values);
      heads.clear();
      for (std::size_t h = kh * s.group(); h < (kh + 1) * s.group(); ++h) {
        T* const kept = b.aux(i) + 2 * s.queries * (e * s.heads + h);
        heads.push_back({s, a.count == 0 ? s.keys : lengths[e], at(0, e) + h * s.size, k, v,
                         biased ? at(3, e) + h * s.biases : nullptr,
                         b.out(i) + e * d.batch_size() + h * s.value_size, kept, kept + s.queries});
      }
      f(e, kh, heads);
    }
}
AttentionSizes sizes_of(const Batch<T>& b, std::size_t i) {
  return {b.attr<AttentionAttr>(i), b.dim(0, i), b.dim(1, i), b.dim(2, i),
          b.arity > 3 ? &b.dim(3, i) : nullptr};
}

}  // namespace

void Attention::forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    each_key_head(b, i, sizes_of(b, i), [](std::size_t, std::size_t, const auto& heads) {
      for (const Head& head : heads) head_forward(head);
    });
}

// Computes all gradients of a node together, then stores those of each operand.
void Attention::backward(const GradientBatch<T>& b) {
  std::vector<T> sums[4], d_keys, d_values;
  for (std::size_t k = 0; k < b.arity; ++k) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < b.count; ++i) total += b.d_in(k, i) ? b.dim(k, i).size() : 0;
    sums[k].assign(total, T(0));
  }
  std::size_t from[4] = {};
  for (std::size_t i = 0; i < b.count; ++i) {
    const AttentionSizes s = sizes_of(b, i);
    const auto at = [&](std::size_t k, std::size_t e) -> T* {
      if (k >= b.arity || !b.d_in(k, i)) return nullptr;
      const Dim& d = b.dim(k, i);
      return sums[k].data() + from[k] + (d.bd == 1 ? 0 : e * d.batch_size());
    };
    each_key_head(b, i, s, [&](std::size_t e, std::size_t kh, const auto& heads) {
      // Adds contiguous sums to the gradient of operand k.
      const auto begin = [&](T* needed, std::vector<T>& d, std::size_t size) -> T* {
        if (!needed) return nullptr;
        d.assign(size * s.keys, T(0));
        return d.data();
      };
      const auto add = [&](T* to, const std::vector<T>& d, std::size_t size) {
        for (std::size_t j = 0; to && j < s.keys; ++j)
          array(to + (j * s.key_heads + kh) * size, size) += array(d.data() + j * size, size);
      };
      T* const d_k = begin(at(1, e), d_keys, s.size);
      T* const d_v = begin(at(2, e), d_values, s.value_size);
      std::size_t h = kh * s.group();
      for (const Head& head : heads) {
        T *const d_q = at(0, e), *const d_bias = at(3, e);
        head_backward(head, {d_q ? d_q + h * s.size : nullptr, d_k, d_v,
                             d_bias ? d_bias + h * s.biases : nullptr,
                             b.d_out(i) + e * b.node(i).dim.batch_size() + h * s.value_size});
        ++h;
      }
      add(at(1, e), d_keys, s.size);
      add(at(2, e), d_values, s.value_size);
    });
    for (std::size_t k = 0; k < b.arity; ++k) from[k] += b.d_in(k, i) ? b.dim(k, i).size() : 0;
  }
  for (std::size_t k = 0; k < b.arity; ++k) {
    const T* d = sums[k].data();
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const to = b.d_in(k, i);
      if (!to) continue;
      const std::size_t n = b.dim(k, i).size();
      store_or_add(b.add(k, i), array(to, n), array(d, n));
      d += n;
    }
  }
}

}  // namespace dynet::cpu::DYNET_ISA
