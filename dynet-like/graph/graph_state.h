#pragma once

#include <atomic>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "dynet-like/base/random.h"
#include "dynet-like/graph/evaluator.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/graph/node_kind_table.h"
#include "dynet-like/graph/shape_table.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

class ComputationGraph;

/// The inside of a graph. It outlives the graph, is lent to the next one with its memory warm, and
/// is never destroyed, so a stale Expression can always look here.
struct GraphState {
  GraphState() { store.kind_table = &kinds; }

  GraphStore store;
  ShapeTable shapes;  // that its nodes have
  NodeKindTable kinds;
  std::unique_ptr<Evaluator<float>> evaluator;
  ComputationGraph* owner = nullptr;
  std::uint64_t number = 0;       // of the graph that has it, see ComputationGraph::get_id
  std::uint64_t next_serial = 1;  // never goes back
  // Serials below this are of nodes cleared away. Looked at before the nodes, which another
  // thread's graph may own by now.
  std::atomic<std::uint64_t> first_serial = 1;
  std::uint64_t random_key = 0;
  std::uint64_t random_count = 0;
  bool immediate = false;
  bool on_device = false;  // some of its devices are not the CPU
  bool inference = false;
  std::vector<const Dim*> dims;  // scratch for nodes of many operands
  struct Mark {
    std::size_t nodes, args, attrs, devices;
  };
  std::vector<Mark> marks;
  // Values and gradients that were asked for, which users have references to. Their memory stays
  // with the pool, for the next graph.
  std::pmr::unsynchronized_pool_resource shown_memory;
  std::pmr::unordered_map<NodeId, Tensor> shown_values{&shown_memory};
  std::pmr::unordered_map<NodeId, Tensor> shown_gradients{&shown_memory};

  bool holds(NodeId i, std::uint64_t serial) const {
    return serial >= first_serial.load(std::memory_order_relaxed) && i < store.nodes.size() &&
           store.origins[i].serial == serial;
  }
  std::uint64_t draw_random_key() { return mix_bits(random_key + ++random_count); }
  /// The graph's own device; there are no nodes. Throws DeviceError.
  void set_device(Device* device) {
    evaluator->use(0, device);
    store.devices[0] = device;
    drop_devices(1);
  }
  /// The index of a device in this graph; it gets one if it has none yet. Throws
  /// DeviceError.
  std::uint32_t device_index(Device* device);
  /// Those from `count` on have no nodes any more.
  void drop_devices(std::size_t count);
  /// Only what was there first is left.
  void truncate(std::size_t nodes, std::size_t args, std::size_t attrs) {
    store.nodes.truncate(nodes);
    store.origins.truncate(nodes);
    store.kinds.truncate(nodes);
    store.args.truncate(args);
    store.attrs.truncate(attrs);
  }
  /// There are no nodes: neither shapes nor node kinds are needed.
  void forget() {
    kinds.forget();
    shapes.forget();
  }
  void clear() {
    first_serial.store(next_serial, std::memory_order_relaxed);
    truncate(0, 0, 0);
    if (shapes.size() > ShapeTable::kMost || kinds.size() > NodeKindTable::kMost) forget();
    store.banks.clear();
    marks.clear();
    shown_values.clear();
    shown_gradients.clear();
    if (store.devices.size() > 1) drop_devices(1);
    evaluator->clear();
  }
};

/// Lends states to graphs. With the numbers of threads and the list of devices it is all that the
/// graphs of a process share: without it a graph made for each sample would start with cold memory,
/// and a handle to a destroyed graph would read freed memory. It decides no result but the default
/// random seed of a graph.
GraphState* borrow_graph_state();
/// Begins a graph in a state without nodes: sets its number and the defaults of a new graph. Throws
/// DeviceError if the default device cannot be used.
void begin_graph(GraphState& state);
GraphState& state_of(ComputationGraph& graph);
void give_back_graph_state(GraphState* state) noexcept;

}  // namespace dynet
