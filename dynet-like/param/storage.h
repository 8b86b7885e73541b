#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/param/gradients.h"
#include "dynet-like/param/int8_matrix.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

class ParameterBank;
class ValuesOnDevices;
struct CollectionNode;

/// Storage of one trained tensor or table: the target of Parameter and LookupParameter.
struct ParameterStorageBase {
  std::string name;               ///< full name, `/sub/name`
  Dim dim;                        ///< shape of the parameter, or of one row of a table
  std::size_t rows = 1;           ///< rows of a table
  bool is_lookup = false;         ///< true: a table
  std::size_t index = 0;          ///< index among the parameters or among the tables of the bank
  float* data = nullptr;          ///< all values, rows concatenated
  bool updated = true;            ///< false: frozen, no gradient and no update
  Device* device = nullptr;       ///< device on which graphs use it; null: that of the graph
  ParameterBank* bank = nullptr;  ///< owner
  const CollectionNode* collection = nullptr;  ///< collection to which it was added
  std::unique_ptr<ValuesOnDevices> on_device;  ///< null: no device has a copy
  std::atomic<bool> host_is_old = false;       ///< a device has newer values than `data`

  /// Must be called before access to `data`: copies the newest values from a device if it has them.
  /// Thread-safe.
  void copy_to_host() {
    if (host_is_old.load(std::memory_order_acquire)) read_device();
  }
  std::size_t row_size() const { return dim.size(); }
  std::size_t size() const { return rows * row_size(); }
  bool is_updated() const { return updated; }
  /// Must be called after every change of `data`: marks the host's values as the newest.
  void changed();
  /// Must be called before handing out writable up-to-date values.
  void may_change();
  /// The same with the bank's lock `on_device` held.
  void drop_copies();
  /// Replaces `data` by memory of the same size that `owner` keeps.
  void use(float* values, std::shared_ptr<const void> owner);
  /// The values in 8 bits, by which products multiply, or null. They go when values change, or when
  /// writable ones are handed out.
  const Int8Matrix* int8() const { return int8_.load(std::memory_order_acquire); }
  void set_int8(std::unique_ptr<const Int8Matrix> matrix);
  /// Shape of all values; for a table the last size is the number of rows.
  Dim full_dim() const;

  /// See Parameter and LookupParameter.
  void zero();
  void scale_parameters(float s);
  void scale_gradient(float s);
  /// Throws IndexError for a row outside the table.
  void check_row(std::size_t row) const;
  /// Drops the gradient.
  void clear();
  /// True if there is a gradient.
  bool has_grad() const;
  /// Write the sum of squares of the values, or of the gradient, to `*sum`.
  void squared_l2norm(float* sum) const;
  void g_squared_l2norm(float* sum) const;

  ParameterStorageBase();
  ParameterStorageBase(const ParameterStorageBase&) = delete;
  ParameterStorageBase& operator=(const ParameterStorageBase&) = delete;
  virtual ~ParameterStorageBase();

 private:
  friend class ParameterBank;
  void read_device();
  void set_views();

  std::unique_ptr<void, void (*)(void*)> own_;  // memory of its own; views may point to it for ever
  std::shared_ptr<const void> owner_;           // of `data`, if that is not in `own_`
  std::unique_ptr<const Int8Matrix> int8_memory_;  // stays while graphs may read it
  std::atomic<const Int8Matrix*> int8_ = nullptr;
};

/// A trained tensor, for programs written to DyNet. `Parameter::p` and `get_storage` bring the
/// views up to date (`show`); the views are then valid as long as those of Parameter::values and
/// Parameter::gradients. `show_values` is thread-safe.
struct ParameterStorage : ParameterStorageBase {
  Tensor values;              ///< see Parameter::values
  Tensor g;                   ///< see Parameter::gradients
  bool nonzero_grad = false;  ///< true if there was a gradient at the last `show`

  ParameterStorage& show();           ///< brings all members up to date
  ParameterStorage& show_values();    ///< brings `values` up to date
  ParameterStorage& show_gradient();  ///< brings `g` up to date
  /// See Parameter.
  void set_value(const std::vector<float>& numbers);
  void clip(float left, float right);
  /// Copies the values of another parameter. Throws ShapeError for another shape.
  void copy(const ParameterStorage& other);
  /// Adds to the gradient. Throws ShapeError for another number of values.
  void accumulate_grad(const Tensor& gradient);
};

/// A table, for programs written to DyNet: views of the table and of each row. Rows whose gradient
/// is written through a view become used.
struct LookupParameterStorage : ParameterStorageBase {
  Dim all_dim;  ///< shape of the table; the last size is the number of rows
  Tensor all_values, all_grads;
  std::vector<Tensor> values;                   ///< by row
  std::vector<Tensor> grads;                    ///< by row
  std::unordered_set<unsigned> non_zero_grads;  ///< rows that have a gradient
  bool all_updated = false;                     ///< true if every row has a gradient
  bool nonzero_grad = false;                    ///< true if any row has a gradient

  LookupParameterStorage& show();         ///< brings all views up to date
  LookupParameterStorage& show_values();  ///< brings the views of the values up to date
  /// See LookupParameter.
  void initialize(unsigned index, const std::vector<float>& numbers);
  /// Copies the values of another table. Throws ShapeError for another shape.
  void copy(const LookupParameterStorage& other);
  /// Adds to the gradient of one row, or of the whole table. Throws IndexError, ShapeError.
  void accumulate_grad(unsigned index, const Tensor& gradient);
  void accumulate_grad(const Tensor& gradient);
};

/// Node of the tree of collections.
struct CollectionNode {
  std::string fullname;                   ///< ends in `/`
  CollectionNode* parent = nullptr;       ///< null: the root
  float weight_decay = -1.0f;             ///< negative: the parent's
  Device* device = nullptr;               ///< default of parameters; null: the parent's
  std::map<std::string, int> used_names;  ///< by name: the number of times it was asked for
  std::vector<std::unique_ptr<CollectionNode>> children;  ///< collections directly below

  /// Own weight decay, or that of the nearest ancestor that has one; 0 if none has.
  float effective_weight_decay() const {
    for (const CollectionNode* n = this; n; n = n->parent)
      if (n->weight_decay >= 0) return n->weight_decay;
    return 0.0f;
  }
  /// Own device, or that of the nearest ancestor that has one; null if none has.
  Device* effective_device() const {
    for (const CollectionNode* n = this; n; n = n->parent)
      if (n->device) return n->device;
    return nullptr;
  }
  /// True if `other` is this node or below it.
  bool contains(const CollectionNode* other) const {
    for (; other; other = other->parent)
      if (other == this) return true;
    return false;
  }
};

/// Owner of all parameters of a tree of collections. Handles and graphs share it, so that it
/// outlives all of them.
class ParameterBank {
 public:
  ParameterBank() { root.fullname = "/"; }
  ParameterBank(const ParameterBank&) = delete;
  ParameterBank& operator=(const ParameterBank&) = delete;

  /// Adds a parameter, or a table of `rows` rows, whose values are zero.
  ParameterStorageBase& add(CollectionNode& collection, const std::string& name, const Dim& dim,
                            std::size_t rows, bool is_lookup);

  CollectionNode root;                                            ///< of the tree of collections
  std::vector<std::unique_ptr<ParameterStorageBase>> parameters;  ///< by index
  std::vector<std::unique_ptr<ParameterStorageBase>> tables;      ///< by index
  GradientBuffers gradients;                                      ///< of all parameters and tables
  std::uint64_t seed = 1;   ///< from which initial values are drawn
  bool initializes = true;  ///< whether initializers are called
  /// Number of changes of values by the library.
  std::atomic<std::uint64_t> changes = 0;
  std::mutex on_device;                    ///< guards the device copies of all parameters
  std::uint64_t room = ~std::uint64_t{0};  ///< number of values that may still be added
};

/// Throws ArgumentError for an invalid weight decay. A negative one means that of the parent, if
/// `inherits`.
void check_weight_decay(float lambda, bool inherits);

/// Makes `name` unique in `collection` and appends it to the collection's full name, as DyNet does:
/// `W`, `W_1`, ..., and `_0`, `_1`, ... for parameters without a name. Throws ArgumentError for `/`
/// and `_` in a name.
std::string unique_name(CollectionNode& collection, const std::string& name);

/// Drops the gradients of all parameters below `root`, frozen ones included.
void forget_gradients(ParameterBank& bank, const CollectionNode& root);

/// Predicate that selects parameters and tables.
struct ParameterFilter : std::function<bool(const ParameterStorageBase&)> {
  using function::function;
};

/// Drops the gradients of the parameters that `which` selects.
void forget_gradients(ParameterBank& bank, const ParameterFilter& which);

/// Must be called after changing values of the parameters that `which` selects on the host.
void values_changed(ParameterBank& bank, const ParameterFilter& which);

/// Sum of squares of the gradients of the parameters that `which` selects.
double gradient_squared_norm(ParameterBank& bank, const ParameterFilter& which);

}  // namespace dynet
