#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"
#include "dynet-like/param/parameters.h"

// DyNet's model files: for each tensor a line
//   #Parameter# <name> {<sizes>} <bytes that follow> ZERO_GRAD|FULL_GRAD
// or #LookupParameter# with the number of rows as last size, then a line of its values,
// column-major, and with FULL_GRAD a line of its gradient. `dynet::save` writes files that are
// smaller, checked and replaced as a whole.

namespace dynet {

/// Base of writers of models. A key stands for the full name; keys contain neither white space nor
/// `#`.
class Saver {
 public:
  Saver() = default;
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  virtual ~Saver() = default;
  /// All parameters, then all tables; with a key their names are `key/` and what is behind the name
  /// of the collection.
  virtual void save(const ParameterCollection& model, const std::string& key = "") = 0;
  virtual void save(const Parameter& p, const std::string& key = "") = 0;
  virtual void save(const LookupParameter& p, const std::string& key = "") = 0;
};

class Loader {
 public:
  Loader() = default;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  virtual ~Loader() = default;
  /// The saved tensors under `key/`, or all: in their order, parameters and tables apart, whatever
  /// their names.
  virtual void populate(ParameterCollection& model, const std::string& key = "") = 0;
  /// The tensor that was saved as `key`, by default under its own name.
  virtual void populate(Parameter& p, const std::string& key = "") = 0;
  virtual void populate(LookupParameter& p, const std::string& key = "") = 0;
  /// A new parameter with the shape and the values of what was saved as `key`.
  virtual Parameter load_param(ParameterCollection& model, const std::string& key) = 0;
  virtual LookupParameter load_lookup_param(ParameterCollection& model, const std::string& key) = 0;
};

/// The first `save` replaces the file unless it is to be appended to, those after it append. Each
/// writes all or nothing. Throws FileError if the file cannot be written, ArgumentError for a key
/// or name that breaks the rule above.
class TextFileSaver : public Saver {
 public:
  explicit TextFileSaver(const std::string& filename, bool append = false);
  void save(const ParameterCollection& model, const std::string& key = "") override;
  void save(const Parameter& p, const std::string& key = "") override;
  void save(const LookupParameter& p, const std::string& key = "") override;

 private:
  class Output;

  template <class WriteAll>
  void save_all(WriteAll write_all);
  void save_one(const ParameterHandle& p, const std::string& key);

  std::string filename_;
  bool replaces_;
};

/// Throws FileError, naming the file and the line, for a file that cannot be read or holds
/// something else, changing nothing.
class TextFileLoader : public Loader {
 public:
  explicit TextFileLoader(const std::string& filename) : filename_(filename) {}
  void populate(ParameterCollection& model, const std::string& key = "") override;
  void populate(Parameter& p, const std::string& key = "") override;
  void populate(LookupParameter& p, const std::string& key = "") override;
  Parameter load_param(ParameterCollection& model, const std::string& key) override;
  LookupParameter load_lookup_param(ParameterCollection& model, const std::string& key) override;

 private:
  std::string filename_;
};

/// All tensors of such a file as other programs have them, their names without the first `/`; what
/// gradients there are is left out. `files` null: the operating system's. Throws FileError.
std::vector<NamedTensor> read_text_tensors(const std::string& filename,
                                           const FileSystem* files = nullptr);
/// Writes arrays as such a file, or leaves the old one. Throws FileError for what is no float or
/// has more than seven sizes, ArgumentError for a name as above.
void write_text_tensors(const std::string& filename, const std::vector<NamedTensor>& tensors,
                        const SaveOptions& options = {});

/// The same as the classes with the key `/model`: old names.
void save_dynet_model(const std::string& filename, const ParameterCollection* model);
void load_dynet_model(const std::string& filename, ParameterCollection* model);

}  // namespace dynet
