#pragma once

namespace dynet {

struct LayerNormAttr {
  double epsilon;  // added to the variance
};

}  // namespace dynet
