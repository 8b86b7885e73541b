#include "dynet-like/exec/executor.h"

#include <chrono>

#include "dynet-like/plan/windows.h"

namespace dynet {

// Time is looked at only where it decides something.
template <class T>
template <class F>
void Executor<T>::timed(SharingChoice::Pass pass, F&& run) {
  if (!settings_.workers) return run();
  const NodeId before = pass == SharingChoice::Pass::forward ? evaluated() : 0;
  const auto begin = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  if (const NodeId nodes = evaluated() - before) sharing_.note(pass, passed.count() / nodes);
}

template <class T>
void Executor<T>::forward(NodeId last) {
  if (last < evaluated()) return;
  if (settings_.workers && evaluated() == 0) settings_.shares = sharing_.begin_graph();
  devices_.begin_pass();
  timed(SharingChoice::Pass::forward, [&] { run_forward(last); });
}

template <class T>
void Executor<T>::backward(NodeId loss, bool full) {
  forward(loss);
  timed(SharingChoice::Pass::backward, [&] { backward_.run(loss, full); });
}

template <class T>
void Executor<T>::set_workers(Workers* workers) {
  settings_.workers = workers;
  if (!workers || workers == helped_) return;
  helped_ = workers;
  sharing_ = {};
  settings_.shares = true;
}

template <class T>
void Executor<T>::run_forward(NodeId last) {
  // A device has no cache that holds a window, and every batch costs it a launch.
  if (!planner_.uses_windows() || !devices_.all_on_cpu())
    return run(plans_.plan(graph_, evaluated(), last + 1, planner_));
  for (Windows windows(graph_, evaluated(), last + 1); evaluated() <= last;)
    if (const Plan& plan = plans_.plan(graph_, evaluated(), windows.end_of(evaluated()), planner_);
        windows.accept(plan))
      run(plan);
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
