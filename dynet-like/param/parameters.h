#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/param/init.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

// dynet-like/param/storage.h
class ParameterBank;
struct CollectionNode;
struct LookupParameterStorage;
struct ParameterStorage;
struct ParameterStorageBase;

/// Shared handle to one trained tensor or table. Every member throws ArgumentError on an empty
/// handle.
class ParameterHandle {
 public:
  /// True unless the handle is empty.
  explicit operator bool() const { return p_ != nullptr; }
  /// The storage, for internal use: its host copy may be out of date.
  ParameterStorageBase& stored() const;
  const std::shared_ptr<ParameterStorageBase>& shared() const { return p_; }
  const std::string& get_fullname() const;
  float current_weight_decay() const { return 1.0f; }
  float weight_decay_lambda() const;

 protected:
  ParameterHandle() = default;
  explicit ParameterHandle(std::shared_ptr<ParameterStorageBase> p) : p_(std::move(p)) {}

  std::shared_ptr<ParameterStorageBase> p_;
};

/// Pointer to a storage, for programs written to DyNet that include dynet-like/param/storage.h.
/// Each access brings the storage up to date.
template <class S>
class StoragePointer : public ParameterHandle {
 public:
  StoragePointer(std::nullptr_t = nullptr) {}                              // NOLINT: implicit
  StoragePointer(std::shared_ptr<S> p) : ParameterHandle(std::move(p)) {}  // NOLINT: implicit
  /// The storage, brought up to date; `get` returns null for an empty handle, the operators throw.
  S* operator->() const { return &**this; }
  S& operator*() const { return static_cast<S&>(stored()).show(); }
  S* get() const { return p_ ? &**this : nullptr; }
  /// Makes the handle empty.
  void reset() { p_.reset(); }
  /// Shared ownership of the storage, brought up to date.
  operator std::shared_ptr<S>() const {  // NOLINT: implicit
    if (p_) **this;
    return std::static_pointer_cast<S>(p_);
  }
  /// True if both point to the same storage, or both are empty.
  friend bool operator==(const StoragePointer& a, const StoragePointer& b) { return a.p_ == b.p_; }
};

/// Common members of Parameter and LookupParameter. Every member throws ArgumentError on an empty
/// handle.
template <class S>
class TrainedHandle {
 public:
  TrainedHandle() = default;
  TrainedHandle(std::shared_ptr<S> storage) : p(std::move(storage)) {}  // NOLINT: implicit

  StoragePointer<S> p;  ///< the storage; null for an empty handle

  /// True unless the handle is empty.
  explicit operator bool() const { return static_cast<bool>(p); }
  operator const ParameterHandle&() const { return p; }  // NOLINT: implicit
  operator std::shared_ptr<S>() const { return p; }      // NOLINT: implicit
  /// The storage, brought up to date. The operators let the handle act as a pointer to the storage,
  /// as in DyNet's lists of parameters.
  S& get_storage() const { return *p; }
  S* operator->() const { return p.operator->(); }
  S& operator*() const { return *p; }
  ParameterStorageBase& stored() const { return p.stored(); }
  const std::shared_ptr<ParameterStorageBase>& shared() const { return p.shared(); }

  /// Freezes (`false`) or unfreezes the parameter: a frozen one gets no gradient and no update.
  void set_updated(bool b) const;
  bool is_updated() const;
  /// `/collection/name`
  const std::string& get_fullname() const { return p.get_fullname(); }
  /// The shape of the parameter, or of one row of a lookup parameter.
  const Dim& dim() const;
  /// Sets all values to zero.
  void zero() const;
  /// Multiplies all values by `s`. Throws ArgumentError unless `s` is finite.
  void scale(float s) const;
  /// Multiplies the gradient by `s`. Throws ArgumentError unless `s` is finite.
  void scale_gradient(float s) const;
  /// Pending factor of weight decay: always 1, since decay is applied immediately.
  float current_weight_decay() const { return static_cast<void>(stored()), 1.0f; }
  /// The weight decay of its collection.
  float weight_decay_lambda() const { return p.weight_decay_lambda(); }

  /// True if both handles name the same parameter.
  friend bool operator==(const TrainedHandle& a, const TrainedHandle& b) { return a.p == b.p; }
};

/// A tensor view that also acts as the pointer that DyNet returns: `*p.values()`, `Tensor* t =
/// p.values()`.
struct ParameterView : Tensor {
  explicit ParameterView(Tensor& of) : Tensor(of), of_(&of) {}
  /// Pointer semantics; the pointee exists as long as the parameter.
  Tensor& operator*() const { return *of_; }
  Tensor* operator->() const { return of_; }
  operator Tensor*() const { return of_; }  // NOLINT: implicit

 private:
  Tensor* of_;
};

/// Views of rows that also act as the pointer that DyNet returns.
struct RowViews : std::vector<Tensor> {
  explicit RowViews(std::vector<Tensor>& of) : std::vector<Tensor>(of), of_(&of) {}
  /// Pointer semantics; the pointee exists as long as the table.
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

  /// View of the values, valid until the next update if graphs run on a device. On a device, values
  /// written through the view after a later graph was begun are ignored; `set_value` has no such
  /// limit.
  ParameterView values() const;
  /// View of the accumulated gradient; zero if there is none. The next update uses values written
  /// through the view; if they are all zero and there was no gradient, there is none. Valid until
  /// the next backward pass or update. Not to be called during a backward pass.
  ///
  /// The call adds up the gradients of all threads, numbers and devices on the CPU. With several
  /// threads without numbers, it fixes the order of summation.
  ParameterView gradients() const;
  /// Sets all values. Throws ArgumentError unless `values` has one value per element.
  void set_value(const std::vector<float>& values) const;
  /// Clips all values to [left, right].
  void clip_inplace(float left, float right) const;
};

/// Table of trained tensors, one per index; only used rows get gradients.
class LookupParameter : public TrainedHandle<LookupParameterStorage> {
 public:
  using TrainedHandle::TrainedHandle;

  /// Sets one row. Throws IndexError, or ArgumentError for a wrong number of values.
  void initialize(unsigned index, const std::vector<float>& values) const;
  /// View of each row; see Parameter::values for its lifetime.
  RowViews values() const;
  /// View of one row. Throws IndexError.
  Tensor row(unsigned index) const;
  /// The gradient of one row, copied; zero for an unused row. Not to be called during a backward
  /// pass.
  std::vector<float> row_gradient(unsigned index) const;
  /// The number of rows.
  std::size_t size() const;
};

/// Weight decay of a collection, for programs written to DyNet. Decay is applied immediately, so
/// values have no pending factor.
class L2WeightDecay {
 public:
  explicit L2WeightDecay(CollectionNode& of) : of_(&of) {}
  /// As ParameterCollection::set_weight_decay_lambda.
  void set_lambda(float lambda);
  float get_lambda() const;
  void update_weight_decay(unsigned = 1) {}
  float current_weight_decay() const { return 1.0f; }
  bool parameters_need_rescaled() const { return false; }
  void reset_weight_decay() {}

 private:
  CollectionNode* of_;
};

/// All parameters below a collection, for programs written to DyNet.
struct ParameterCollectionStorage {
  std::vector<std::shared_ptr<ParameterStorageBase>> all_params;       ///< parameters and tables
  std::vector<std::shared_ptr<ParameterStorage>> params;               ///< parameters alone
  std::vector<std::shared_ptr<LookupParameterStorage>> lookup_params;  ///< tables alone
  L2WeightDecay weight_decay;  ///< weight decay of the collection

  /// Euclidean norm of the gradients of all parameters that are not frozen.
  float gradient_l2_norm() const;
  /// As ParameterCollection::project_weights.
  void project_weights(float radius = 1.0f) const;
};

/// List of handles that converts to DyNet's list of pointers to storages.
template <class P, class S>
struct HandleList : std::vector<P> {
  /// The storages of all handles.
  operator std::vector<std::shared_ptr<S>>() const {  // NOLINT: implicit
    return {this->begin(), this->end()};
  }
};

/// Tree of named parameters. A collection is a handle; copies share the tree.
///
/// Names may not contain `/` or `_`; duplicates get `_1`, `_2`, ... Initial values depend only on
/// the seed and the full name.
class ParameterCollection {
 public:
  /// Collection without weight decay, or with that set by `initialize` of dynet-like::compat.
  ParameterCollection();
  /// Collection with weight decay `lambda` in [0, 1): after every update by any trainer, w <- (1 -
  /// lambda) w.
  explicit ParameterCollection(float weight_decay_lambda);

  /// Adds a parameter, by default with Glorot initialization. Throws ShapeError, ArgumentError.
  ///
  /// A parameter with a device is used there by all graphs; `to_device` moves its values to the
  /// device of another node. Throws ArgumentError for a null pointer as a device.
  Parameter add_parameters(const Dim& d, const std::string& name = "", DeviceArgument device = {},
                           SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, DeviceArgument device,
                           SourceLocation at = SourceLocation::current());
  /// Initializes uniformly in [-scale, scale), or as Glorot if `scale` is zero.
  Parameter add_parameters(const Dim& d, float scale, const std::string& name = "",
                           DeviceArgument device = {},
                           SourceLocation at = SourceLocation::current());
  Parameter add_parameters(const Dim& d, const ParameterInit& init, const std::string& name = "",
                           DeviceArgument device = {},
                           SourceLocation at = SourceLocation::current());
  /// Adds a table of `n` rows of shape `d`.
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const std::string& name = "",
                                        DeviceArgument device = {},
                                        SourceLocation at = SourceLocation::current());
  LookupParameter add_lookup_parameters(unsigned n, const Dim& d, const ParameterInit& init,
                                        const std::string& name = "", DeviceArgument device = {},
                                        SourceLocation at = SourceLocation::current());

  /// Adds a collection inside this one. A negative weight decay means that of this collection; it
  /// must be finite.
  ParameterCollection add_subcollection(const std::string& name = "",
                                        float weight_decay_lambda = -1.0f);

  /// Sets the device on which graphs use the parameters of this collection and everything below it:
  /// existing parameters, and future ones without a device of their own. Null, the default: the
  /// device of the graph. Existing nodes keep their device.
  void set_device(Device* device);

  /// Sets the seed of all parameters added afterwards in the whole tree; 1 at the start.
  void set_seed(std::uint64_t seed);
  std::uint64_t get_seed() const;
  /// Limits the total number of values of parameters added afterwards in the whole tree; no limit
  /// at the start. Adding a parameter above the limit throws ArgumentError before it allocates.
  void set_room(std::uint64_t numbers);
  /// Leaves parameters added afterwards in the whole tree at 0, whatever their initializers: saves
  /// time where their values are loaded next.
  void skip_initialization();
  const std::string& get_fullname() const;

  /// All parameters in this collection and below it, in order of creation. Returns a new list,
  /// which `auto& list = ` also accepts.
  const HandleList<Parameter, ParameterStorage> parameters_list() const;  // NOLINT: const
  const HandleList<LookupParameter, LookupParameterStorage>               // NOLINT: const
  lookup_parameters_list() const;
  /// All storages below this collection, brought up to date; the reference is valid until the next
  /// call on this handle.
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
  /// Storage with this full name. Throws ArgumentError if it is not below this collection.
  std::shared_ptr<ParameterStorage> get_parameter_storage(const std::string& name) const;
  std::shared_ptr<LookupParameterStorage> get_lookup_parameter_storage(
      const std::string& name) const;
  /// Number of parameters and tables.
  std::size_t size() const;
  /// Number of trained values, frozen parameters included.
  std::size_t parameter_count() const;
  /// Number of trained values without frozen parameters.
  std::size_t updated_parameter_count() const;

  /// Euclidean norm of the gradients of all parameters that are not frozen.
  float gradient_l2_norm() const;
  /// Drops the gradients of this collection and everything below it.
  void reset_gradient();

  /// Prints the Euclidean norm of all values and changes nothing, as in DyNet, see
  /// ProcessHooks::print.
  void project_weights(float radius = 1.0f) const { get_storage().project_weights(radius); }

  /// Sets the weight decay of this collection, see the constructor.
  void set_weight_decay_lambda(float lambda);
  float get_weight_decay_lambda() const;
  L2WeightDecay& get_weight_decay() const { return storage().weight_decay; }

  /// Bank that stores the parameters, for internal use.
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
  mutable std::shared_ptr<ParameterCollectionStorage> storage_;  // null before `get_storage`
};

}  // namespace dynet
