#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/param/gradients.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

class ParameterBank;
class ValuesOnDevices;
struct CollectionNode;

/// One trained tensor, or one table of them: what a Parameter or LookupParameter stands for, and
/// what the library works with.
struct ParameterStorageBase {
  std::string name;          ///< full name, `/sub/name`
  Dim dim;                   ///< of the parameter, or of one row of a table
  std::size_t rows = 1;      ///< rows of a table
  bool is_lookup = false;    ///< a table
  std::size_t index = 0;     ///< among the parameters or the tables of its bank
  float* data = nullptr;     ///< all values, row after row
  bool updated = true;       ///< false: frozen, gets no gradient and no update
  Device* device = nullptr;  ///< where graphs use it; null: where the graph is
  ParameterBank* bank = nullptr;
  const CollectionNode* collection = nullptr;
  std::unique_ptr<ValuesOnDevices> on_device;  ///< null: no device has a copy
  std::atomic<bool> host_is_old = false;       ///< a device has newer values than `data`

  /// To be called before `data` is read or written: copies the newest values from a device that has
  /// them. Safe to call from several threads at once.
  void copy_to_host() {
    if (host_is_old.load(std::memory_order_acquire)) read_device();
  }
  std::size_t row_size() const { return dim.size(); }
  std::size_t size() const { return rows * row_size(); }
  bool is_updated() const { return updated; }
  /// To be called after every change of the values, which are the newest then.
  void changed();
  /// To be called when up-to-date values are handed out to a caller who may change them.
  void may_change();
  /// The shape of all values: a table has its number of rows as last size.
  Dim full_dim() const;

  /// As those of Parameter and LookupParameter.
  void zero();
  void scale_parameters(float s);
  void scale_gradient(float s);
  /// Throws IndexError for a row that is not there.
  void check_row(std::size_t row) const;
  /// Drops the gradient.
  void clear();
  /// Whether there is a gradient.
  bool has_grad() const;
  /// The sum of squares of the values, and of the gradient.
  void squared_l2norm(float* sum) const;
  void g_squared_l2norm(float* sum) const;

  ParameterStorageBase();
  ParameterStorageBase(const ParameterStorageBase&) = delete;
  ParameterStorageBase& operator=(const ParameterStorageBase&) = delete;
  virtual ~ParameterStorageBase();

 private:
  void read_device();
};

/// A trained tensor as programs written to DyNet touch it. `Parameter::p` and `get_storage` bring
/// the views up to date (`show`); kept longer they are right as long as those of Parameter::values
/// and Parameter::gradients. `show_values` is safe to call from several threads at once.
struct ParameterStorage : ParameterStorageBase {
  Tensor values;              ///< see Parameter::values
  Tensor g;                   ///< see Parameter::gradients
  bool nonzero_grad = false;  ///< whether there was a gradient

  ParameterStorage& show();
  ParameterStorage& show_values();
  ParameterStorage& show_gradient();
  /// As those of Parameter.
  void set_value(const std::vector<float>& numbers);
  void clip(float left, float right);
  /// The values of another one. Throws ShapeError for another shape.
  void copy(const ParameterStorage& other);
  /// Adds to the gradient. Throws ShapeError for another number of values.
  void accumulate_grad(const Tensor& gradient);
};

/// A table likewise: views of all of it, and of each row. What is written to a row's gradient
/// counts as if the row had been used.
struct LookupParameterStorage : ParameterStorageBase {
  Dim all_dim;  ///< the shape of the table: its last size is the number of rows
  Tensor all_values, all_grads;
  std::vector<Tensor> values, grads;  ///< by row
  std::unordered_set<unsigned> non_zero_grads;
  bool all_updated = false;  ///< whether the table was used as a whole
  bool nonzero_grad = false;

  LookupParameterStorage& show();
  LookupParameterStorage& show_values();
  /// As that of LookupParameter.
  void initialize(unsigned index, const std::vector<float>& numbers);
  /// The values of another one. Throws ShapeError for another shape.
  void copy(const LookupParameterStorage& other);
  /// Adds to the gradient of one row, or of all. Throws IndexError, ShapeError.
  void accumulate_grad(unsigned index, const Tensor& gradient);
  void accumulate_grad(const Tensor& gradient);
};

/// A collection's place in the tree of collections.
struct CollectionNode {
  std::string fullname;  ///< ends in `/`
  CollectionNode* parent = nullptr;
  float weight_decay = -1.0f;  ///< negative: the parent's
  Device* device = nullptr;    ///< of parameters that name none; null: the parent's
  std::map<std::string, int> used_names;
  std::vector<std::unique_ptr<CollectionNode>> children;

  float effective_weight_decay() const {
    for (const CollectionNode* n = this; n; n = n->parent)
      if (n->weight_decay >= 0) return n->weight_decay;
    return 0.0f;
  }
  Device* effective_device() const {
    for (const CollectionNode* n = this; n; n = n->parent)
      if (n->device) return n->device;
    return nullptr;
  }
  bool contains(const CollectionNode* other) const {
    for (; other; other = other->parent)
      if (other == this) return true;
    return false;
  }
};

/// Everything that a tree of collections owns. Handles and graphs share it, so a parameter lives as
/// long as anything that can name it.
class ParameterBank {
 public:
  ParameterBank() { root.fullname = "/"; }
  ParameterBank(const ParameterBank&) = delete;
  ParameterBank& operator=(const ParameterBank&) = delete;

  ParameterStorageBase& add(CollectionNode& collection, const std::string& name, const Dim& dim,
                            std::size_t rows, bool is_lookup);

  CollectionNode root;
  std::vector<std::unique_ptr<ParameterStorageBase>> parameters;
  std::vector<std::unique_ptr<ParameterStorageBase>> tables;
  GradientBuffers gradients;
  std::uint64_t seed = 1;
  /// How often values were changed by the library.
  std::atomic<std::uint64_t> changes = 0;
  std::mutex on_device;                    ///< held to look at what devices keep of its parameters
  std::uint64_t room = ~std::uint64_t{0};  ///< numbers that may still be added
};

/// Throws ArgumentError for what can be no weight decay; a negative one is that of the collection
/// around it, if there is one.
void check_weight_decay(float lambda, bool inherits);

/// `name` made unique in `collection` and put behind its full name, as DyNet does: `W`, `W_1`, ...,
/// and `_0`, `_1`, ... for parameters without a name. Throws ArgumentError for `/` and `_` in a
/// name.
std::string unique_name(CollectionNode& collection, const std::string& name);

}  // namespace dynet
