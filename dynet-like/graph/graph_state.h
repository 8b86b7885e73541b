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
#include "dynet-like/graph/observer.h"
#include "dynet-like/graph/shape_table.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

class ComputationGraph;

/// State of a graph. It outlives the graph, is reused with its memory by the next graph, and is
/// never destroyed, so a stale Expression can always read it.
struct GraphState {
  GraphState() { store.kind_table = &kinds; }

  GraphStore store;
  ShapeTable shapes;  // of its nodes
  NodeKindTable kinds;
  std::unique_ptr<Evaluator<float>> evaluator;
  std::unique_ptr<GraphObserver> observer;  // or null
  ComputationGraph* owner = nullptr;
  std::uint64_t number = 0;       // of the current graph, see ComputationGraph::get_id
  std::uint64_t next_serial = 1;  // never decreases
  // Smallest serial number since the last `clear`. Read before the nodes, which may belong to a
  // graph of another thread by now.
  std::atomic<std::uint64_t> first_serial = 1;
  std::uint64_t random_key = 0;
  std::uint64_t random_count = 0;
  bool immediate = false;
  bool on_device = false;  // some device is not the CPU
  bool inference = false;
  // Memory in bytes: the most of one graph since it was last released, and of recent graphs.
  std::size_t most_bytes = 0, recent_bytes = 0;
  std::vector<const Dim*> dims;  // scratch for nodes with many operands
  // Latest node of each parameter: by bank, in the order of `store.banks`, and index. Nodes of
  // earlier graphs are known by their serial numbers.
  struct ParameterNode {
    NodeId id = 0;
    std::uint64_t serial = 0;
  };
  std::vector<std::vector<ParameterNode>> parameter_nodes;
  struct Mark {
    std::size_t nodes, args, attrs, devices;
  };
  std::vector<Mark> marks;
  // Requested values and gradients, to which users hold references. The pool keeps their memory for
  // the next graph.
  std::pmr::unsynchronized_pool_resource shown_memory;
  std::pmr::unordered_map<std::uint64_t, Tensor> shown_values{&shown_memory};
  std::pmr::unordered_map<std::uint64_t, Tensor> shown_gradients{&shown_memory};
  /// Key of a result of a node in these.
  static std::uint64_t shown_key(NodeId node, std::uint32_t result) {
    return std::uint64_t{result} << 32 | node;
  }

  bool holds(NodeId i, std::uint64_t serial) const {
    return serial >= first_serial.load(std::memory_order_relaxed) && i < store.nodes.size() &&
           store.origins[i].serial == serial;
  }
  std::uint64_t draw_random_key() { return mix_bits(random_key + ++random_count); }
  /// Sets the graph's own device; there must be no nodes. Throws DeviceError.
  void set_device(Device* device) {
    evaluator->use(0, device);
    store.devices[0] = device;
    drop_devices(1);
  }
  /// Index of a device in this graph, assigned on first use. Throws DeviceError.
  std::uint32_t device_index(Device* device);
  /// Flags of a node on a device of this graph.
  std::uint32_t device_flags(std::uint32_t index) const {
    return index << Node::kFirstDeviceBit |
           (store.devices[index]->type == DeviceType::CPU ? 0 : Node::kOnDevice);
  }
  /// Drops the devices from index `count` on, which have no nodes.
  void drop_devices(std::size_t count);
  /// Keeps the first `nodes` nodes, `args` operands and `attrs` attribute words.
  void truncate(std::size_t nodes, std::size_t args, std::size_t attrs) {
    store.nodes.truncate(nodes);
    store.origins.truncate(nodes);
    store.kinds.truncate(nodes);
    store.args.truncate(args);
    store.attrs.truncate(attrs);
  }
  /// Drops shapes and node kinds; there must be no nodes.
  void forget() {
    kinds.forget();
    shapes.forget();
  }
  /// Notes the memory of the present graph.
  void note_memory();
  /// Frees the memory if recent graphs used less than half of it: a server does not keep for ever
  /// what its largest request needed. There must be no nodes.
  void release_if_oversized();
  /// Frees the memory of nodes and of the evaluator, whose only device is the CPU afterwards. There
  /// must be no nodes.
  void release();
  void set_observer(std::unique_ptr<GraphObserver> next) {
    evaluator->set_observer(next.get());
    observer = std::move(next);
  }
  /// Tells the observer that the user called a function which may compute.
  void ask(const char* function, SourceLocation at) {
    if (observer) [[unlikely]]
      observer->ask(function, at);
  }
  void clear() {
    if (observer) [[unlikely]]
      observer->clear(store, evaluator->statistics());
    note_memory();
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

/// Borrows a state from the pool of the process. The pool, the numbers of threads and the list of
/// devices are the only state that graphs share. Without the pool a graph for each sample would
/// allocate its memory again, and a handle to a destroyed graph would read freed memory. The only
/// result that depends on the pool is the default random seed of a graph.
GraphState* borrow_graph_state();
/// Begins a graph in a state without nodes: sets its number and the default settings. Throws
/// DeviceError if the default device cannot be used.
void begin_graph(GraphState& state);
GraphState& state_of(ComputationGraph& graph);
void give_back_graph_state(GraphState* state) noexcept;

}  // namespace dynet
