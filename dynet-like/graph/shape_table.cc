#include "dynet-like/graph/shape_table.h"

#include <new>

namespace dynet {

const Dim* ShapeTable::add(const Dim& dim, std::size_t slot) {
  const Dim* const made = new (all_.allocate(sizeof(Dim))) Dim(dim);
  table_[slot] = made;
  if (2 * ++count_ > table_.size()) grow();
  return made;
}

void ShapeTable::grow() {
  PodVector<const Dim*> larger;
  larger.resize(table_.empty() ? 64 : 4 * table_.size(), nullptr);
  const std::size_t mask = larger.size() - 1;
  for (std::size_t k = 0; k < table_.size(); ++k) {
    if (!table_[k]) continue;
    std::size_t slot = hash(*table_[k]) & mask;
    while (larger[slot]) slot = (slot + 1) & mask;
    larger[slot] = table_[k];
  }
  table_ = std::move(larger);
}

void ShapeTable::forget() {
  table_.clear();
  count_ = 0;
  all_.reset();
}

void ShapeTable::release() {
  forget();
  table_ = {};
  all_.release();
}

}  // namespace dynet
