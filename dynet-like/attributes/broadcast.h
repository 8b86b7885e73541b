#pragma once

namespace dynet {

/// The sum of any number of operands, broadcast, times a constant.
struct SumAttr {
  double scale;
};

}  // namespace dynet
