#include "dynet-like/plan/gradient_layout.h"

#include "dynet-like/plan/memory.h"

namespace dynet {

void lay_out_gradients(const GraphStore& graph, std::span<const Step> steps, const NodeId* order,
                       std::span<const bool> wanted, GradientLayout& layout) {
  layout.offset.clear();
  layout.offset.resize(wanted.size(), GradientLayout::kNoMemory);
  layout.second.clear();
  layout.sums.clear();
  layout.extent.clear();
  layout.extent.resize(graph.devices.size(), 0);
  for (const Step& step : steps) {
    if (step.accumulates) continue;  // an earlier step has laid out its gradients
    const Node& node = graph.nodes[order[step.first]];
    const bool ragged = node.form->batch.value.ragged.in_value();
    std::uint64_t& extent = layout.extent[node.device_index()];
    const auto place = [&](PodVector<std::uint64_t>& offsets, std::uint64_t size) {
      extent = aligned(extent, alignment(size));
      for (std::uint32_t i = step.first; i < step.first + step.count; ++i) {
        const NodeId id = order[i];
        if (id >= wanted.size() || !wanted[id]) continue;
        if (ragged) {
          size = graph.nodes[id].dim.size();
          extent = aligned(extent, alignment(size));
        }
        offsets[id] = extent;
        extent += size;
      }
    };
    place(layout.offset, node.dim.size());
    if (node.form->second_result) {
      layout.second.resize(wanted.size(), GradientLayout::kNoMemory);
      place(layout.second, node.dim.size());
    }
    if (node.form->sums) {
      layout.sums.resize(wanted.size(), GradientLayout::kNoMemory);
      place(layout.sums, node.form->sums(graph, node));
    }
  }
}

}  // namespace dynet
