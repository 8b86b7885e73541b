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
#include "dynet-like/param/int8_matrix.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/train/trainer.h"

namespace dynet {

/// Options of loading. By default the file and the model must have the same names and shapes.
struct LoadOptions {
  bool allow_missing = false;   ///< parameters missing in the file keep their values
  bool allow_extra = false;     ///< parameters missing in the model are ignored
  bool allow_reshaped = false;  ///< parameters with another shape in the file keep their values
  /// Maps names in the file to names in the program; a name that ends in `/` is a prefix. The
  /// longest match wins. Every entry must match.
  std::map<std::string, std::string> rename = {};
  bool settings = true;  ///< also load frozen flags and weight decay
  /// Maps the file into memory instead of reading it. Parameters are then used where they lie in
  /// the file, whose pages all processes share; those that are changed are copied by the system.
  /// Views of values that were taken before are left behind. Safe only if no program changes the
  /// file in place as long as the parameters live (`save` never does): their values would change,
  /// and if the file is truncated, the system ends the process.
  bool map = false;
  /// False, with `map`: checksums of parameters are not compared, so that a page is read when it is
  /// first used. Damage then goes unnoticed; `dynet-like inspect` finds it.
  bool verify = true;
  const FileSystem* files = nullptr;  ///< null: the operating system's
};

/// Result of a load.
struct LoadReport {
  std::size_t loaded = 0;             ///< number of parameters and tables with loaded values
  std::vector<std::string> left_out;  ///< the differences that LoadOptions allowed, printable
};

/// The parameters of a collection and its subcollections, parameters first, with their names
/// relative to it; names of the root are complete, `/sub/W`.
std::vector<std::pair<std::string, ParameterStorageBase*>> named_parameters(
    const ParameterCollection& pc);

/// `{3,4}`, or `a table of 6 rows {2}`.
std::string describe_shape(bool is_lookup, const Dim& dim, std::size_t rows);

/// A group (parameters or a trainer) as stored in a file, with pointers to its values.
struct GroupView {
  SavedGroup group;
  std::vector<const float*> values;   ///< of each tensor
  std::shared_ptr<const void> owner;  ///< keeps the values alive, except a trainer's
};
GroupView view_of(const ParameterCollection& pc);
/// `kind` is "Parameter" or "LookupParameter".
GroupView view_of(const ParameterHandle& p, const char* kind);
GroupView view_of(const Trainer& trainer);
/// Returns whether all values are finite.
bool is_finite(const GroupView& view);

/// Collects the contents of a model file and writes it.
class Saving {
 public:
  /// Adds a thing and returns its archive, to be appended to. The reference stays valid.
  std::string& add_thing(std::string kind);
  /// Returns the number of the group. The values must not change until `write`.
  std::uint64_t add(GroupView view);
  /// Replaces the group `number`.
  void replace(std::uint64_t number, GroupView view);
  void write(const std::string& path, const SaveOptions& options) const;

 private:
  FileIndex index_;
  std::deque<std::string> archives_;
  std::vector<GroupView> views_;
};

/// A group from a file or an archive; `values` is empty if they are in sections of a file.
struct IncomingGroup {
  SavedGroup group;
  std::vector<std::vector<float>> values;
};

/// Collects values for parameters and trainers, and stores them once all of them are verified.
class Loading {
 public:
  explicit Loading(LoadOptions options = {});
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

  /// Maps a name in the file to a name in the program.
  std::string renamed(const std::string& name);
  void add(const ParameterCollection& pc, IncomingGroup in);
  /// Throws ArgumentError for an empty handle.
  void add(const ParameterHandle& p, IncomingGroup in);
  /// The trainer must outlive this object.
  void add(Trainer& trainer, IncomingGroup in);
  /// Describes all mismatches found so far; empty if there are none. With `all` (everything is
  /// added), unmatched entries of LoadOptions::rename are mismatches as well.
  std::string problem(bool all = true) const;
  /// Reads the values from the file and verifies all sections. The file must live until `commit`.
  void read(const ModelFile& file);
  /// Stores all values. Requires that `problem` is empty. Throws OutOfMemoryError; then nothing has
  /// changed, unless several trainers are loaded.
  LoadReport commit();

 private:
  struct Values {
    ParameterStorageBase* to;
    bool updated;
    float* values;                                  // in memory_ or in a mapped file
    std::shared_ptr<const void> mapping = nullptr;  // null: in memory_
    std::unique_ptr<const Int8Matrix> int8 = nullptr;
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
  Arena memory_;                                     // holds the values
  std::vector<Values> values_;
  std::vector<std::pair<CollectionNode*, float>> decays_;
  std::vector<std::pair<Trainer*, TrainerSnapshot>> trainers_;
  std::vector<Read> reads_;
  std::vector<std::string> differences_, left_out_;
};

}  // namespace dynet
