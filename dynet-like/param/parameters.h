#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/param/init.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/tensor/tensor.h"

namespace dynet {

/// What Parameter and LookupParameter have in common: a shared handle to one trained tensor or
/// table. Every member throws ArgumentError on an empty handle.
class ParameterHandle {
 public:
  /// Whether it names a parameter.
  explicit operator bool() const { return p_ != nullptr; }
  /// Frozen parameters (`false`) keep their values: no gradient, no update.
  void set_updated(bool b) { get().updated = b; }
  bool is_updated() const { return get().updated; }
  /// `/collection/name`
  const std::string& get_fullname() const { return get().name; }
  /// The shape; of one row for a lookup parameter.
  const Dim& dim() const { return get().dim; }
  /// All values zero.
  void zero();
  /// All values times `s`. Throws ArgumentError unless it is finite.
  void scale(float s);
  /// The gradient times `s`. Throws ArgumentError unless it is finite.
  void scale_gradient(float s);
  /// The weight decay factor of its collection.
  float current_weight_decay() const { return get().collection->effective_weight_decay(); }
  ParameterStorage& get_storage() const { return get(); }
  const std::shared_ptr<ParameterStorage>& shared() const { return p_; }

  /// Whether both name the same one.
  friend bool operator==(const ParameterHandle& a, const ParameterHandle& b) {
    return a.p_ == b.p_;
  }

 protected:
  ParameterHandle() = default;
  explicit ParameterHandle(std::shared_ptr<ParameterStorage> p) : p_(std::move(p)) {}
  ParameterStorage& get() const;

  std::shared_ptr<ParameterStorage> p_;
};

/// A view that may be used like a pointer to it as well, which it is in DyNet: `*p.values()`.
struct ParameterView : Tensor {
  ParameterView(const Dim& dim, float* values) : Tensor{dim, values} {}
  /// As if it were a pointer.
  Tensor& operator*() { return *this; }
  Tensor* operator->() { return this; }
};

/// A trained tensor.
class Parameter : public ParameterHandle {
 public:
  Parameter() = default;
  explicit Parameter(std::shared_ptr<ParameterStorage> p) : ParameterHandle(std::move(p)) {}

  /// A view of the values; right until the next update if graphs run on a device. There, what is
  /// written through it after another graph has begun is not seen: `set_value` always is.
  ParameterView values() const;
  /// A view of the gradient summed so far; zero if there is none. Looking changes nothing: what had
  /// no gradient has none afterwards. What is written through the view counts, unless it is the
  /// zero that was there; it lives until the next backward pass or update, and for that time only.
  /// Not while a backward pass runs.
  ParameterView gradients() const;
  /// Throws ArgumentError unless there are as many values as elements.
  void set_value(const std::vector<float>& values);
  /// Values limited to [left, right].
  void clip_inplace(float left, float right);
};

/// A table of trained tensors, one for each index; only the rows used get gradients.
class LookupParameter : public ParameterHandle {
 public:
  LookupParameter() = default;
  explicit LookupParameter(std::shared_ptr<ParameterStorage> p) : ParameterHandle(std::move(p)) {}

  /// Sets one row. Throws IndexError, or ArgumentError for a wrong number of values.
  void initialize(unsigned index, const std::vector<float>& values);
  /// A view of each row. Where rows are updated late (Trainer::sparse_updates_exact), or graphs run
  /// on a device, a view is right until the next update; see also Parameter::values.
  std::vector<Tensor> values() const;
  /// A view of one row. Throws IndexError.
  Tensor row(unsigned index) const;
  /// The gradient of one row, copied; zero if it was not used. Not while a backward pass runs.
  std::vector<float> row_gradient(unsigned index) const;
  /// The number of rows.
  std::size_t size() const { return get().rows; }
};

/// A tree of named parameters: the part of a model that stays. A handle; copies share everything.
///
/// Names may not contain `/` or `_`; equal names get `_1`, `_2`, ... Initial values are a function
/// of the seed and the full name alone, whatever else the program does.
class ParameterCollection {
 public:
  /// Without weight decay, unless `initialize` of dynet-like::compat has set one.
  ParameterCollection();
  /// Weight decay `lambda` in [0, 1): after every update, whatever the trainer, w <- (1 - lambda)
  /// w.
  explicit ParameterCollection(float weight_decay_lambda);

  /// A new parameter, by default with Glorot's initialization. Throws ShapeError, ArgumentError.
  Parameter add_parameters(const Dim& d, const std::string& name = "");
  /// Uniform in [-scale, scale); Glorot's if `scale` is zero.
  Parameter add_parameters(const Dim& d, float scale, const std::string& name = "");
  Parameter add_parameters(const Dim& d, const ParameterInit& init, const std::string& name = "");
  /// A table of `n` rows of shape `d`.
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const std::string& name = "");
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const ParameterInit& init,
                                        const std::string& name = "");

  /// The same on a named device: graphs use the parameter there, whatever their own device is, and
  /// `to_device` moves values. Throws ArgumentError for a null pointer.
  Parameter add_parameters(const Dim& d, DeviceArgument device,
                           SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, const std::string& name, DeviceArgument device,
                           SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, float scale, const std::string& name,
                           DeviceArgument device, SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, const ParameterInit& init, const std::string& name,
                           DeviceArgument device, SourceLocation at = SourceLocation::current());
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const std::string& name,
                                        DeviceArgument device,
                                        SourceLocation at = SourceLocation::current());
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const ParameterInit& init,
                                        const std::string& name, DeviceArgument device,
                                        SourceLocation at = SourceLocation::current());

  /// A collection inside this one. A negative weight decay means this one's; it must be finite.
  ParameterCollection add_subcollection(const std::string& name = "",
                                        float weight_decay_lambda = -1.0f);

  /// Where graphs use the parameters of this collection and of all below it: those that there are,
  /// and those added from now on that name no device. Null, as at the start: where the graph is. A
  /// graph that has nodes of them keeps these where they are.
  void set_device(Device* device);

  /// The seed of all parameters added from now on, in the whole tree; 1 at the start.
  void set_seed(std::uint64_t seed) { bank_->seed = seed; }
  std::uint64_t get_seed() const { return bank_->seed; }
  const std::string& get_fullname() const { return node_->fullname; }

  /// Everything in this collection and below it, in the order of creation.
  std::vector<Parameter> parameters_list() const;
  std::vector<LookupParameter> lookup_parameters_list() const;
  /// Number of parameters and tables.
  std::size_t size() const;
  /// Number of trained values.
  std::size_t parameter_count() const;
  /// Those that are not frozen.
  std::size_t updated_parameter_count() const;

  /// Euclidean norm of the gradients of all parameters that are not frozen.
  float gradient_l2_norm() const;
  /// Drops the gradients of this collection and everything below it.
  void reset_gradient();

  /// The weight decay of this collection, see the constructor.
  void set_weight_decay_lambda(float lambda);
  float get_weight_decay_lambda() const { return node_->effective_weight_decay(); }

  /// Where the parameters lie, for the library's own use.
  ParameterBank& bank() const { return *bank_; }
  const CollectionNode& node() const { return *node_; }

 private:
  ParameterCollection(std::shared_ptr<ParameterBank> bank, CollectionNode* node)
      : bank_(std::move(bank)), node_(node) {}
  std::shared_ptr<ParameterStorage> add(const std::string& name, const Dim& d, std::size_t rows,
                                        bool is_lookup, const ParameterInit& init,
                                        Device* device = nullptr);

  std::shared_ptr<ParameterBank> bank_;
  CollectionNode* node_;
};

/// Drops the gradients of all parameters below `root`, frozen ones included.
void forget_gradients(ParameterBank& bank, const CollectionNode& root);

using ParameterFilter = std::function<bool(const ParameterStorage&)>;

/// Drops the gradients of the parameters that `which` names.
void forget_gradients(ParameterBank& bank, const ParameterFilter& which);

/// Sum of squares of the gradients of the parameters that `which` names; changes nothing.
double gradient_squared_norm(ParameterBank& bank, const ParameterFilter& which);
/// The same of the lane that holds all of them; null: there are none.
double gradient_squared_norm(const ParameterBank& bank, const GradientLane* lane,
                             const ParameterFilter& which);

}  // namespace dynet
