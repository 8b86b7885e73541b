#include "dynet-like/ops/families.h"

namespace dynet {

std::vector<const OpForm*> all_ops() {
  std::vector<const OpForm*> all;
  for (auto family :
       {input_ops(),           elementwise_ops(),   broadcast_ops(), matrix_ops(),
        reduction_ops(),       softmax_ops(),       loss_ops(),      selection_ops(),
        noise_ops(),           recurrent_ops(),     flow_ops(),      convolution_ops(),
        linear_algebra_ops(),  normalization_ops(), crf_ops(),       span_tree_ops(),
        dependency_tree_ops(), ctc_ops(),           semi_crf_ops(),  attention_ops()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace dynet
