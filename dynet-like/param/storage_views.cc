// Views in storages, for programs written to DyNet.

#include <algorithm>
#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

void check_factor(const char* who, const ParameterStorageBase& p, float s) {
  if (!std::isfinite(s))
    throw ArgumentError(std::string(who) + ": the factor must be finite, got " + std::to_string(s) +
                        " for the parameter " + p.name);
}

void scale_floats(float* v, std::size_t n, float s) {
  for (std::size_t i = 0; i < n; ++i) v[i] *= s;
}

void add_to(const GradientSlot& slot, const float* g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) slot.g[i] = slot.written ? slot.g[i] + g[i] : g[i];
}

void need_size(const ParameterStorageBase& p, const Dim& expected, const Dim& got) {
  if (got.size() != expected.size())
    throw ShapeError("the parameter " + p.name + " needs values of " + to_string(expected) +
                     ", got " + to_string(got));
}

void copy_values(ParameterStorageBase& to, ParameterStorageBase& from) {
  if (to.full_dim() != from.full_dim())
    throw ShapeError("the parameters " + to.name + " and " + from.name + " have the shapes " +
                     to_string(to.full_dim()) + " and " + to_string(from.full_dim()));
  from.copy_to_host();
  to.copy_to_host();
  std::copy_n(from.data, to.size(), to.data);
  to.changed();
}

float squared_sum(const float* v, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(v[i]) * v[i];
  return static_cast<float>(sum);
}

}  // namespace

void ParameterStorageBase::check_row(std::size_t row) const {
  if (row >= rows)
    throw IndexError("lookup parameter " + name + ": row " + std::to_string(row) +
                     " is outside the " + std::to_string(rows) + " rows");
}

void ParameterStorageBase::zero() {
  copy_to_host();
  std::fill_n(data, size(), 0.0f);
  changed();
}

void ParameterStorageBase::scale_parameters(float s) {
  check_factor("scale", *this, s);
  copy_to_host();
  scale_floats(data, size(), s);
  changed();
}

void ParameterStorageBase::scale_gradient(float s) {
  check_factor("scale_gradient", *this, s);
  GradientBuffer* buffer = bank->gradients.merge();
  if (!buffer) return;
  if (!is_lookup) {
    if (float* g = buffer->find(index)) scale_floats(g, size(), s);
  } else if (RowGradients* r = buffer->find_rows(index)) {
    if (r->whole_written()) scale_floats(r->whole(), size(), s);
    for (std::size_t k = 0; k < r->rows().size(); ++k)
      scale_floats(r->row_gradient(k), row_size(), s);
  }
}

void ParameterStorageBase::clear() {
  is_lookup ? bank->gradients.forget_rows(index) : bank->gradients.forget(index);
}

bool ParameterStorageBase::has_grad() const {
  const GradientBuffer* const sum = bank->gradients.merge();
  return sum && (is_lookup ? sum->find_rows(index) != nullptr : sum->find(index) != nullptr);
}

void ParameterStorageBase::squared_l2norm(float* sum) const {
  const_cast<ParameterStorageBase*>(this)->copy_to_host();
  *sum = squared_sum(data, size());
}

void ParameterStorageBase::g_squared_l2norm(float* sum) const {
  *sum = static_cast<float>(
      gradient_squared_norm(*bank, [this](const ParameterStorageBase& p) { return &p == this; }));
}

ParameterStorage& ParameterStorage::show_values() {
  copy_to_host();
  may_change();
  return *this;
}

ParameterStorage& ParameterStorage::show_gradient() {
  float* const now = bank->gradients.merged().show(index, size());
  if (g.v != now) g = {dim, now, &kCpu, DeviceMempool::PS};  // usually unchanged
  return *this;
}

ParameterStorage& ParameterStorage::show() {
  nonzero_grad = has_grad();
  show_gradient();
  return show_values();
}

void ParameterStorage::set_value(const std::vector<float>& numbers) {
  if (numbers.size() != size())
    throw ArgumentError("parameter " + name + " " + to_string(dim) + " needs " +
                        std::to_string(size()) + " values, got " + std::to_string(numbers.size()));
  copy_to_host();
  std::copy(numbers.begin(), numbers.end(), data);
  changed();
}

void ParameterStorage::clip(float left, float right) {
  if (!(left <= right))
    throw ArgumentError("clip_inplace: needs left <= right, got " + std::to_string(left) + " and " +
                        std::to_string(right) + " for the parameter " + name);
  copy_to_host();
  for (std::size_t i = 0; i < size(); ++i) data[i] = std::clamp(data[i], left, right);
  changed();
}

void ParameterStorage::copy(const ParameterStorage& other) {
  copy_values(*this, const_cast<ParameterStorage&>(other));  // copied to the host
}

void ParameterStorage::accumulate_grad(const Tensor& gradient) {
  need_size(*this, dim, gradient.d);
  add_to(bank->gradients.mine().use(index, size()), gradient.v, size());
}

LookupParameterStorage& LookupParameterStorage::show_values() {
  copy_to_host();
  may_change();
  const std::lock_guard lock(bank->on_device);
  if (values.size() != rows)
    for (std::size_t i = 0; i < rows; ++i)
      values.emplace_back(dim, data + i * row_size(), &kCpu, DeviceMempool::PS);
  return *this;
}

LookupParameterStorage& LookupParameterStorage::show() {
  GradientBuffer& sum = bank->gradients.merged();
  const RowGradients* const used = sum.find_rows(index);
  nonzero_grad = used != nullptr;
  non_zero_grads.clear();
  for (unsigned row = 0; used && row < rows; ++row)
    if (used->gradient_of(row)) non_zero_grads.insert(row);
  all_updated = non_zero_grads.size() == rows;
  float* const now = sum.rows(index, rows, row_size()).show();
  if (all_grads.v != now || grads.size() != rows) {
    all_grads = {all_dim, now, &kCpu, DeviceMempool::PS};
    grads.clear();
    for (std::size_t i = 0; i < rows; ++i)
      grads.emplace_back(dim, now + i * row_size(), &kCpu, DeviceMempool::PS);
  }
  return show_values();
}

void LookupParameterStorage::initialize(unsigned row, const std::vector<float>& numbers) {
  check_row(row);
  if (numbers.size() != row_size())
    throw ArgumentError("lookup parameter " + name + " has rows of " + std::to_string(row_size()) +
                        " values, got " + std::to_string(numbers.size()));
  copy_to_host();
  std::copy(numbers.begin(), numbers.end(), data + row * row_size());
  changed();
}

void LookupParameterStorage::copy(const LookupParameterStorage& other) {
  copy_values(*this, const_cast<LookupParameterStorage&>(other));
}

void LookupParameterStorage::accumulate_grad(unsigned row, const Tensor& gradient) {
  check_row(row);
  need_size(*this, dim, gradient.d);
  RowGradients& to = bank->gradients.mine().rows(index, rows, row_size());
  add_to(to.use_row(row), gradient.v, row_size());
}

void LookupParameterStorage::accumulate_grad(const Tensor& gradient) {
  need_size(*this, all_dim, gradient.d);
  RowGradients& to = bank->gradients.mine().rows(index, rows, row_size());
  add_to(to.use_whole(), gradient.v, size());
}

void L2WeightDecay::set_lambda(float lambda) {
  check_weight_decay(lambda, of_->parent != nullptr);
  of_->weight_decay = lambda;
}

float ParameterCollectionStorage::gradient_l2_norm() const {
  double sum = 0;
  for (const auto& p : all_params) {
    float squares = 0;
    if (p->updated) p->g_squared_l2norm(&squares);
    sum += static_cast<double>(squares);
  }
  return static_cast<float>(std::sqrt(sum));
}

ParameterCollectionStorage& ParameterCollection::storage() const {
  if (!storage_)
    storage_ = std::make_shared<ParameterCollectionStorage>(
        ParameterCollectionStorage{{}, {}, {}, L2WeightDecay(*node_)});
  return *storage_;
}

ParameterCollectionStorage& ParameterCollection::get_storage() const {
  ParameterCollectionStorage& s = storage();
  s.params = parameters_list();
  s.lookup_params = lookup_parameters_list();
  s.all_params.assign(s.params.begin(), s.params.end());
  s.all_params.insert(s.all_params.end(), s.lookup_params.begin(), s.lookup_params.end());
  return s;
}

namespace {

template <class List>
auto find_storage(const List& list, const std::string& name) {
  for (const auto& p : list)
    if (p.get_fullname() == name) return p;
  throw ArgumentError("there is no parameter " + name + " in the collection");
}

}  // namespace

std::shared_ptr<ParameterStorage> ParameterCollection::get_parameter_storage(
    const std::string& name) const {
  return find_storage(parameters_list(), name);
}

std::shared_ptr<LookupParameterStorage> ParameterCollection::get_lookup_parameter_storage(
    const std::string& name) const {
  return find_storage(lookup_parameters_list(), name);
}

void ParameterCollectionStorage::project_weights(float) const {
  double sum = 0;
  for (const auto& p : all_params) {
    float squares = 0;
    p->squared_l2norm(&squares);
    sum += static_cast<double>(squares);
  }
  if (const ProcessHooks* process = find_process_hooks())
    process->print("NORM: " + std::to_string(std::sqrt(sum)) + "\n");
}

}  // namespace dynet
