#pragma once

#include "tests/ops/variable.h"
#include "tests/support/op_case.h"
#include "tests/support/prelude.h"

namespace dynet::test {

/// The sum of f(x, y) over all pairs of elements of two operands of one shape.
OpCase pairwise(const std::string& name,
                std::function<Expression(const Expression&, const Expression&)> op,
                std::function<double(double, double)> f);

/// A shape that has a dimension d.
inline Dim with_dimension(Shapes& s, unsigned d) {
  Dim x = s.any(4);
  while (x.nd <= d) x.add_dim(s.size());
  return x;
}
/// The same, where that dimension is not empty.
inline Dim with_some(Shapes& s, unsigned d) {
  Dim x = with_dimension(s, d);
  if (x.d[d] == 0) x.d[d] = 2;
  return x;
}

// The cases of each family, defined beside its tests.
std::vector<OpCase> input_cases();
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> broadcast_cases();
std::vector<OpCase> matrix_cases();
std::vector<OpCase> reduction_cases();
std::vector<OpCase> softmax_cases();
std::vector<OpCase> loss_cases();
std::vector<OpCase> selection_cases();
std::vector<OpCase> noise_cases();
std::vector<OpCase> recurrent_cases();
std::vector<OpCase> select_cases();
std::vector<OpCase> flow_cases();
std::vector<OpCase> convolution_cases();
std::vector<OpCase> crf_cases();
std::vector<OpCase> span_tree_cases();
std::vector<OpCase> dependency_tree_cases();
std::vector<OpCase> ctc_cases();
std::vector<OpCase> semi_crf_cases();
std::vector<OpCase> attention_cases();
std::vector<OpCase> linear_algebra_cases();
std::vector<OpCase> normalization_cases();

inline std::vector<OpCase> all_cases() {
  std::vector<OpCase> all;
  for (const auto& family :
       {input_cases(),       elementwise_cases(),     broadcast_cases(),     matrix_cases(),
        reduction_cases(),   softmax_cases(),         loss_cases(),          selection_cases(),
        noise_cases(),       recurrent_cases(),       select_cases(),        flow_cases(),
        convolution_cases(), linear_algebra_cases(),  normalization_cases(), crf_cases(),
        span_tree_cases(),   dependency_tree_cases(), ctc_cases(),           semi_crf_cases(),
        attention_cases()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace dynet::test
