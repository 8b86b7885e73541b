#include "dynet-like/run/capture.h"

#include <algorithm>
#include <utility>

namespace dynet {
namespace {

template <class... T>
std::size_t bytes_of(const PodVector<T>&... all) {
  return ((all.capacity() * sizeof(T)) + ...);
}

}  // namespace

template <class T>
std::size_t CapturedGradients<T>::bytes() const {
  return lists.capacity() + bytes_of(slots, calls, moving, states);
}

template <class T>
void CapturedGradients<T>::add_rows(std::size_t count, const NodeId* ids, T* const* gradients,
                                    T* const* rows) {
  CapturedCall<T> call{};
  call.kind = CapturedCall<T>::rows;
  call.count = static_cast<std::uint32_t>(count);
  call.ids = copy(ids, count);
  call.d_outs = copy(gradients, count);
  call.auxs = copy(rows, count);
  calls.push_back(call);
}

template <class T>
void CapturedGradients<T>::clear() {
  complete = false;
  misses = 0;
  slots.clear();
  calls.clear();
  moving.clear();
  states.clear();
  lists.reset();
}

template <class T>
std::size_t Capture<T>::bytes() const {
  return sizeof(*this) + lists.capacity() + gradients.bytes() +
         bytes_of(value, aux, memory, given, outside, redone, moving, moves);
}

template <class T>
std::uint64_t Captures<T>::key(const Plan& plan) const {
  return plan.number << 32 | (last() ? last()->number : 0);
}

template <class T>
Capture<T>* Captures<T>::find(const Plan& plan) {
  if (plan.number == 0 || (!run_.empty() && !last())) return nullptr;
  const auto found = all_.find(key(plan));
  if (found == all_.end()) return nullptr;
  found->second->used = ++time_;
  return found->second.get();
}

template <class T>
bool Captures<T>::is_worth_it(const Plan& plan) {
  if (plan.number == 0 || (!run_.empty() && !last()) || plan.end > kMost) return false;
  if (seen_.empty()) seen_.resize(kSeen);
  const std::uint64_t k = key(plan);
  return std::exchange(seen_[(k ^ k >> 32) * 0x9e3779b97f4a7c15u >> 54], k) == k;
}

template <class T>
Capture<T>* Captures<T>::add(const Plan& plan, std::unique_ptr<Capture<T>> capture) {
  capture->number = ++numbers_;
  capture->used = ++time_;
  grown_ = true;
  std::unique_ptr<Capture<T>>& at = all_[key(plan)];
  at = std::move(capture);
  return at.get();
}

template <class T>
void Captures<T>::push(Capture<T>* capture) {
  run_.push_back(capture);
}

template <class T>
void Captures<T>::forget_last() {
  if (!last()) return;
  const auto at = std::find_if(all_.begin(), all_.end(),
                               [&](const auto& c) { return c.second.get() == last(); });
  forgotten_.push_back(std::move(at->second));
  all_.erase(at);
  run_.back() = nullptr;
}

template <class T>
bool Captures<T>::moves(NodeId node) const {
  for (std::size_t k = run_.size(); k-- > 0;)
    if (node >= run_[k]->begin) return run_[k]->moves_at(node);
  return false;
}

// Evicts the older half if the captures take too many bytes.
template <class T>
void Captures<T>::clear() {
  run_.clear();
  forgotten_.clear();
  if (!std::exchange(grown_, false) || bytes() < kBytes) return;
  std::vector<std::uint64_t> times;
  for (const auto& [key, c] : all_) times.push_back(c->used);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(all_, [&](const auto& c) { return c.second->used < *middle; });
}

template <class T>
std::size_t Captures<T>::bytes() const {
  std::size_t sum = 0;
  for (const auto& [key, c] : all_) sum += c->bytes();
  return sum;
}

template <class T>
void Captures<T>::release() {
  clear();
  all_.clear();
  seen_ = {};
}

template class Captures<float>;
template class Captures<double>;
template struct Capture<float>;
template struct Capture<double>;
template struct CapturedGradients<float>;
template struct CapturedGradients<double>;

}  // namespace dynet
