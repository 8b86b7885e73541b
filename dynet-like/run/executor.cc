#include "dynet-like/run/executor.h"

namespace dynet {

template <class T>
void Executor<T>::forward(NodeId last) {
  if (last < evaluated()) return;
  devices_.begin_pass();
  run_forward(last);
}

template <class T>
void Executor<T>::backward(NodeId loss, bool full) {
  forward(loss);
  backward_.run(loss, full);
}

template <class T>
void Executor<T>::run_forward(NodeId last) {
  const NodeId begin = evaluated();
  const bool on_cpu = devices_.all_on_cpu();
  const bool frees = settings_.inference && graph_.devices.size() == 1;
  settings_.frees = false;
  // A device has no cache that holds a window, and every batch costs it a launch.
  if (!frees && (planner_.policy() == PlanPolicy::in_order || !on_cpu))
    return run(plans_.plan(graph_, begin, last + 1, planner_));
  const WindowSizes& sizes = on_cpu ? kInferenceWindows : kDeviceInferenceWindows;
  Windows windows(graph_, begin, last + 1,
                  frees ? inference_windows_.value_or(sizes) : kTrainingWindows);
  settings_.frees = frees && windows.cuts();
  while (evaluated() <= last) {
    const Plan& plan = plans_.plan(graph_, evaluated(), windows.end_of(evaluated()), planner_);
    if (!windows.accept(plan)) continue;
    run(plan);
    if (settings_.frees && evaluated() <= last) forward_.free_window(begin, last);
  }
}

template <class T>
void Executor<T>::run(const Plan& plan) {
  forward_.run(plan);
  unrecorded_ |= settings_.inference;
}

template <class T>
void Executor<T>::invalidate() {
  rewind();
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
  settings_.run = 0;  // what a seeded graph draws depends on nothing that was in it before
  for (const auto& c : devices_.contexts()) c->backend.rewind(c->gradients, {});
  devices_.clear();
}

template <class T>
void Executor<T>::release() {
  clear();
  devices_.release();
  forward_.release();
  backward_.release();
  plans_.release();
  planner_.release();
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

template class Executor<float>;
template class Executor<double>;

}  // namespace dynet
