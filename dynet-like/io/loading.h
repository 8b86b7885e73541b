#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/arena.h"
#include "dynet-like/io/model_file.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/train/trainer.h"

namespace dynet {

/// How a file is loaded. By default everything in it must fit, name by name.
struct LoadOptions {
  bool allow_missing = false;   ///< parameters that the file does not have keep their values
  bool allow_extra = false;     ///< what the file has and the model does not is left out
  bool allow_reshaped = false;  ///< parameters of another shape in the file keep their values
  /// Names in the file, and what they are called here; a name that ends in `/` stands for all that
  /// begin with it. The longest one counts. Each must be found.
  std::map<std::string, std::string> rename = {};
  bool settings = true;  ///< load what is frozen and weight decay too
  /// Maps the file instead of reading it: several times as fast where the system has it in memory,
  /// and without memory beside the model. To be chosen only if no other program changes the file in
  /// its place meanwhile, which `save` never does: if it is cut short, the process ends.
  bool map = false;
  const FileSystem* files = nullptr;  ///< null: the operating system's
};

/// Result of a load.
struct LoadReport {
  std::size_t loaded = 0;             ///< parameters and tables that got their values
  std::vector<std::string> left_out;  ///< the differences that LoadOptions allowed, printable
};

/// The parameters of a collection and below it, parameters first, and their names relative to it.
/// Whole names for the root, `/sub/W`.
std::vector<std::pair<std::string, ParameterStorageBase*>> named_parameters(
    const ParameterCollection& pc);

/// `{3,4}`, or `a table of 6 rows {2}`.
std::string describe_shape(bool is_lookup, const Dim& dim, std::size_t rows);

/// Parameters or a trainer as a file lists them, and where their values are now.
struct GroupView {
  SavedGroup group;
  std::vector<const float*> values;   ///< of each tensor
  std::shared_ptr<const void> owner;  ///< keeps the values alive, but for a trainer's
};
GroupView view_of(const ParameterCollection& pc);
/// `kind` is "Parameter" or "LookupParameter".
GroupView view_of(const ParameterHandle& p, const char* kind);
GroupView view_of(const Trainer& trainer);
/// Whether all of its numbers are finite.
bool is_finite(const GroupView& view);

/// Contents to be written in a model file.
class Saving {
 public:
  /// The archive of one more thing, to be appended to. It stays where it is.
  std::string& add_thing(std::string kind);
  /// Returns the number of the group. The values must stay as they are until `write`.
  std::uint64_t add(GroupView view);
  /// Replaces a group that was added.
  void replace(std::uint64_t number, GroupView view);
  void write(const std::string& path, const SaveOptions& options) const;

 private:
  FileIndex index_;
  std::deque<std::string> archives_;
  std::vector<GroupView> views_;
};

/// A group that was read, with its values if they do not lie in sections of a file.
struct IncomingGroup {
  SavedGroup group;
  std::vector<std::vector<float>> values;
};

/// Values read for parameters and trainers, until all of them are certain to fit.
class Loading {
 public:
  explicit Loading(LoadOptions options = {});
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

  /// Name in the program of a name in the file.
  std::string renamed(const std::string& name);
  void add(const ParameterCollection& pc, IncomingGroup in);
  /// Throws ArgumentError for an empty handle.
  void add(const ParameterHandle& p, IncomingGroup in);
  /// The trainer must outlive this.
  void add(Trainer& trainer, IncomingGroup in);
  /// Why what was read does not fit, all reasons at once; empty if it fits. Before `all` is read,
  /// names to be renamed may still be found.
  std::string problem(bool all = true) const;
  /// Reads the values from the file, and verifies all sections. The file must live until `commit`.
  void read(const ModelFile& file);
  /// Stores everything. To be called if there is no `problem`. Throws OutOfMemoryError, changing
  /// nothing unless several trainers are loaded.
  LoadReport commit();

 private:
  struct Values {
    ParameterStorageBase* to;
    bool updated;
    const float* values;  // in memory_ or in a mapped file
  };
  struct Read {
    Section from;
    std::function<void(const ModelFile& file, const Section& from)> read;
  };
  using Here = std::map<std::string, ParameterStorageBase*>;

  void differ(bool allowed, const std::string& why);
  void match(const Here& here, IncomingGroup& in);
  void take(ParameterStorageBase& p, const SavedTensor& t, const std::vector<float>* values);

  LoadOptions options_;
  std::map<std::string, bool> rename_used_;
  std::vector<std::shared_ptr<const void>> owners_;  // keep the parameters alive
  Arena memory_;                                     // for the values
  std::vector<Values> values_;
  std::vector<std::pair<CollectionNode*, float>> decays_;
  std::vector<std::pair<Trainer*, TrainerSnapshot>> trainers_;
  std::vector<Read> reads_;
  std::vector<std::string> differences_, left_out_;
};

}  // namespace dynet
