#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

namespace dynet {

/// The largest rank.
inline constexpr unsigned kMaxTensorDim = 7;

/// The shape of a tensor: up to seven sizes, column-major, and a separate batch size.
///
/// `Dim({2, 3}, 8)` is a batch of eight 2x3 matrices and prints as `{2,3X8}`. Trailing sizes of one
/// are ignored: `{n}` and `{n,1}` are the same shape everywhere, including `==`. A size may be
/// zero.
struct Dim {
  unsigned d[kMaxTensorDim] = {};  ///< sizes; only the first `nd` are used
  unsigned nd = 0;                 ///< number of stored sizes
  unsigned bd = 1;                 ///< batch size

  Dim() = default;
  /// Throws ArgumentError for more than seven sizes or a batch size of zero.
  Dim(std::initializer_list<unsigned> sizes, unsigned batch = 1);
  Dim(const std::vector<long>& sizes, unsigned batch = 1);  // NOLINT: implicit, as in DyNet

  /// Number of elements of the whole batch.
  std::size_t size() const { return batch_size() * bd; }
  /// Number of elements of one batch element.
  std::size_t batch_size() const {
    std::size_t p = 1;
    for (unsigned i = 0; i < nd; ++i) p *= d[i];
    return p;
  }
  std::size_t sum_dims() const {
    std::size_t s = 0;
    for (unsigned i = 0; i < nd; ++i) s += d[i];
    return s;
  }
  /// Copy without trailing sizes of one.
  Dim truncate() const;
  /// Copy with batch size one.
  Dim single_batch() const {
    Dim r = *this;
    r.bd = 1;
    return r;
  }
  void resize(unsigned rank);
  unsigned ndims() const { return nd; }
  unsigned rows() const { return (*this)[0]; }
  unsigned cols() const { return (*this)[1]; }
  unsigned num_nonone_dims() const;
  unsigned batch_elems() const { return bd; }
  void set(unsigned i, unsigned size);
  /// Size along dimension i; one beyond the rank.
  unsigned operator[](unsigned i) const { return i < nd ? d[i] : 1; }
  unsigned size(unsigned i) const { return (*this)[i]; }
  void delete_dim(unsigned i);
  void delete_dims(const std::vector<unsigned>& dims, bool reduce_batch);
  void add_dim(unsigned n) { insert_dim(nd, n); }
  void insert_dim(unsigned i, unsigned n);
  Dim transpose() const;
  /// Same output as `<<`.
  void print_profile(std::ostream& out) const;

  /// The rank, not counting trailing sizes of one.
  unsigned rank() const {
    unsigned r = nd;
    while (r > 0 && d[r - 1] == 1) --r;
    return r;
  }
};

/// Equal sizes up to trailing ones; batch sizes are ignored.
inline bool same_sizes(const Dim& a, const Dim& b) {
  const unsigned n = a.nd > b.nd ? a.nd : b.nd;
  for (unsigned i = 0; i < n; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
inline bool operator==(const Dim& a, const Dim& b) { return a.bd == b.bd && same_sizes(a, b); }
inline bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

/// `{2,3}`, or `{2,3X4}` with batch size 4.
std::string to_string(const Dim& dim);
std::ostream& operator<<(std::ostream& out, const Dim& dim);
/// `[{2,3} {4}]`
std::ostream& operator<<(std::ostream& out, const std::vector<Dim>& dims);
/// Parses the output of `<<`. On a syntax error the stream fails and `dim` is unchanged.
std::istream& operator>>(std::istream& in, Dim& dim);

}  // namespace dynet
