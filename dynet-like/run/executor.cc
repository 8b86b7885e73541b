#include "dynet-like/run/executor.h"

#include <algorithm>
#include <type_traits>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/isa.h"

namespace dynet {
namespace {

template <class T>
Backend<T> backend_of(const DeviceDescription& device) {
  if (device.type == DeviceType::CPU) return {};
  const auto all = get_device_manager()->get_devices();
  if (std::none_of(all.begin(), all.end(), [&](Device* d) { return d->is(device); }))
    throw DeviceError("there is no such device");
  if constexpr (std::is_same_v<T, float>)
    return Backend<T>(cuda::kDevices.make_backend(device.device_id));
  throw DeviceError("double precision runs on the CPU");
}

}  // namespace

template <class T>
void Executor<T>::forward(NodeId last) {
  const NodeId begin = evaluated();
  if (last < begin) return;
  const Observed observed(settings_.observer, Activity::forward, graph_);
  devices_.begin_pass();
  planner_.start(begin, last + 1, window_sizes());
  settings_.frees = settings_.inference && planner_.cuts();
  while (evaluated() <= last) {
    run(plan_next());
    if (settings_.frees && evaluated() <= last) forward_.free_window(begin, last);
  }
}

template <class T>
const Plan& Executor<T>::plan_next() {
  const Observed observed(settings_.observer, Activity::plan, graph_);
  return planner_.plan(evaluated());
}

// In training, windows keep values in the CPU's caches. A device has no cache that holds a window,
// and every batch costs it a launch.
template <class T>
const WindowSizes* Executor<T>::window_sizes() const {
  const bool on_cpu = devices_.all_on_cpu();
  if (!settings_.inference || graph_.devices.size() > 1)
    return on_cpu && planner_.policy() == PlanPolicy::in_batches ? &kTrainingWindows : nullptr;
  if (inference_windows_) return &*inference_windows_;
  return on_cpu ? &kInferenceWindows : &kDeviceInferenceWindows;
}

template <class T>
void Executor<T>::backward(NodeId loss, bool full, std::uint32_t result) {
  forward(loss);
  const Observed observed(settings_.observer, Activity::backward, graph_);
  backward_.run(loss, full, result);
}

template <class T>
void Executor<T>::run(const Plan& plan) {
  forward_.run(plan);
  unrecorded_ |= settings_.inference;
}

template <class T>
void Executor<T>::invalidate() {
  rewind();
  copies_.reset();
  ++settings_.run;
}

template <class T>
void Executor<T>::rewind() {
  forward_.clear();
  backward_.clear();
  unrecorded_ = false;
}

template <class T>
void Executor<T>::truncate(NodeId size) {
  if (size >= recording_.evaluated) return;
  forward_.truncate(size);
  backward_.truncate(size);
}

template <class T>
void Executor<T>::clear() {
  devices_.forget();
  rewind();
  copies_.reset();
  settings_.run = 0;  // the draws of a seeded graph do not depend on earlier graphs
  for (const auto& c : devices_.contexts()) c->backend.rewind(c->gradients, {});
  devices_.clear();
}

template <class T>
void Executor<T>::release() {
  clear();
  devices_.release();
  forward_.release();
  backward_.release();
  planner_.release();
  copies_.release();
}

template <class T>
std::size_t Executor<T>::value_bytes() const {
  std::size_t sum = 0;
  for (const auto& c : devices_.contexts()) sum += c->values.used() + c->rematerialized.used();
  return sum;
}

template <class T>
std::size_t Executor<T>::gradient_bytes() const {
  std::size_t sum = 0;
  for (const auto& c : devices_.contexts()) sum += c->gradients.used();
  return sum;
}

template <class T>
GraphStatistics Executor<T>::statistics() const {
  return {graph_.nodes.size(), batches(), value_bytes(), gradient_bytes(), isa_name()};
}

// Numbers of a node where the host can read them; `shared`: other graphs write them, too.
template <class T>
T* Executor<T>::on_host(NodeId id, T* numbers, bool shared) {
  Backend<T>& backend = this->backend(id);
  if (!backend.on_device()) return numbers;
  const std::size_t size = graph_.nodes[id].dim.size();
  const T* const read = shared ? backend.read_shared(numbers, size) : backend.read(numbers, size);
  T* const copy = copies_.template allocate_array<T>(size);
  std::copy_n(read, size, copy);
  return copy;
}

template <class T>
void Executor<T>::use(std::size_t index, Device* device) {
  const auto& contexts = devices_.contexts();
  const auto found = std::find_if(contexts.begin(), contexts.end(),
                                  [&](const auto& c) { return c->device.is(*device); });
  auto context = static_cast<std::size_t>(found - contexts.begin());
  if (context == contexts.size()) {
    devices_.add(backend_of<T>(*device), *device);
    contexts[context]->backend.set_precision(precision_);
  }
  devices_.use(index, context);
}

std::unique_ptr<Evaluator<float>> make_evaluator(const GraphStore& graph) {
  return std::make_unique<Executor<float>>(graph, PlanPolicy::in_batches);
}

template class Executor<float>;
template class Executor<double>;

}  // namespace dynet
