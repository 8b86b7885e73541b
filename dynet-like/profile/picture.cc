#include "dynet-like/profile/picture.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dynet-like/base/printable.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "dynet-like/io/files.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/plan/planner.h"

namespace dynet {
namespace {

constexpr double kLetter = 6.7, kLine = 15, kSide = 8, kGap = 14, kBetween = 44;  // pixels
constexpr double kAnywhere = 1e9;  // of a box without operands above it

std::string file_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f", x);
  return digits;
}

// Nodes that are drawn as one box.
struct Box {
  std::vector<NodeId> nodes;
  std::vector<std::string> lines;
  std::string title;
  std::map<std::size_t, std::size_t> reads;  // boxes of operands, with numbers of edges
  bool loops = false;                        // reads itself
  bool is_leaf = false;
  unsigned hue = 0;
  std::size_t layer = 0;
  double x = 0, y = 0, width = 0, height = 0, order = 0;
};

class Picture {
 public:
  Picture(const ComputationGraph& graph, const PictureSettings& settings)
      : cg_(graph), graph_(graph.store()), settings_(settings) {
    find_batches();
    fold();
    connect();
    find_layers();
    place();
  }
  std::string svg() const;

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>;

  void find_batches();
  void fold();
  template <class KeyOf>
  bool fold_by(KeyOf key_of);
  void connect();
  void label(Box& box);
  void find_layers();
  void find_layers_of_batches();
  void lift_leaves();
  double below_operands(const Box& box) const;
  void place();
  std::string line_of(NodeId id) const {
    const NodeOrigin& o = graph_.origins[id];
    return file_of(o.file) + ':' + std::to_string(o.line);
  }
  // With the name of the file alone: the picture may go elsewhere.
  std::string description_of(NodeId id) const {
    std::string text = describe(graph_, id);
    const std::string file = graph_.origins[id].file ? graph_.origins[id].file : "";
    const std::size_t at = file.empty() ? text.npos : text.rfind(file);
    return at == text.npos ? text : text.replace(at, file.size(), file_of(file));
  }
  std::string edge(const Box& from, const Box& to, std::size_t count) const;

  const ComputationGraph& cg_;
  const GraphStore& graph_;
  const PictureSettings settings_;
  std::vector<std::uint32_t> batch_;        // by node
  std::vector<std::uint32_t> batch_sizes_;  // by batch
  std::vector<Box> boxes_;
  std::vector<std::size_t> box_of_;  // by node
  double width_ = 0, height_ = 0;
};

void Picture::find_batches() {
  const auto n = static_cast<NodeId>(graph_.nodes.size());
  batch_.resize(n, 0);
  if (n == 0) return;
  Planner planner(graph_, PlanPolicy::in_batches);
  planner.start(0, n, nullptr);
  const Plan& plan = planner.plan(0);
  for (const Step& step : plan.steps) {
    for (std::uint32_t i = 0; i < step.count; ++i)
      batch_[plan.order[step.first + i]] = static_cast<std::uint32_t>(batch_sizes_.size());
    batch_sizes_.push_back(step.count);
  }
}

// Makes a box for each key, in the order of the first nodes, unless there are too many.
template <class KeyOf>
bool Picture::fold_by(KeyOf key_of) {
  std::map<Key, std::size_t> known;
  boxes_.clear();
  box_of_.clear();
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    const auto [found, is_new] = known.try_emplace(key_of(id), boxes_.size());
    if (is_new && boxes_.size() >= settings_.most_boxes) return false;
    if (is_new) boxes_.emplace_back();
    boxes_[found->second].nodes.push_back(id);
    box_of_.push_back(found->second);
  }
  return true;
}

void Picture::fold() {
  const auto form = [&](NodeId id) { return std::string(graph_.nodes[id].form->name.value); };
  if (fold_by([](NodeId id) { return Key("", "", id, 0); }) ||
      fold_by([&](NodeId id) { return Key(form(id), line_of(id), batch_[id], 0); }) ||
      fold_by([&](NodeId id) { return Key(form(id), line_of(id), 0, 0); }) ||
      fold_by([&](NodeId id) { return Key("", line_of(id), 0, 0); }) ||
      fold_by([&](NodeId id) { return Key("", file_of(graph_.origins[id].file), 0, 0); }))
    return;
  fold_by([](NodeId) { return Key(); });
}

void Picture::connect() {
  for (std::size_t b = 0; b < boxes_.size(); ++b) {
    Box& box = boxes_[b];
    for (const NodeId id : box.nodes)
      for (const NodeId a : graph_.args_of(graph_.nodes[id]))
        box_of_[a] == b ? void(box.loops = true) : void(++box.reads[box_of_[a]]);
    box.is_leaf = box.reads.empty() && !box.loops;
    label(box);
  }
}

void Picture::label(Box& box) {
  const NodeId first = box.nodes[0];
  const Node& n = graph_.nodes[first];
  const std::size_t count = box.nodes.size();
  const auto all = [&](auto property) {
    return std::all_of(box.nodes.begin(), box.nodes.end(),
                       [&](NodeId id) { return property(id) == property(first); });
  };
  const bool one_form = all([&](NodeId id) { return graph_.nodes[id].form; });
  const bool one_shape = all([&](NodeId id) { return to_string(graph_.nodes[id].dim); });
  const bool one_line = all([&](NodeId id) { return line_of(id); });
  std::string name = one_form ? n.form->name.value : "several operations";
  if (n.form->kind == Kind::parameter && count == 1)
    name = graph_.attr<ParameterAttr>(n).parameter->name;
  box.lines.push_back(name + (count > 1 ? " x " + std::to_string(count) : ""));
  box.lines.push_back((one_shape ? to_string(n.dim) : "several shapes") +
                      (box.loops ? ", each reads others" : ""));
  box.lines.push_back(one_line ? line_of(first) : file_of(graph_.origins[first].file));
  box.title = count == 1 ? description_of(first)
                         : std::to_string(count) + " nodes, from " + std::to_string(first) +
                               " to " + std::to_string(box.nodes.back());
  const std::uint32_t batch = batch_[first];
  const bool one_batch = all([&](NodeId id) { return batch_[id]; });
  if (one_batch && batch_sizes_[batch] > 1)
    box.title += "\nbatch of " + std::to_string(batch_sizes_[batch]);
  if (settings_.values && count == 1 && n.dim.size() <= 16) {
    box.title += "\nvalue:";
    const Expression e(const_cast<ComputationGraph*>(&cg_), first);
    for (const float x : as_vector(e.value())) {
      char digits[32];
      std::snprintf(digits, sizeof digits, " %g", static_cast<double>(x));
      box.title += digits;
    }
  }
  // Neighbouring batches get hues that differ by the golden angle.
  const bool alone = count == 1 && batch_sizes_[batch] == 1;
  box.hue = alone ? 0 : 1 + (batch * 137 + 200) % 360;
  box.width = 0;
  for (const std::string& line : box.lines)
    box.width = std::max(box.width, kLetter * static_cast<double>(line.size()) + 2 * kSide);
  box.height = kLine * static_cast<double>(box.lines.size()) + kSide;
}

// The nodes of a batch are a layer, below those of their operands.
void Picture::find_layers_of_batches() {
  std::vector<std::vector<Box*>> batches(batch_sizes_.size());  // in the order of the plan
  for (std::size_t b = 0; b < boxes_.size(); ++b) batches[batch_[b]].push_back(&boxes_[b]);
  for (const std::vector<Box*>& batch : batches) {
    std::size_t layer = 0;
    for (const Box* box : batch)
      for (const auto& [from, count] : box->reads) layer = std::max(layer, boxes_[from].layer + 1);
    for (Box* box : batch) box->layer = layer;
  }
}

// The layer of a box is below those of its operands. Boxes that read each other share one.
void Picture::find_layers() {
  const std::size_t n = boxes_.size();
  if (n == graph_.nodes.size()) {  // a box for each node
    find_layers_of_batches();
    return lift_leaves();
  }
  std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n, false));  // operands of operands
  std::vector<std::size_t> stack;
  for (std::size_t b = 0; b < n; ++b) {
    stack.assign(1, b);
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      for (const auto& [from, count] : boxes_[at].reads)
        if (!reaches[b][from]) {
          reaches[b][from] = true;
          stack.push_back(from);
        }
    }
  }
  // Operands come first in the order of nodes but for loops, where more rounds may be needed.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < n; ++b)
      for (const auto& [from, count] : boxes_[b].reads) {
        const bool together = reaches[b][from] && reaches[from][b];
        const std::size_t least = boxes_[from].layer + (together ? 0 : 1);
        if (boxes_[b].layer < least) {
          boxes_[b].layer = least;
          changed = true;
        }
      }
  }
  lift_leaves();
}

// A leaf stands right above its first user.
void Picture::lift_leaves() {
  const std::size_t n = boxes_.size();
  std::vector<std::size_t> first_use(n, n);
  for (const Box& box : boxes_)
    for (const auto& [from, count] : box.reads)
      first_use[from] = std::min(first_use[from], box.layer);
  for (std::size_t b = 0; b < n; ++b)
    if (boxes_[b].is_leaf && first_use[b] < n && first_use[b] > 0)
      boxes_[b].layer = first_use[b] - 1;
}

// The mean of the centres of a box's operands above it. Leaves count only if there is nothing else:
// a parameter has users everywhere.
double Picture::below_operands(const Box& box) const {
  for (const bool leaves : {false, true}) {
    double sum = 0, n = 0;
    for (const auto& [from, count] : box.reads) {
      const Box& operand = boxes_[from];
      if (operand.layer >= box.layer || operand.is_leaf != leaves) continue;
      sum += operand.x + operand.width / 2;
      ++n;
    }
    if (n > 0) return sum / n;
  }
  return kAnywhere;
}

// Each box is near the middle of its operands, so that a sequence of steps is a column; the boxes
// of a batch are side by side.
void Picture::place() {
  std::map<std::size_t, std::vector<Box*>> layers;
  for (Box& box : boxes_) layers[box.layer].push_back(&box);
  double left = 0, right = 0;
  for (auto& [layer, row] : layers) {
    std::map<std::uint32_t, std::pair<double, double>> sums;  // of orders in a batch, and how many
    const auto batch = [&](const Box* box) { return batch_[box->nodes[0]]; };
    for (Box* box : row) {
      box->order = below_operands(*box);
      auto& [sum, count] = sums[batch(box)];
      sum += box->order;
      ++count;
    }
    const auto key = [&](const Box* box) {
      const auto& [sum, count] = sums[batch(box)];
      return box->is_leaf ? std::tuple(kAnywhere, 0u, kAnywhere)
                          : std::tuple(sum / count, batch(box), box->order);
    };
    std::stable_sort(row.begin(), row.end(),
                     [&](const Box* a, const Box* b) { return key(a) < key(b); });
    double end = row[0]->order == kAnywhere ? left : -1e9, height = 0, shift = 0, n = 0;
    for (Box* box : row) {
      const double wanted = box->order - box->width / 2;
      box->x = box->order == kAnywhere ? end : std::max(end, wanted);
      if (box->order != kAnywhere) shift += box->x - wanted, ++n;
      end = box->x + box->width + kGap;
      box->y = height_;
      height = std::max(height, box->height);
    }
    for (Box* box : row) box->x -= n > 0 ? shift / n : 0;
    left = std::min(left, row.front()->x);
    right = std::max(right, row.back()->x + row.back()->width);
    height_ += height + kBetween;
  }
  for (Box& box : boxes_) box.x -= left;
  width_ = right - left;
  height_ = std::max(0.0, height_ - kBetween);
}

std::string Picture::edge(const Box& from, const Box& to, std::size_t count) const {
  const double x = from.x + from.width / 2, y = from.y + from.height, u = to.x + to.width / 2;
  const bool back = to.y < y;  // among boxes that read each other
  const double v = back ? to.y + to.height : to.y;
  const double bend = back ? kBetween : (v - y) / 2;
  std::string text = "<path class=\"edge\" d=\"M" + number(x) + ' ' + number(y) + " C" + number(x) +
                     ' ' + number(y + bend) + ' ' + number(u) + ' ' +
                     number(back ? v + bend : v - bend) + ' ' + number(u) + ' ' + number(v) + '"';
  if (count > 1) text += " stroke-width=\"2\"";
  if (from.is_leaf && to.layer > from.layer + 1) text += " stroke-dasharray=\"1 3\"";
  return text + "/>\n";
}

std::string Picture::svg() const {
  constexpr double kEdge = 10;
  const double width = width_ + 2 * kEdge, height = height_ + 2 * kEdge;
  std::string text = "<svg class=\"dynet-graph\" xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                     number(width) + "\" height=\"" + number(height) + "\" viewBox=\"" +
                     number(-kEdge) + ' ' + number(-kEdge) + ' ' + number(width) + ' ' +
                     number(height) +
                     "\" font-family=\"monospace\" font-size=\"11\">\n<style>\n"
                     ".dynet-graph { background: #fff; color: #111; }\n"
                     ".dynet-graph text { fill: currentColor; }\n"
                     ".dynet-graph .edge { fill: none; stroke: #888; }\n"
                     ".dynet-graph rect { stroke: #555; fill: #f4f4f4; }\n"
                     ".dynet-graph .batch { fill: hsl(var(--hue) 70% 86%); }\n"
                     "@media (prefers-color-scheme: dark) {\n"
                     "  .dynet-graph { background: #181818; color: #eee; }\n"
                     "  .dynet-graph rect { stroke: #aaa; fill: #303030; }\n"
                     "  .dynet-graph .batch { fill: hsl(var(--hue) 40% 26%); }\n"
                     "}\n</style>\n";
  for (const Box& box : boxes_)
    for (const auto& [from, count] : box.reads) text += edge(boxes_[from], box, count);
  for (const Box& box : boxes_) {
    text += "<g><title>" + xml_text(box.title) + "</title><rect x=\"" + number(box.x) + "\" y=\"" +
            number(box.y) + "\" width=\"" + number(box.width) + "\" height=\"" +
            number(box.height) + "\" rx=\"" + (box.is_leaf ? "12" : "3") + '"';
    if (box.hue > 0) text += " class=\"batch\" style=\"--hue: " + std::to_string(box.hue - 1) + '"';
    text += "/>";
    double y = box.y;
    for (const std::string& line : box.lines)
      text += "<text x=\"" + number(box.x + kSide) + "\" y=\"" + number(y += kLine) + "\">" +
              xml_text(line) + "</text>";
    text += "</g>\n";
  }
  return text + "</svg>\n";
}

}  // namespace

std::string graph_svg(const ComputationGraph& graph, const PictureSettings& settings) {
  return Picture(graph, settings).svg();
}

void write_svg(const ComputationGraph& graph, const std::string& path,
               const PictureSettings& settings) {
  NewFile file(path);
  file.write(graph_svg(graph, settings));
  file.commit();
}

}  // namespace dynet
