#pragma once

#include <string>
#include <vector>

#include "dynet-like/io/exchange.h"
#include "dynet-like/param/parameters.h"

// DyNet's model files. Each tensor has a line
//   #Parameter# <name> {<sizes>} <bytes that follow> ZERO_GRAD|FULL_GRAD
// or #LookupParameter# with the number of rows as last size, then a line of its values,
// column-major, and with FULL_GRAD a line of its gradient. Files of `dynet::save` are smaller, have
// checksums and are replaced atomically.

namespace dynet {

/// Base of model writers. A key replaces the full name; it must not contain white space or `#`.
class Saver {
 public:
  Saver() = default;
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  virtual ~Saver() = default;
  /// Saves all parameters, then all tables. With a key their names are `key/` followed by their
  /// names relative to the collection.
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
  /// Loads the saved tensors under `key/`, or all, into the model in the order of saving,
  /// parameters and tables separately; names are ignored.
  virtual void populate(ParameterCollection& model, const std::string& key = "") = 0;
  /// Loads the tensor saved as `key`, by default under the parameter's name.
  virtual void populate(Parameter& p, const std::string& key = "") = 0;
  virtual void populate(LookupParameter& p, const std::string& key = "") = 0;
  /// Adds a parameter with the shape and the values of the tensor saved as `key`.
  virtual Parameter load_param(ParameterCollection& model, const std::string& key) = 0;
  virtual LookupParameter load_lookup_param(ParameterCollection& model, const std::string& key) = 0;
};

/// The first `save` replaces the file, unless `append` is set; later ones append to it. Each call
/// writes everything or nothing. Throws FileError if the file cannot be written, ArgumentError for
/// an invalid key or name.
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

/// Throws FileError, which names the file and the line, for a file that cannot be read or has
/// another content; the model is unchanged then.
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

/// All tensors of a text file, in the layout of other programs; names are without the first `/`,
/// gradients are skipped. `files` null: the operating system's. Throws FileError.
std::vector<NamedTensor> read_text_tensors(const std::string& filename,
                                           const FileSystem* files = nullptr);
/// Writes arrays as a text file; on an error the old file is unchanged. Throws FileError for
/// integer arrays and for more than seven sizes, ArgumentError for an invalid name.
void write_text_tensors(const std::string& filename, const std::vector<NamedTensor>& tensors,
                        const SaveOptions& options = {});

/// Old names of TextFileSaver::save and TextFileLoader::populate, with the key `/model`.
void save_dynet_model(const std::string& filename, const ParameterCollection* model);
void load_dynet_model(const std::string& filename, ParameterCollection* model);

}  // namespace dynet
