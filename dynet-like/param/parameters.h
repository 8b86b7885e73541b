#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/param/init.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

/// A shared handle to one trained tensor or table, whichever. Every member throws ArgumentError on
/// an empty handle.
class ParameterHandle {
 public:
  /// Whether it names a parameter.
  explicit operator bool() const { return p_ != nullptr; }
  /// Storage for use inside the library, as it is: copies on the host may be out of date.
  ParameterStorageBase& stored() const;
  const std::shared_ptr<ParameterStorageBase>& shared() const { return p_; }
  const std::string& get_fullname() const { return stored().name; }
  float current_weight_decay() const { return 1.0f; }
  float weight_decay_lambda() const { return stored().collection->effective_weight_decay(); }

 protected:
  ParameterHandle() = default;
  explicit ParameterHandle(std::shared_ptr<ParameterStorageBase> p) : p_(std::move(p)) {}

  std::shared_ptr<ParameterStorageBase> p_;
};

/// The pointer to the storage that a program written to DyNet finds in a handle. What it points to
/// is brought up to date whenever it is followed.
template <class S>
class StoragePointer : public ParameterHandle {
 public:
  StoragePointer(std::nullptr_t = nullptr) {}                              // NOLINT: implicit
  StoragePointer(std::shared_ptr<S> p) : ParameterHandle(std::move(p)) {}  // NOLINT: implicit
  /// The storage, brought up to date; `get` returns null for an empty handle.
  S* operator->() const { return &**this; }
  S& operator*() const { return static_cast<S&>(stored()).show(); }
  S* get() const { return p_ ? &**this : nullptr; }
  /// Points to nothing from now on.
  void reset() { p_.reset(); }
  /// The storage, brought up to date and kept alive.
  operator std::shared_ptr<S>() const {  // NOLINT: implicit
    if (p_) **this;
    return std::static_pointer_cast<S>(p_);
  }
  /// Whether both point to the same, or to nothing.
  friend bool operator==(const StoragePointer& a, const StoragePointer& b) { return a.p_ == b.p_; }
};

/// Common members of Parameter and LookupParameter. Every member throws ArgumentError on an empty
/// handle.
template <class S>
class TrainedHandle {
 public:
  TrainedHandle() = default;
  TrainedHandle(std::shared_ptr<S> storage) : p(std::move(storage)) {}  // NOLINT: implicit

  StoragePointer<S> p;  ///< what it stands for; null: nothing

  /// Whether it names a parameter.
  explicit operator bool() const { return static_cast<bool>(p); }
  operator const ParameterHandle&() const { return p; }  // NOLINT: implicit
  operator std::shared_ptr<S>() const { return p; }      // NOLINT: implicit
  /// The storage, brought up to date; also as if the handle were a pointer to it, which it is in
  /// DyNet's lists of parameters.
  S& get_storage() const { return *p; }
  S* operator->() const { return p.operator->(); }
  S& operator*() const { return *p; }
  ParameterStorageBase& stored() const { return p.stored(); }
  const std::shared_ptr<ParameterStorageBase>& shared() const { return p.shared(); }

  /// Frozen parameters (`false`) keep their values: no gradient, no update.
  void set_updated(bool b) const { stored().updated = b; }
  bool is_updated() const { return stored().updated; }
  /// `/collection/name`
  const std::string& get_fullname() const { return stored().name; }
  /// The shape; of one row for a lookup parameter.
  const Dim& dim() const { return stored().dim; }
  /// All values zero.
  void zero() const { stored().zero(); }
  /// All values times `s`. Throws ArgumentError unless it is finite.
  void scale(float s) const { stored().scale_parameters(s); }
  /// The gradient times `s`. Throws ArgumentError unless it is finite.
  void scale_gradient(float s) const { stored().scale_gradient(s); }
  /// Factor that the values are to be multiplied by on account of weight decay: 1, as no decay is
  /// delayed here.
  float current_weight_decay() const { return static_cast<void>(stored()), 1.0f; }
  /// The weight decay of its collection.
  float weight_decay_lambda() const { return p.weight_decay_lambda(); }

  /// Whether both name the same one.
  friend bool operator==(const TrainedHandle& a, const TrainedHandle& b) { return a.p == b.p; }

 protected:
  S& stored_here() const { return static_cast<S&>(stored()); }
};

/// A view that may be used like a pointer to it as well, which it is in DyNet: `*p.values()`,
/// `Tensor* t = p.values()`.
struct ParameterView : Tensor {
  explicit ParameterView(Tensor& of) : Tensor(of), of_(&of) {}
  /// As if it were a pointer, to what lives as long as the parameter.
  Tensor& operator*() const { return *of_; }
  Tensor* operator->() const { return of_; }
  operator Tensor*() const { return of_; }  // NOLINT: implicit

 private:
  Tensor* of_;
};

/// Views of rows, likewise.
struct RowViews : std::vector<Tensor> {
  explicit RowViews(std::vector<Tensor>& of) : std::vector<Tensor>(of), of_(&of) {}
  /// As if it were a pointer, to what lives as long as the table.
  std::vector<Tensor>& operator*() const { return *of_; }
  std::vector<Tensor>* operator->() const { return of_; }
  operator std::vector<Tensor>*() const { return of_; }  // NOLINT: implicit

 private:
  std::vector<Tensor>* of_;
};

/// A trained tensor.
class Parameter : public TrainedHandle<ParameterStorage> {
 public:
  using TrainedHandle::TrainedHandle;

  /// A view of the values; right until the next update if graphs run on a device. There, what is
  /// written through it after another graph has begun is not seen: `set_value` always is.
  ParameterView values() const { return ParameterView(stored_here().show_values().values); }
  /// A view of the gradient summed so far; zero if there is none. What is written through the view
  /// is what the next update uses; zero where there was no gradient is none. It lives until the
  /// next backward pass or update. Not while a backward pass runs.
  ///
  /// Gradients of several threads, numbers or devices are added up by this, and come to the CPU:
  /// with several threads without numbers, reading fixes the order in which their sums are added.
  ParameterView gradients() const { return ParameterView(stored_here().show_gradient().g); }
  /// Throws ArgumentError unless there are as many values as elements.
  void set_value(const std::vector<float>& values) const { stored_here().set_value(values); }
  /// Values limited to [left, right].
  void clip_inplace(float left, float right) const { stored_here().clip(left, right); }
};

/// A table of trained tensors, one for each index; only the rows used get gradients.
class LookupParameter : public TrainedHandle<LookupParameterStorage> {
 public:
  using TrainedHandle::TrainedHandle;

  /// Sets one row. Throws IndexError, or ArgumentError for a wrong number of values.
  void initialize(unsigned index, const std::vector<float>& values) const {
    stored_here().initialize(index, values);
  }
  /// A view of each row. Right until the next update if graphs run on a device; see also
  /// Parameter::values.
  RowViews values() const { return RowViews(stored_here().show_values().values); }
  /// A view of one row. Throws IndexError.
  Tensor row(unsigned index) const;
  /// The gradient of one row, copied; zero if it was not used. Not while a backward pass runs.
  std::vector<float> row_gradient(unsigned index) const;
  /// The number of rows.
  std::size_t size() const { return stored().rows; }
};

/// The weight decay of a collection as programs written to DyNet touch it. Nothing is delayed, so
/// that values need no factor.
class L2WeightDecay {
 public:
  explicit L2WeightDecay(CollectionNode& of) : of_(&of) {}
  /// As ParameterCollection::set_weight_decay_lambda.
  void set_lambda(float lambda);
  float get_lambda() const { return of_->effective_weight_decay(); }
  void update_weight_decay(unsigned = 1) {}
  float current_weight_decay() const { return 1.0f; }
  bool parameters_need_rescaled() const { return false; }
  void reset_weight_decay() {}

 private:
  CollectionNode* of_;
};

/// All parameters below a collection as programs written to DyNet touch them.
struct ParameterCollectionStorage {
  std::vector<std::shared_ptr<ParameterStorageBase>> all_params;       ///< parameters and tables
  std::vector<std::shared_ptr<ParameterStorage>> params;               ///< parameters alone
  std::vector<std::shared_ptr<LookupParameterStorage>> lookup_params;  ///< tables alone
  L2WeightDecay weight_decay;                                          ///< the collection's

  /// Euclidean norm of the gradients of all that are not frozen.
  float gradient_l2_norm() const;
  /// As ParameterCollection::project_weights.
  void project_weights(float radius = 1.0f) const;
};

/// Handles in a list, which may be taken for DyNet's list of pointers to storages.
template <class P, class S>
struct HandleList : std::vector<P> {
  /// The storages of all of them.
  operator std::vector<std::shared_ptr<S>>() const {  // NOLINT: implicit
    return {this->begin(), this->end()};
  }
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
  ///
  /// Graphs use a parameter with a device there, whatever their own device is, and `to_device`
  /// moves values. Throws ArgumentError for a null pointer as a device.
  Parameter add_parameters(const Dim& d, const std::string& name = "", DeviceArgument device = {},
                           SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, DeviceArgument device,
                           SourceLocation at = SourceLocation::current());
  /// Uniform in [-scale, scale); Glorot's if `scale` is zero.
  Parameter add_parameters(const Dim& d, float scale, const std::string& name = "",
                           DeviceArgument device = {},
                           SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, const ParameterInit& init, const std::string& name = "",
                           DeviceArgument device = {},
                           SourceLocation at = SourceLocation::current());
  /// A table of `n` rows of shape `d`.
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const std::string& name = "",
                                        DeviceArgument device = {},
                                        SourceLocation at = SourceLocation::current());
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const ParameterInit& init,
                                        const std::string& name = "", DeviceArgument device = {},
                                        SourceLocation at = SourceLocation::current());

  /// A collection inside this one. A negative weight decay means this one's; it must be finite.
  ParameterCollection add_subcollection(const std::string& name = "",
                                        float weight_decay_lambda = -1.0f);

  /// Device on which graphs use the parameters of this collection and of all below it: the present
  /// parameters, and those added from now on that name no device. Null, the default: the device of
  /// the graph. Nodes that a graph already has of the parameters keep their device.
  void set_device(Device* device);

  /// The seed of all parameters added from now on, in the whole tree; 1 at the start.
  void set_seed(std::uint64_t seed) { bank_->seed = seed; }
  std::uint64_t get_seed() const { return bank_->seed; }
  /// Limit on the numbers of all parameters together that are added from now on, in the whole tree;
  /// none at the start. A parameter above it throws ArgumentError, before it allocates memory.
  void set_room(std::uint64_t numbers) { bank_->room = numbers; }
  const std::string& get_fullname() const { return node_->fullname; }

  /// Everything in this collection and below it, in the order of creation: a list of its own, which
  /// `auto& list = ` keeps as well.
  const HandleList<Parameter, ParameterStorage> parameters_list() const;  // NOLINT: const
  const HandleList<LookupParameter, LookupParameterStorage>               // NOLINT: const
  lookup_parameters_list() const;
  /// The same as storages, brought up to date by the call; the reference is good until the next one
  /// of this handle.
  ParameterCollectionStorage& get_storage() const;
  std::vector<std::shared_ptr<ParameterStorage>> get_parameter_storages() const {
    return get_storage().params;
  }
  std::vector<std::shared_ptr<LookupParameterStorage>> get_lookup_parameter_storages() const {
    return get_storage().lookup_params;
  }
  std::vector<std::shared_ptr<ParameterStorageBase>> get_parameter_storages_base() const {
    return get_storage().all_params;
  }
  /// That of a full name. Throws ArgumentError unless there is one below this collection.
  std::shared_ptr<ParameterStorage> get_parameter_storage(const std::string& name) const;
  std::shared_ptr<LookupParameterStorage> get_lookup_parameter_storage(
      const std::string& name) const;
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

  /// Shows the Euclidean norm of all values, which is all that it does in DyNet: see
  /// ProcessHooks::print.
  void project_weights(float radius = 1.0f) const { get_storage().project_weights(radius); }

  /// The weight decay of this collection, see the constructor.
  void set_weight_decay_lambda(float lambda);
  float get_weight_decay_lambda() const { return node_->effective_weight_decay(); }
  L2WeightDecay& get_weight_decay() const { return storage().weight_decay; }

  /// Bank that stores the parameters, for the library's own use.
  ParameterBank& bank() const { return *bank_; }
  const CollectionNode& node() const { return *node_; }

 private:
  ParameterCollection(std::shared_ptr<ParameterBank> bank, CollectionNode* node)
      : bank_(std::move(bank)), node_(node) {}
  ParameterStorageBase& add(const std::string& name, const Dim& d, std::size_t rows, bool is_lookup,
                            const ParameterInit& init, Device* device = nullptr);

  ParameterCollectionStorage& storage() const;

  std::shared_ptr<ParameterBank> bank_;
  CollectionNode* node_;
  mutable std::shared_ptr<ParameterCollectionStorage> storage_;  // null: not asked for yet
};

/// Drops the gradients of all parameters below `root`, frozen ones included.
void forget_gradients(ParameterBank& bank, const CollectionNode& root);

/// Chooses parameters and tables.
using ParameterFilter = std::function<bool(const ParameterStorageBase&)>;

/// Drops the gradients of the parameters that `which` names.
void forget_gradients(ParameterBank& bank, const ParameterFilter& which);

/// To be called after a change of the values of the parameters that `which` names, which are the
/// newest then.
void values_changed(ParameterBank& bank, const ParameterFilter& which);

/// Sum of squares of the gradients of the parameters that `which` names.
double gradient_squared_norm(ParameterBank& bank, const ParameterFilter& which);

}  // namespace dynet
