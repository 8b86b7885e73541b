#pragma once

// Common part of DyNet's headers: graphs, operations, parameters, start-up.

#include "dynet-like/compat/assert_cxx17.h"
// Before what C++17 needs.
#include <cstddef>

#include "dynet-like/base/device.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/compat/initialize.h"
#include "dynet-like/compat/lists.h"
#include "dynet-like/compat/macros.h"
#include "dynet-like/compat/standard.h"
#include "dynet-like/compat/tensor_tools.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/convolution.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/flow.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/linear_algebra.h"
#include "dynet-like/ops/losses.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/noise.h"
#include "dynet-like/ops/normalization.h"
#include "dynet-like/ops/recurrent.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"
#include "dynet-like/param/init.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/param/storage.h"

/// Eigen's names in DyNet's headers; a program may include Eigen before or after this header.
namespace Eigen {
struct DefaultDevice;  // NOLINT: Eigen's type, not this library's
using DenseIndex = std::ptrdiff_t;
}  // namespace Eigen

namespace dynet {

/// See compat/text_file.h.
void save_dynet_model(const std::string& filename, const ParameterCollection* model);
void load_dynet_model(const std::string& filename, ParameterCollection* model);

/// Name of ParameterCollection in DyNet 1.
class Model : public ParameterCollection {
 public:
  using ParameterCollection::ParameterCollection;
  Model() = default;
  Model(const ParameterCollection& same) : ParameterCollection(same) {}  // NOLINT: implicit
};

/// Namespace of Expression and the operations in DyNet 1.
namespace expr = ::dynet;

using Device_CPU = DeviceDescription;
using out_of_memory = OutOfMemoryError;

}  // namespace dynet
