#include "dynet-like/run/transposes.h"

#include "dynet-like/run/kernel.h"
#include "kernels/cpu/product.h"

namespace dynet {
namespace {

template <class T>
using Transpose = void (*)(std::size_t, std::size_t, const T*, T*);
constexpr struct {
  PerIsa<Transpose<float>> f;
  Transpose<double> d;
} kTranspose{DYNET_PER_ISA(Transpose<float>, cpu::transpose<float>),
             DYNET_VERSION(baseline, Transpose<double>, cpu::transpose<double>)};

}  // namespace

template <class T>
void Transposes<T>::find(NodeId size) {
  matrices_.clear();
  index_.clear();
  index_.resize(size, 0);
  for (std::uint32_t s = 0; s < r_.steps.size(); ++s) {
    const Step& step = r_.steps[s];
    const NodeId first = r_.ids(s)[0];
    const Node& node = graph_.nodes[first];
    const BatchRule& rule = node.form->batch.value;
    if (!rule.has_products() || first >= size) continue;
    for (std::size_t k = rule.first_pair; k + 1 < node.arity; k += 2) {
      const NodeId matrix = r_.memory[s].args[k * step.count];
      const Dim& w = graph_.nodes[matrix].dim;
      if (w.bd != 1 || w.rows() < 2 || w.cols() < 2 || !step.computes(rule, k)) continue;
      if (index_[matrix] == 0) {
        matrices_.push_back({matrix, 0, nullptr});
        index_[matrix] = static_cast<std::uint32_t>(matrices_.size());
      }
      matrices_[index_[matrix] - 1].columns +=
          std::size_t{step.count} * node.dim.cols() * node.dim.bd;
    }
  }
}

template <class T>
const T* Transposes<T>::of(NodeId matrix) {
  constexpr std::size_t kEnough = 32;
  if (index_[matrix] == 0 || devices_.of(matrix).backend.on_device()) return nullptr;
  Matrix& m = matrices_[index_[matrix] - 1];
  if (m.columns < kEnough) return nullptr;
  if (!m.memory) {
    m.memory =
        devices_.of(matrix).gradients.template allocate_array<T>(graph_.nodes[matrix].dim.size());
    make(matrix, m.memory);
  }
  return m.memory;
}

template <class T>
void Transposes<T>::make(NodeId matrix, T* to) const {
  const Dim& dim = graph_.nodes[matrix].dim;
  kernel<T>(kTranspose)(dim.rows(), dim.cols(), r_.value[matrix], to);
}

template class Transposes<float>;
template class Transposes<double>;

}  // namespace dynet
