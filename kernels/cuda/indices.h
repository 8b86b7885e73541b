#pragma once

// Indices given by the user, on the device.

#include <algorithm>

#include "dynet-like/attributes/indices.h"
#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// The indices of a node; a shorter list repeats.
struct IndexList {
  const unsigned* at;
  unsigned* keep;  ///< stored here for backward; null: backward uploads them again
  unsigned count;

  DYNET_DEVICE unsigned operator[](std::size_t k) const {
    return at[k < count ? k : static_cast<unsigned>(k) % count];
  }
};

/// Copies indices to their `keep`; `given` is device memory.
void store_indices(Queue& q, const IndexList* given, std::size_t n);

/// Uploads the indices of all nodes for this run, by node, checked to be below `limit`. Indices
/// behind a pointer are also stored in the node's scratch, from `scratch` on. `A` as for
/// keep_indices.
template <class A>
const IndexList* upload_indices(Queue& q, const Batch<float>& b, std::size_t scratch,
                                std::size_t limit, const char* limit_of) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < b.count; ++i) total += b.attr<A>(i).indices.count;
  unsigned* to = q.stage<unsigned>(total);
  IndexList* const all = q.stage<IndexList>(b.count);
  bool any_kept = false;
  for (std::size_t i = 0; i < b.count; ++i) {
    const Indices& indices = b.attr<A>(i).indices;
    const bool kept = indices.source != Indices::in_node;
    const unsigned* const from =
        keep_indices<A>(b, i, reinterpret_cast<float*>(to), limit, limit_of);
    if (!kept) std::copy_n(from, indices.count, to);
    all[i] = {q.on_device(to), kept ? reinterpret_cast<unsigned*>(b.aux(i) + scratch) : nullptr,
              indices.count};
    any_kept = any_kept || kept;
    to += indices.count;
  }
  const IndexList* const given = q.on_device(all);
  if (any_kept) store_indices(q, given, b.count);
  return given;
}

/// The indices that forward used.
template <class A>
const IndexList* stored_indices(Queue& q, const Batch<float>& b, std::size_t scratch) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < b.count; ++i) {
    const Indices& indices = b.attr<A>(i).indices;
    if (indices.source == Indices::in_node) total += indices.count;
  }
  unsigned* to = q.stage<unsigned>(total);
  IndexList* const all = q.stage<IndexList>(b.count);
  for (std::size_t i = 0; i < b.count; ++i) {
    const Indices& indices = b.attr<A>(i).indices;
    all[i] = {reinterpret_cast<const unsigned*>(b.aux(i) + scratch), nullptr, indices.count};
    if (indices.source != Indices::in_node) continue;
    std::copy_n(b.payload<A, unsigned>(i), indices.count, to);
    all[i].at = q.on_device(to);
    to += indices.count;
  }
  return q.on_device(all);
}

}  // namespace dynet::cuda
