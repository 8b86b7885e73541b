#pragma once

namespace dynet {

/// Operands: values, gain, bias.
struct LayerNormAttr {
  double epsilon;
};

}  // namespace dynet
