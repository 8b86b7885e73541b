#include "dynet-like/param/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"
#include "dynet-like/param/gradient_reader.h"

namespace dynet {
namespace {

std::uint64_t hash_name(const std::string& name) {  // FNV-1a
  std::uint64_t h = 14695981039346656037u;
  for (unsigned char c : name) h = (h ^ c) * 1099511628211u;
  return h;
}

// Negative: that of the collection around it, if there is one.
void check_weight_decay(float lambda, bool inherits) {
  if (lambda < 1.0f && lambda >= (inherits ? std::numeric_limits<float>::lowest() : 0.0f)) return;
  throw ArgumentError(std::string("weight_decay_lambda must be ") +
                      (inherits ? "finite and below 1" : "at least 0 and below 1") + ", got " +
                      std::to_string(lambda));
}

void check_factor(const char* who, const ParameterStorage& p, float s) {
  if (!std::isfinite(s))
    throw ArgumentError(std::string(who) + ": the factor must be finite, got " + std::to_string(s) +
                        " for the parameter " + p.name);
}

void scale_floats(float* v, std::size_t n, float s) {
  for (std::size_t i = 0; i < n; ++i) v[i] *= s;
}

// Written as a vector because a loop over an array of sums does not become one.
typedef float Sums __attribute__((vector_size(64)));
constexpr std::size_t kSums = sizeof(Sums) / sizeof(float);

double squared_norm(const float* v, std::size_t n) {
  // Blocks of floats in 64 sums, then double: fast, and exact enough for any size.
  constexpr std::size_t kBlock = 4096;
  double total = 0;
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t end = std::min(n, at + kBlock);
    Sums s[4] = {};
    std::size_t i = at;
    for (; i + 4 * kSums <= end; i += 4 * kSums) {
      Sums x[4];
      std::memcpy(x, v + i, sizeof x);
      s[0] += x[0] * x[0];
      s[1] += x[1] * x[1];
      s[2] += x[2] * x[2];
      s[3] += x[3] * x[3];
    }
    double block = 0;
    for (; i < end; ++i) block += static_cast<double>(v[i]) * v[i];
    const Sums sum = (s[0] + s[1]) + (s[2] + s[3]);
    for (std::size_t k = 0; k < kSums; ++k) block += sum[k];
    if (!(block > 1e-25 && block < 1e38)) {  // squares outside the range of float
      block = 0;
      for (i = at; i < end; ++i) block += static_cast<double>(v[i]) * v[i];
    }
    total += block;
  }
  return total;
}

void check_row(const ParameterStorage& p, std::size_t index) {
  if (index >= p.rows)
    throw IndexError("lookup parameter " + p.name + ": row " + std::to_string(index) +
                     " is outside the " + std::to_string(p.rows) + " rows");
}

}  // namespace

ParameterStorage& ParameterHandle::get() const {
  if (!p_) throw ArgumentError("a Parameter was used that belongs to no ParameterCollection");
  return *p_;
}

void ParameterHandle::zero() {
  get().settle_all();
  std::fill_n(get().values, get().size(), 0.0f);
  get().changed();
}

void ParameterHandle::scale(float s) {
  check_factor("scale", get(), s);
  get().settle_all();
  scale_floats(get().values, get().size(), s);
  get().changed();
}

void ParameterHandle::scale_gradient(float s) {
  ParameterStorage& p = get();
  check_factor("scale_gradient", p, s);
  GradientLane* lane = p.bank->gradients.merge();
  if (!lane) return;
  if (!p.is_lookup) {
    if (float* g = lane->find(p.index)) scale_floats(g, p.size(), s);
  } else if (RowGradients* r = lane->find_rows(p.index)) {
    if (r->whole_written()) scale_floats(r->whole(), p.size(), s);
    for (std::size_t k = 0; k < r->rows().size(); ++k)
      scale_floats(r->row_gradient(k), p.row_size(), s);
  }
}

ParameterView Parameter::values() const {
  get().settle_all();
  get().may_change();
  return {get().dim, get().values};
}

ParameterView Parameter::gradients() const {
  ParameterStorage& p = get();
  return {p.dim, p.bank->gradients.show(p.index, p.size())};
}

void Parameter::set_value(const std::vector<float>& values) {
  ParameterStorage& p = get();
  if (values.size() != p.size())
    throw ArgumentError("parameter " + p.name + " " + to_string(p.dim) + " needs " +
                        std::to_string(p.size()) + " values, got " + std::to_string(values.size()));
  p.settle_all();
  std::copy(values.begin(), values.end(), p.values);
  p.changed();
}

void Parameter::clip_inplace(float left, float right) {
  if (!(left <= right))
    throw ArgumentError("clip_inplace: needs left <= right, got " + std::to_string(left) + " and " +
                        std::to_string(right) + " for the parameter " + get().name);
  get().settle_all();
  float* v = get().values;
  for (std::size_t i = 0; i < get().size(); ++i) v[i] = std::clamp(v[i], left, right);
  get().changed();
}

void LookupParameter::initialize(unsigned index, const std::vector<float>& values) {
  ParameterStorage& p = get();
  check_row(p, index);
  if (values.size() != p.row_size())
    throw ArgumentError("lookup parameter " + p.name + " has rows of " +
                        std::to_string(p.row_size()) + " values, got " +
                        std::to_string(values.size()));
  p.settle(index);
  std::copy(values.begin(), values.end(), p.values + index * p.row_size());
  p.changed();
}

Tensor LookupParameter::row(unsigned index) const {
  check_row(get(), index);
  get().settle(index);
  get().may_change();
  return {get().dim, get().values + index * get().row_size()};
}

std::vector<Tensor> LookupParameter::values() const {
  std::vector<Tensor> rows;
  for (unsigned i = 0; i < get().rows; ++i) rows.push_back(row(i));
  return rows;
}

std::vector<float> LookupParameter::row_gradient(unsigned index) const {
  ParameterStorage& p = get();
  check_row(p, index);
  std::vector<float> g(p.row_size(), 0.0f);
  GradientReader reader(p.bank->gradients);
  if (const float* from = reader.find_row(p.index, index)) std::copy_n(from, g.size(), g.begin());
  return g;
}

ParameterCollection::ParameterCollection()
    : ParameterCollection(find_process_hooks() ? find_process_hooks()->weight_decay() : 0.0f) {}

ParameterCollection::ParameterCollection(float weight_decay_lambda)
    : bank_(std::make_shared<ParameterBank>()), node_(&bank_->root) {
  if (const ProcessHooks* process = find_process_hooks()) set_seed(process->collection_seed());
  set_weight_decay_lambda(weight_decay_lambda);
}

std::shared_ptr<ParameterStorage> ParameterCollection::add(const std::string& name, const Dim& d,
                                                           std::size_t rows, bool is_lookup,
                                                           const ParameterInit& init,
                                                           Device* device) {
  ParameterStorage& p = bank_->add(*node_, name, d, rows, is_lookup);
  p.device = device ? device : node_->effective_device();
  Tensor values{p.full_dim(), p.values};
  try {
    init.initialize(values, RandomStream(mix_bits(bank_->seed) ^ hash_name(p.name)));
  } catch (...) {
    (is_lookup ? bank_->tables : bank_->parameters).pop_back();
    --node_->used_names[name];
    throw;
  }
  return {bank_, &p};
}

Parameter ParameterCollection::add_parameters(const Dim& d, const std::string& name) {
  return add_parameters(d, ParameterInitGlorot(), name);
}

Parameter ParameterCollection::add_parameters(const Dim& d, float scale, const std::string& name) {
  if (scale == 0.0f) return add_parameters(d, name);
  return add_parameters(d, ParameterInitUniform(scale), name);
}

Parameter ParameterCollection::add_parameters(const Dim& d, const ParameterInit& init,
                                              const std::string& name) {
  return Parameter(add(name, d, 1, false, init));
}

LookupParameter ParameterCollection::add_lookup_parameters(unsigned n, const Dim& d,
                                                           const std::string& name) {
  return add_lookup_parameters(n, d, ParameterInitGlorot(true), name);
}

LookupParameter ParameterCollection::add_lookup_parameters(unsigned n, const Dim& d,
                                                           const ParameterInit& init,
                                                           const std::string& name) {
  return LookupParameter(add(name, d, n, true, init));
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
  check_device("add_parameters", device, at);
  return Parameter(add(name, d, 1, false, init, device));
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
  check_device("add_lookup_parameters", device, at);
  return LookupParameter(add(name, d, n, true, init, device));
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

std::vector<Parameter> ParameterCollection::parameters_list() const {
  std::vector<Parameter> list;
  for (auto& p : bank_->parameters)
    if (node_->contains(p->collection))
      list.emplace_back(std::shared_ptr<ParameterStorage>(bank_, p.get()));
  return list;
}

std::vector<LookupParameter> ParameterCollection::lookup_parameters_list() const {
  std::vector<LookupParameter> list;
  for (auto& p : bank_->tables)
    if (node_->contains(p->collection))
      list.emplace_back(std::shared_ptr<ParameterStorage>(bank_, p.get()));
  return list;
}

std::size_t ParameterCollection::size() const {
  return parameters_list().size() + lookup_parameters_list().size();
}

std::size_t ParameterCollection::parameter_count() const {
  std::size_t n = 0;
  for (const Parameter& p : parameters_list()) n += p.get_storage().size();
  for (const LookupParameter& p : lookup_parameters_list()) n += p.get_storage().size();
  return n;
}

std::size_t ParameterCollection::updated_parameter_count() const {
  std::size_t n = 0;
  for (const Parameter& p : parameters_list()) n += p.is_updated() ? p.get_storage().size() : 0;
  for (const LookupParameter& p : lookup_parameters_list())
    n += p.is_updated() ? p.get_storage().size() : 0;
  return n;
}

float ParameterCollection::gradient_l2_norm() const {
  const auto trained = [this](const ParameterStorage& p) {
    return p.updated && node_->contains(p.collection);
  };
  return static_cast<float>(std::sqrt(gradient_squared_norm(*bank_, trained)));
}

void ParameterCollection::reset_gradient() { forget_gradients(*bank_, *node_); }

void ParameterCollection::set_weight_decay_lambda(float lambda) {
  check_weight_decay(lambda, node_->parent != nullptr);
  node_->weight_decay = lambda;
}

double gradient_squared_norm(ParameterBank& bank, const ParameterFilter& which) {
  GradientReader reader(bank.gradients);
  double sum = 0;
  for (auto& p : bank.parameters)
    if (which(*p))
      if (const float* g = reader.find(p->index, p->size())) sum += squared_norm(g, p->size());
  for (auto& p : bank.tables)
    if (which(*p))
      for (const std::uint32_t row : reader.rows(p->index))
        sum += squared_norm(reader.find_row(p->index, row), p->row_size());
  return sum;
}

double gradient_squared_norm(const ParameterBank& bank, const GradientLane* lane,
                             const ParameterFilter& which) {
  if (!lane) return 0;
  double sum = 0;
  for (auto& p : bank.parameters)
    if (const float* g = lane->find(p->index); g && which(*p)) sum += squared_norm(g, p->size());
  for (auto& p : bank.tables) {
    const RowGradients* r = lane->find_rows(p->index);
    if (!r || !which(*p)) continue;
    if (r->whole_written()) sum += squared_norm(r->whole(), p->size());
    for (std::size_t k = 0; k < r->rows().size(); ++k)
      sum += squared_norm(r->row_gradient(k), p->row_size());
  }
  return sum;
}

void forget_gradients(ParameterBank& bank, const CollectionNode& root) {
  if (!root.parent) {
    bank.gradients.clear();
    return;
  }
  forget_gradients(bank, [&](const ParameterStorage& p) { return root.contains(p.collection); });
}

void forget_gradients(ParameterBank& bank, const ParameterFilter& which) {
  for (auto& p : bank.parameters)
    if (which(*p)) bank.gradients.forget(p->index);
  bank.gradients.for_each([&](GradientLane& lane) {
    for (auto& p : bank.tables)
      if (RowGradients* r = lane.find_rows(p->index); r && which(*p)) r->clear();
  });
}

}  // namespace dynet
