#pragma once

namespace dynet {

struct SumAttr {
  double scale;  // of the sum
};

}  // namespace dynet
