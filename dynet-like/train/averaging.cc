#include "dynet-like/train/averaging.h"

#include <cmath>

namespace dynet {

double Averaging::weight_of_constant() const {
  return exponential() ? 1 - std::pow(static_cast<double>(beta_), static_cast<double>(count_))
                       : 1.0;
}

}  // namespace dynet
