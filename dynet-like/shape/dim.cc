#include "dynet-like/shape/dim.h"

#include <cctype>
#include <istream>
#include <ostream>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

void check_rank(std::size_t rank) {
  if (rank > kMaxTensorDim)
    throw ArgumentError("Dim: a shape has at most 7 sizes, got " + std::to_string(rank));
}
void check_dim_index(const Dim& dim, unsigned i, unsigned end, const char* what) {
  if (i >= end)
    throw IndexError(std::string("Dim::") + what + ": dimension " + std::to_string(i) +
                     " is outside " + to_string(dim));
}
unsigned check_batch(unsigned batch) {
  if (batch == 0) throw ArgumentError("Dim: the batch size must be at least 1, got 0");
  return batch;
}

}  // namespace

Dim::Dim(std::initializer_list<unsigned> sizes, unsigned batch) : bd(check_batch(batch)) {
  check_rank(sizes.size());
  for (unsigned s : sizes) d[nd++] = s;
}

Dim::Dim(const std::vector<long>& sizes, unsigned batch) : bd(check_batch(batch)) {
  check_rank(sizes.size());
  for (long s : sizes) {
    if (!std::in_range<unsigned>(s))
      throw ArgumentError("Dim: a size must be between 0 and 4294967295, got " + std::to_string(s));
    d[nd++] = static_cast<unsigned>(s);
  }
}

Dim Dim::truncate() const {
  Dim r = *this;
  r.nd = rank() == 0 && nd > 0 ? 1 : rank();
  return r;
}

void Dim::resize(unsigned rank) {
  check_rank(rank);
  for (unsigned i = nd; i < rank; ++i) d[i] = 1;
  nd = rank;
}

unsigned Dim::num_nonone_dims() const {
  unsigned n = 0;
  for (unsigned i = 0; i < nd; ++i) n += d[i] != 1;
  return n;
}

void Dim::set(unsigned i, unsigned size) {
  check_dim_index(*this, i, nd, "set");
  d[i] = size;
}

void Dim::delete_dim(unsigned i) {
  check_dim_index(*this, i, nd, "delete_dim");
  if (nd == 1) {
    d[0] = 1;
    return;
  }
  for (unsigned k = i + 1; k < nd; ++k) d[k - 1] = d[k];
  --nd;
}

void Dim::delete_dims(const std::vector<unsigned>& dims, bool reduce_batch) {
  bool gone[kMaxTensorDim] = {};
  for (unsigned i : dims) {
    check_dim_index(*this, i, nd, "delete_dims");
    gone[i] = true;
  }
  unsigned kept = 0;
  for (unsigned i = 0; i < nd; ++i)
    if (!gone[i]) d[kept++] = d[i];
  nd = kept;
  if (nd == 0) d[nd++] = 1;
  if (reduce_batch) bd = 1;
}

void Dim::insert_dim(unsigned i, unsigned n) {
  check_rank(nd + 1);
  check_dim_index(*this, i, nd + 1, "insert_dim");
  for (unsigned k = nd; k > i; --k) d[k] = d[k - 1];
  d[i] = n;
  ++nd;
}

Dim Dim::transpose() const {
  if (rank() > 2)
    throw ArgumentError("Dim::transpose: the shape must be a matrix, got " + to_string(*this));
  return Dim({cols(), rows()}, bd);
}

std::string to_string(const Dim& dim) {
  std::string s = "{";
  for (unsigned i = 0; i < dim.nd; ++i) {
    if (i) s += ',';
    s += std::to_string(dim.d[i]);
  }
  if (dim.bd != 1) s += 'X' + std::to_string(dim.bd);
  return s + '}';
}

std::ostream& operator<<(std::ostream& out, const Dim& dim) { return out << to_string(dim); }

void Dim::print_profile(std::ostream& out) const { out << *this; }

std::ostream& operator<<(std::ostream& out, const std::vector<Dim>& dims) {
  out << '[';
  for (std::size_t i = 0; i < dims.size(); ++i) out << (i ? " " : "") << dims[i];
  return out << ']';
}

std::istream& operator>>(std::istream& in, Dim& dim) {
  const auto fail = [&]() -> std::istream& {
    in.setstate(std::ios::failbit);
    return in;
  };
  std::vector<long> sizes;
  unsigned batch = 1;
  char c = 0;
  if (!(in >> c) || c != '{') return fail();
  if (in.peek() == '}') return in.get(), dim = Dim(), in;
  do {
    unsigned n = 0;
    if (!std::isdigit(in.peek()) || !(in >> n >> c)) return fail();
    sizes.push_back(n);
  } while (c == ',');
  if (c == 'X' && (!std::isdigit(in.peek()) || !(in >> batch >> c))) return fail();
  if (c != '}' || batch == 0 || sizes.size() > kMaxTensorDim) return fail();
  dim = Dim(sizes, batch);
  return in;
}

}  // namespace dynet
