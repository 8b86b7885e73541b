#include "dynet-like/graph/graph_state.h"

#include <algorithm>
#include <mutex>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/base/random.h"
#include "dynet-like/graph/computation_graph.h"

namespace dynet {
namespace {

struct StatePool {
  std::mutex mutex;
  std::vector<GraphState*> idle;
  std::size_t states = 0;
  std::atomic<std::uint64_t> graphs = 0;
};

// Never destroyed: a destructor that runs after all others may still use an Expression.
StatePool& pool() {
  static StatePool* const p = new StatePool;
  return *p;
}

}  // namespace

std::uint32_t GraphState::device_index(Device* device) {
  std::vector<Device*>& devices = store.devices;
  for (std::uint32_t p = 0; p < devices.size(); ++p)
    if (devices[p]->is(*device)) return p;
  if (devices.size() == Node::kMostDevices) throw DeviceError("a graph has at most 256 devices");
  devices.reserve(devices.size() + 1);
  evaluator->use(devices.size(), device);
  devices.push_back(device);
  on_device |= device->type != DeviceType::CPU;
  return static_cast<std::uint32_t>(devices.size() - 1);
}

void GraphState::drop_devices(std::size_t count) {
  store.devices.resize(count);
  on_device = std::any_of(store.devices.begin(), store.devices.end(),
                          [](Device* d) { return d->type != DeviceType::CPU; });
}

void GraphState::note_memory() {
  if (store.nodes.empty()) return;
  // Node, origin, kind, operands and the lists of planning and of both passes.
  constexpr std::size_t kBytesPerNode = 200;
  const GraphStatistics used = evaluator->statistics();
  const std::size_t bytes =
      kBytesPerNode * store.nodes.size() + used.value_bytes + used.gradient_bytes;
  most_bytes = std::max(most_bytes, bytes);
  recent_bytes = std::max(bytes, recent_bytes - recent_bytes / 8);
}

void GraphState::release_if_oversized() {
  constexpr std::size_t kAlwaysKept = std::size_t{4} << 20;
  // Devices have pools of their own, and waiting for them costs more.
  if (most_bytes > kAlwaysKept && recent_bytes < most_bytes / 2 && !on_device) release();
}

void GraphState::release() {
  store.nodes = {};
  store.origins = {};
  store.kinds = {};
  kinds.release();
  shapes.release();
  store.args = {};
  store.attrs = {};
  evaluator->release();
  set_device(&kCpu);  // the only device after `release`
  most_bytes = recent_bytes = 0;
}

GraphState* borrow_graph_state() {
  StatePool& p = pool();
  GraphState* state = nullptr;
  {
    const std::lock_guard lock(p.mutex);
    if (!p.idle.empty()) {
      state = p.idle.back();
      p.idle.pop_back();
    } else {
      p.idle.reserve(++p.states);  // so that give_back_graph_state cannot fail
    }
  }
  if (!state) {
    auto fresh = std::make_unique<GraphState>();
    fresh->evaluator = make_evaluator(fresh->store);
    state = fresh.release();
  }
  try {
    begin_graph(*state);
  } catch (...) {
    give_back_graph_state(state);
    throw;
  }
  return state;
}

void begin_graph(GraphState& state) {
  state.release_if_oversized();
  state.number = pool().graphs.fetch_add(1, std::memory_order_relaxed) + 1;
  const ProcessHooks* process = find_process_hooks();
  Device* const device = process ? process->device() : &kCpu;
  state.random_key = process ? process->graph_seed() : mix_bits(state.number);
  state.random_count = 0;
  state.immediate = false;
  if (!state.store.devices[0]->is(*device)) state.set_device(device);
  state.inference = false;
  state.evaluator->set_precision(Precision::float32);
  state.evaluator->set_check_validity(false);
  state.evaluator->set_batching(true);
  state.evaluator->set_gradient_buffer(std::nullopt);
  state.evaluator->set_inference(false);
  state.evaluator->set_interrupt(nullptr);
  if (Observer* const observer = find_observer()) state.set_observer(observer->watch());
}

void give_back_graph_state(GraphState* state) noexcept {
  state->clear();
  state->set_observer(nullptr);
  state->owner = nullptr;
  StatePool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.idle.push_back(state);
}

int get_number_of_active_graphs() {
  StatePool& p = pool();
  const std::lock_guard lock(p.mutex);
  return static_cast<int>(p.states - p.idle.size());
}

unsigned get_current_graph_id() {
  return static_cast<unsigned>(pool().graphs.load(std::memory_order_relaxed));
}

void release_graph_memory() {
  StatePool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (GraphState* s : p.idle) s->release();
  if (const cuda::Devices* devices = &cuda::kDevices) devices->trim_memory();
}

}  // namespace dynet
