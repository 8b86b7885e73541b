#include "dynet-like/exec/executor.h"

#include "dynet-like/plan/windows.h"

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
