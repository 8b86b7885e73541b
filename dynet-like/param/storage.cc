#include "dynet-like/param/storage.h"

#include <limits>
#include <utility>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/param/on_device.h"
#include "dynet-like/shape/rules.h"

namespace dynet {

ParameterStorageBase::ParameterStorageBase() : own_(nullptr, free_aligned) {}

ParameterStorageBase::~ParameterStorageBase() = default;

void ParameterStorageBase::use(float* values, std::shared_ptr<const void> owner) {
  data = values;
  owner_ = std::move(owner);
  set_views();
}

void ParameterStorageBase::set_views() {
  const Tensor all{full_dim(), data, &kCpu, DeviceMempool::PS};
  if (is_lookup) {
    auto& table = static_cast<LookupParameterStorage&>(*this);
    table.all_dim = all.d;
    table.all_values = all;
    table.values.clear();
  } else {
    static_cast<ParameterStorage&>(*this).values = all;
  }
}

void ParameterStorageBase::changed() {
  bank->changes.fetch_add(1, std::memory_order_relaxed);
  may_change();
}

void ParameterStorageBase::set_int8(std::unique_ptr<const Int8Matrix> matrix) {
  int8_.store(matrix.get(), std::memory_order_release);
  int8_memory_ = std::move(matrix);
}

void ParameterStorageBase::may_change() {
  const std::lock_guard lock(bank->on_device);
  drop_copies();
}

void ParameterStorageBase::drop_copies() {
  int8_.store(nullptr, std::memory_order_release);
  if (on_device) on_device->changed_on_host();
}

void ParameterStorageBase::read_device() {
  const std::lock_guard lock(bank->on_device);
  on_device->copy_to_host();
}

Dim ParameterStorageBase::full_dim() const {
  Dim d = dim;
  if (is_lookup) d.add_dim(static_cast<unsigned>(rows));
  return d;
}

void check_weight_decay(float lambda, bool inherits) {
  if (lambda < 1.0f && lambda >= (inherits ? std::numeric_limits<float>::lowest() : 0.0f)) return;
  throw ArgumentError(std::string("weight_decay_lambda must be ") +
                      (inherits ? "finite and below 1" : "at least 0 and below 1") + ", got " +
                      std::to_string(lambda));
}

std::string unique_name(CollectionNode& collection, const std::string& name) {
  if (name.find_first_of("/_") != std::string::npos)
    throw ArgumentError("a parameter name must not contain / or _, got \"" + name + "\"");
  const int n = collection.used_names[name]++;
  std::string full = collection.fullname + name;
  if (n > 0 || name.empty()) full += "_" + std::to_string(n);
  return full;
}

ParameterStorageBase& ParameterBank::add(CollectionNode& collection, const std::string& name,
                                         const Dim& dim, std::size_t rows, bool is_lookup) {
  const char* who = is_lookup ? "add_lookup_parameters: " : "add_parameters: ";
  if (dim.bd != 1)
    throw ShapeError(who + std::string("a parameter has no batch, got ") + to_string(dim));
  if (is_lookup && dim.nd >= kMaxTensorDim)
    throw ShapeError(who + std::string("a row has at most 6 sizes, got ") + to_string(dim));
  std::unique_ptr<ParameterStorageBase> p;
  if (is_lookup)
    p = std::make_unique<LookupParameterStorage>();
  else
    p = std::make_unique<ParameterStorage>();
  p->dim = dim;
  p->rows = rows;
  p->is_lookup = is_lookup;
  p->bank = this;
  p->collection = &collection;
  try {
    shape::checked(p->full_dim());
  } catch (const RuleBroken& e) {
    throw ArgumentError(who + e.rule);
  }
  if (p->size() > room)
    throw ArgumentError(who + std::string("there is room for ") + std::to_string(room) +
                        " numbers more, got " + std::to_string(p->size()));
  p->own_.reset(allocate_zeroed(p->size() * sizeof(float)));
  p->data = static_cast<float*>(p->own_.get());
  p->set_views();
  p->name = unique_name(collection, name);
  auto& list = is_lookup ? tables : parameters;
  p->index = list.size();
  list.push_back(std::move(p));
  room -= list.back()->size();
  return *list.back();
}

}  // namespace dynet
