#pragma once

#include <vector>

#include "tests/support/op_case.h"

namespace dynet::test {

// The cases of each family, defined beside its tests.
std::vector<OpCase> input_cases();
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> broadcast_cases();
std::vector<OpCase> matrix_cases();
std::vector<OpCase> reduction_cases();
std::vector<OpCase> softmax_cases();
std::vector<OpCase> selection_cases();
std::vector<OpCase> noise_cases();
std::vector<OpCase> recurrent_cases();

}  // namespace dynet::test
