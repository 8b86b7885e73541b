#include "kernels/cpu/flow.h"

#include <algorithm>

#include "dynet-like/attributes/along.h"
#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {

void scale_gradient_backward(const GradientBatch<T>& b) {
  const auto factor = static_cast<T>(b.attr<ScaleGradientAttr>().factor);
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i)
    if (b.d_in(0, i))
      store_or_add(b.add(0, i), array(b.d_in(0, i), n), array(b.d_out(i), n) * factor);
}

void argmax_forward(const Batch<T>& b) {
  const Along x(b.dim(), b.attr<ArgmaxAttr>().dimension);
  for (std::size_t i = 0; i < b.count; ++i) {
    const T* const in = b.in(0, i);
    T* const out = b.out(i);
    std::fill_n(out, b.dim().size(), T(0));
    if (x.size == 0) continue;
    for (std::size_t line = 0; line < x.lines(b.dim().bd); ++line) {
      const std::size_t first = x.first(line);
      std::size_t best = first;
      for (std::size_t k = 1; k < x.size; ++k)
        if (in[first + k * x.inner] > in[best]) best = first + k * x.inner;
      out[best] = T(1);
    }
  }
}

}  // namespace dynet::cpu::DYNET_ISA
