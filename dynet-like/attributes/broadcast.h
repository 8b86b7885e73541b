#pragma once

namespace dynet {

struct SumAttr {
  double scale;  // factor of the sum
};

}  // namespace dynet
