#pragma once

#include <cstddef>
#include <string>

#include "dynet-like/graph/computation_graph.h"

namespace dynet {

/// Settings of a picture of a graph.
struct PictureSettings {
  /// Most boxes. A graph with more nodes is folded: first the nodes of a batch are one box, then
  /// those of one operation and line of the program, then those of one line.
  std::size_t most_boxes = 100;
  /// Shows small values when the pointer rests on a node. They are computed if needed.
  bool values = false;
};

/// The graph as an SVG picture, from top to bottom: a box for each node, or for nodes that are
/// folded, with operation, shape and line of the program. Nodes that run as one batch are side by
/// side in one colour; the steps of a sequence are a column. Lines to later uses of leaves are
/// dotted. The styles apply to the picture alone, so it may be a part of a page.
std::string graph_svg(const ComputationGraph& graph, const PictureSettings& settings = {});
/// Writes `graph_svg` to a file. Throws FileError.
void write_svg(const ComputationGraph& graph, const std::string& path,
               const PictureSettings& settings = {});

}  // namespace dynet
