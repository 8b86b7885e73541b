#include "dynet-like/param/parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/param/norm.h"
#include "dynet-like/param/on_device.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

std::uint64_t hash_name(const std::string& name) {  // FNV-1a
  std::uint64_t h = 14695981039346656037u;
  for (unsigned char c : name) h = (h ^ c) * 1099511628211u;
  return h;
}

ParameterStorage& dense(const Parameter& p) { return static_cast<ParameterStorage&>(p.stored()); }

LookupParameterStorage& table(const LookupParameter& p) {
  return static_cast<LookupParameterStorage&>(p.stored());
}

template <class S>
std::shared_ptr<S> handle(const std::shared_ptr<ParameterBank>& bank, ParameterStorageBase& p) {
  return {bank, &static_cast<S&>(p)};
}

}  // namespace

ParameterStorageBase& ParameterHandle::stored() const {
  if (!p_) throw ArgumentError("a Parameter was used that belongs to no ParameterCollection");
  return *p_;
}

const std::string& ParameterHandle::get_fullname() const { return stored().name; }

float ParameterHandle::weight_decay_lambda() const {
  return stored().collection->effective_weight_decay();
}

template <class S>
void TrainedHandle<S>::set_updated(bool b) const {
  stored().updated = b;
}

template <class S>
bool TrainedHandle<S>::is_updated() const {
  return stored().updated;
}

template <class S>
const Dim& TrainedHandle<S>::dim() const {
  return stored().dim;
}

template <class S>
void TrainedHandle<S>::zero() const {
  stored().zero();
}

template <class S>
void TrainedHandle<S>::scale(float s) const {
  stored().scale_parameters(s);
}

template <class S>
void TrainedHandle<S>::scale_gradient(float s) const {
  stored().scale_gradient(s);
}

template class TrainedHandle<ParameterStorage>;
template class TrainedHandle<LookupParameterStorage>;

ParameterView Parameter::values() const { return ParameterView(dense(*this).show_values().values); }

ParameterView Parameter::gradients() const { return ParameterView(dense(*this).show_gradient().g); }

void Parameter::set_value(const std::vector<float>& values) const {
  dense(*this).set_value(values);
}

void Parameter::clip_inplace(float left, float right) const { dense(*this).clip(left, right); }

void LookupParameter::initialize(unsigned index, const std::vector<float>& values) const {
  table(*this).initialize(index, values);
}

RowViews LookupParameter::values() const { return RowViews(table(*this).show_values().values); }

std::size_t LookupParameter::size() const { return stored().rows; }

float L2WeightDecay::get_lambda() const { return of_->effective_weight_decay(); }

Tensor LookupParameter::row(unsigned index) const {
  ParameterStorageBase& s = stored();
  s.check_row(index);
  s.copy_to_host();
  s.may_change();
  return {s.dim, s.data + index * s.row_size()};
}

std::vector<float> LookupParameter::row_gradient(unsigned index) const {
  ParameterStorageBase& s = stored();
  s.check_row(index);
  std::vector<float> g(s.row_size(), 0.0f);
  const GradientBuffer* const sum = s.bank->gradients.merge();
  const RowGradients* const r = sum ? sum->find_rows(s.index) : nullptr;
  if (const float* from = r ? r->gradient_of(index) : nullptr)
    std::copy_n(from, g.size(), g.begin());
  return g;
}

ParameterCollection::ParameterCollection()
    : ParameterCollection(find_process_hooks() ? find_process_hooks()->weight_decay() : 0.0f) {}

ParameterCollection::ParameterCollection(float weight_decay_lambda)
    : bank_(std::make_shared<ParameterBank>()), node_(&bank_->root) {
  if (const ProcessHooks* process = find_process_hooks()) set_seed(process->collection_seed());
  set_weight_decay_lambda(weight_decay_lambda);
}

void ParameterCollection::set_seed(std::uint64_t seed) { bank_->seed = seed; }

std::uint64_t ParameterCollection::get_seed() const { return bank_->seed; }

void ParameterCollection::set_room(std::uint64_t numbers) { bank_->room = numbers; }

void ParameterCollection::skip_initialization() { bank_->initializes = false; }

const std::string& ParameterCollection::get_fullname() const { return node_->fullname; }

float ParameterCollection::get_weight_decay_lambda() const {
  return node_->effective_weight_decay();
}

ParameterStorageBase& ParameterCollection::add(const std::string& name, const Dim& d,
                                               std::size_t rows, bool is_lookup,
                                               const ParameterInit& init, Device* device) {
  ParameterStorageBase& p = bank_->add(*node_, name, d, rows, is_lookup);
  p.device = device ? device : node_->effective_device();
  if (!bank_->initializes) return p;
  Tensor values{p.full_dim(), p.data};
  try {
    init.initialize(values, RandomStream(mix_bits(bank_->seed) ^ hash_name(p.name)));
  } catch (...) {
    bank_->room += p.size();
    (is_lookup ? bank_->tables : bank_->parameters).pop_back();
    --node_->used_names[name];
    throw;
  }
  return p;
}

Parameter ParameterCollection::add_parameters(const Dim& d, DeviceArgument device,
                                              SourceLocation at) {
  return add_parameters(d, "", device, at);
}

Parameter ParameterCollection::add_parameters(const Dim& d, const std::string& name,
                                              DeviceArgument device, SourceLocation at) {
  return add_parameters(d, ParameterInitGlorot(), name, device, at);
}

Parameter ParameterCollection::add_parameters(const Dim& d, float scale, const std::string& name,
                                              DeviceArgument device, SourceLocation at) {
  if (scale == 0.0f) return add_parameters(d, name, device, at);
  return add_parameters(d, ParameterInitUniform(scale), name, device, at);
}

Parameter ParameterCollection::add_parameters(const Dim& d, const ParameterInit& init,
                                              const std::string& name, DeviceArgument device,
                                              SourceLocation at) {
  return handle<ParameterStorage>(bank_,
                                  add(name, d, 1, false, init, device.get("add_parameters", at)));
}

LookupParameter ParameterCollection::add_lookup_parameters(unsigned n, const Dim& d,
                                                           const std::string& name,
                                                           DeviceArgument device,
                                                           SourceLocation at) {
  return add_lookup_parameters(n, d, ParameterInitGlorot(true), name, device, at);
}

LookupParameter ParameterCollection::add_lookup_parameters(unsigned n, const Dim& d,
                                                           const ParameterInit& init,
                                                           const std::string& name,
                                                           DeviceArgument device,
                                                           SourceLocation at) {
  return handle<LookupParameterStorage>(
      bank_, add(name, d, n, true, init, device.get("add_lookup_parameters", at)));
}

ParameterCollection ParameterCollection::add_subcollection(const std::string& name,
                                                           float weight_decay_lambda) {
  check_weight_decay(weight_decay_lambda, true);
  auto child = std::make_unique<CollectionNode>();
  child->fullname = unique_name(*node_, name) + "/";
  child->parent = node_;
  child->weight_decay = weight_decay_lambda;
  node_->children.push_back(std::move(child));
  return {bank_, node_->children.back().get()};
}

void ParameterCollection::set_device(Device* device) {
  const auto set_below = [&](const auto& self, CollectionNode& node) -> void {
    node.device = nullptr;
    for (const auto& child : node.children) self(self, *child);
  };
  set_below(set_below, *node_);
  node_->device = device;
  for (const auto* list : {&bank_->parameters, &bank_->tables})
    for (const auto& p : *list)
      if (node_->contains(p->collection)) p->device = node_->effective_device();
}

const HandleList<Parameter, ParameterStorage> ParameterCollection::parameters_list() const {
  HandleList<Parameter, ParameterStorage> list;
  for (auto& p : bank_->parameters)
    if (node_->contains(p->collection)) list.push_back(handle<ParameterStorage>(bank_, *p));
  return list;
}

const HandleList<LookupParameter, LookupParameterStorage>
ParameterCollection::lookup_parameters_list() const {
  HandleList<LookupParameter, LookupParameterStorage> list;
  for (auto& p : bank_->tables)
    if (node_->contains(p->collection)) list.push_back(handle<LookupParameterStorage>(bank_, *p));
  return list;
}

std::size_t ParameterCollection::size() const {
  return parameters_list().size() + lookup_parameters_list().size();
}

std::size_t ParameterCollection::parameter_count() const {
  std::size_t n = 0;
  for (const Parameter& p : parameters_list()) n += p.stored().size();
  for (const LookupParameter& p : lookup_parameters_list()) n += p.stored().size();
  return n;
}

std::size_t ParameterCollection::updated_parameter_count() const {
  std::size_t n = 0;
  for (const Parameter& p : parameters_list()) n += p.is_updated() ? p.stored().size() : 0;
  for (const LookupParameter& p : lookup_parameters_list())
    n += p.is_updated() ? p.stored().size() : 0;
  return n;
}

float ParameterCollection::gradient_l2_norm() const {
  const auto trained = [this](const ParameterStorageBase& p) {
    return p.updated && node_->contains(p.collection);
  };
  return static_cast<float>(std::sqrt(gradient_squared_norm(*bank_, trained)));
}

void ParameterCollection::reset_gradient() { forget_gradients(*bank_, *node_); }

void ParameterCollection::set_weight_decay_lambda(float lambda) {
  check_weight_decay(lambda, node_->parent != nullptr);
  node_->weight_decay = lambda;
}

void values_changed(ParameterBank& bank, const ParameterFilter& which) {
  bank.changes.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(bank.on_device);
  for (auto* all : {&bank.parameters, &bank.tables})
    for (auto& p : *all)
      if (which(*p)) p->drop_copies();
}

double gradient_squared_norm(ParameterBank& bank, const ParameterFilter& which) {
  const GradientBuffer* const all = bank.gradients.merge();
  if (!all) return 0;
  double sum = 0;
  for (auto& p : bank.parameters)
    if (which(*p))
      if (const float* g = all->find(p->index)) sum += squared_norm(g, p->size());
  for (auto& p : bank.tables) {
    const RowGradients* const r = which(*p) ? all->find_rows(p->index) : nullptr;
    for (std::uint32_t row = 0; r && row < p->rows; ++row)
      if (const float* g = r->gradient_of(row)) sum += squared_norm(g, p->row_size());
  }
  return sum;
}

void forget_gradients(ParameterBank& bank, const CollectionNode& root) {
  if (!root.parent) {
    bank.gradients.clear();
    return;
  }
  forget_gradients(bank,
                   [&](const ParameterStorageBase& p) { return root.contains(p.collection); });
}

void forget_gradients(ParameterBank& bank, const ParameterFilter& which) {
  for (auto& p : bank.parameters)
    if (which(*p)) bank.gradients.forget(p->index);
  for (auto& p : bank.tables)
    if (which(*p)) bank.gradients.forget_rows(p->index);
}

}  // namespace dynet
