#include "dynet-like/compat/text_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/compat/initialize.h"
#include "dynet-like/io/pieces.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

constexpr std::string_view kParameter = "#Parameter#", kTable = "#LookupParameter#";
constexpr std::string_view kSpace = " \t\r\n\v\f";

void check_name(const std::string& name) {
  if (name.empty() || name.find_first_of(" \t\r\n\v\f#") != std::string::npos)
    throw ArgumentError("a name in a model file has neither white space nor #, got " +
                        quoted_printable(name));
}

std::string with_slash(const std::string& key) { return key.back() == '/' ? key : key + "/"; }

// Nine significant digits, which determine a float.
void append(std::string& text, float x) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, x, std::chars_format::scientific, 8).ptr;
  if (digits[0] != '-') text += '+';
  text.append(digits, end);
}

template <class ValueOf>
std::string line_of(std::size_t n, ValueOf value) {
  std::string line;
  line.reserve(16 * n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (i) line += ' ';
    append(line, value(i));
  }
  return line + '\n';
}

// Text of one tensor in a file; the gradient may be empty.
std::string text_of(bool is_table, const std::string& name, const Dim& dim, const float* values,
                    const std::vector<float>& gradient = {}) {
  check_name(name);
  const std::size_t n = dim.size();
  std::string text = line_of(n, [=](std::size_t i) { return values[i]; });
  if (!gradient.empty()) text += line_of(n, [&](std::size_t i) { return gradient[i]; });
  std::string head(is_table ? kTable : kParameter);
  head += ' ' + name + ' ' + to_string(dim) + ' ' + std::to_string(text.size());
  return head + (gradient.empty() ? " ZERO_GRAD\n" : " FULL_GRAD\n") + text;
}

// The gradient of a parameter or table; empty if all of it is zero.
std::vector<float> gradient_of(const ParameterStorageBase& p, const GradientBuffer& sum) {
  std::vector<float> g;
  if (!p.is_lookup) {
    if (const float* from = sum.find(p.index)) g.assign(from, from + p.size());
  } else if (const RowGradients* const r = sum.find_rows(p.index)) {
    g.assign(p.size(), 0.0f);
    for (std::uint32_t row = 0; row < p.rows; ++row)
      if (const float* from = r->gradient_of(row))
        std::copy_n(from, p.row_size(), g.data() + row * p.row_size());
  }
  if (std::all_of(g.begin(), g.end(), [](float x) { return x == 0; })) g.clear();
  return g;
}

void set_gradient(ParameterStorageBase& p, const std::vector<float>& g) {
  p.clear();
  if (g.empty()) return;
  GradientBuffer& buffer = p.bank->gradients.mine();
  float* to = p.is_lookup ? buffer.rows(p.index, p.rows, p.row_size()).use_whole().g
                          : buffer.use(p.index, p.size()).g;
  std::copy(g.begin(), g.end(), to);
}

struct SavedText {
  std::string name;
  bool is_table = false;
  Dim dim;  // for a table, the last size is the number of rows
  std::size_t line = 0;
  std::vector<float> values, gradient;
};

class Reader {
 public:
  explicit Reader(const std::string& filename, const FileSystem* files = nullptr)
      : filename_(filename), in_(filename, files) {}

  /// Reads all tensors for which `wanted(name, is_table)` holds.
  template <class Wanted>
  std::vector<SavedText> read(Wanted wanted) {
    std::vector<SavedText> all;
    next_line();
    while (more_) {
      if (is_blank()) {
        next_line();
        continue;
      }
      bool has_gradient = false;
      SavedText t = header(has_gradient);
      const bool keep = wanted(t.name, t.is_table);
      const std::size_t n = t.dim.size();
      std::vector<float> numbers;
      for (next_line(); more_ && !line_.starts_with('#'); next_line())
        if (keep) read_numbers(numbers);
      if (!keep) continue;
      if (numbers.size() != (has_gradient ? 2 * n : n))
        fail(t.line, t.name + " " + to_string(t.dim) + " needs " +
                         std::to_string(has_gradient ? 2 * n : n) + " numbers, got " +
                         std::to_string(numbers.size()));
      t.gradient.assign(numbers.begin() + static_cast<std::ptrdiff_t>(n), numbers.end());
      numbers.resize(n);
      t.values = std::move(numbers);
      all.push_back(std::move(t));
    }
    return all;
  }

  [[noreturn]] void fail(std::size_t line, const std::string& why) const {
    throw FileError(printable(filename_ + (line ? ":" + std::to_string(line) : "") + ": " + why));
  }

 private:
  void next_line() {
    more_ = lines_.until('\n', std::numeric_limits<std::size_t>::max(), line_);
    ++number_;
  }
  bool is_blank() const { return line_.find_first_not_of(kSpace) == line_.npos; }

  SavedText header(bool& has_gradient) const {
    std::istringstream words{std::string(line_)};
    std::string type, sizes, bytes, gradient;
    SavedText t;
    words >> type >> t.name >> sizes >> bytes >> gradient;
    if ((type != kParameter && type != kTable) || sizes.empty())
      fail(number_, "is no line of a model: \"" + std::string(line_.substr(0, 60)) + '"');
    t.is_table = type == kTable;
    t.line = number_;
    if (!read_dim(sizes, t.dim)) fail(number_, t.name + ": \"" + sizes + "\" is no shape");
    if (t.is_table && t.dim.nd == 0) fail(number_, t.name + ": a table needs a number of rows");
    if (!gradient.empty() && gradient != "ZERO_GRAD" && gradient != "FULL_GRAD")
      fail(number_, t.name + ": ZERO_GRAD or FULL_GRAD is needed, got \"" + gradient + '"');
    has_gradient = gradient == "FULL_GRAD";
    return t;
  }

  static bool read_dim(std::string_view s, Dim& dim) {
    if (s.size() < 2 || s.front() != '{' || s.back() != '}') return false;
    s = s.substr(1, s.size() - 2);
    double elements = 1;
    while (!s.empty()) {
      unsigned size = 0;
      const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), size);
      if (error != std::errc() || dim.nd == kMaxTensorDim) return false;
      dim.add_dim(size);
      elements *= size;
      s.remove_prefix(static_cast<std::size_t>(end - s.data()));
      if (s.empty()) break;
      if (s.front() != ',' || s.size() == 1) return false;
      s.remove_prefix(1);
    }
    return elements < 1e15;
  }

  void read_numbers(std::vector<float>& numbers) const {
    const char* at = line_.data();
    const char* const end = at + line_.size();
    while (true) {
      while (at != end && kSpace.find(*at) != kSpace.npos) ++at;
      if (at == end) return;
      if (*at == '+') ++at;
      float x = 0;
      const auto [next, error] = std::from_chars(at, end, x);
      if (error != std::errc() || (next != end && kSpace.find(*next) == kSpace.npos))
        fail(number_, "\"" + std::string(at, std::min(end, at + 20)) + "\" begins with no number");
      numbers.push_back(x);
      at = next;
    }
  }

  std::string filename_;
  InputFile in_;
  io_detail::Pieces lines_{in_};
  std::string_view line_;
  std::size_t number_ = 0;
  bool more_ = false;
};

void check_fits(const Reader& in, const SavedText& t, ParameterStorageBase& p) {
  if (t.dim != p.full_dim())
    in.fail(t.line, t.name + " is " + to_string(t.dim) + " in the file and " + p.name + " " +
                        to_string(p.full_dim()) + " here");
}

void store(SavedText& t, ParameterStorageBase& p) {
  p.copy_to_host();
  std::copy(t.values.begin(), t.values.end(), p.data);
  p.changed();
  set_gradient(p, t.gradient);
}

SavedText find(Reader& in, const std::string& name, bool is_table) {
  auto found = in.read(
      [&](const std::string& other, bool table) { return other == name && table == is_table; });
  if (found.empty())
    in.fail(0, std::string("there is no ") + (is_table ? "table " : "parameter ") + name);
  return std::move(found.front());
}

void populate_one(const std::string& filename, ParameterStorageBase& p, const std::string& key) {
  io_detail::with_memory("load", filename, [&] {
    Reader in(filename);
    SavedText t = find(in, key.empty() ? p.name : key, p.is_lookup);
    check_fits(in, t, p);
    store(t, p);
  });
}

}  // namespace

// Output of one call of `save`, which replaces the file or appends to it. After a failure the file
// is unchanged.
class TextFileSaver::Output {
 public:
  Output(const std::string& filename, bool replaces) : filename_(filename) {
    if (replaces) {
      file_.emplace(filename);
      return;
    }
    stream_.open(filename, std::ios::app | std::ios::binary);
    if (!stream_) fail("cannot be written");
    struct stat info = {};
    regular_ = ::stat(filename.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    size_ = info.st_size;
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (committed_ || file_ || !regular_) return;
    stream_.close();
    static_cast<void>(::truncate(filename_.c_str(), size_) == 0);
  }

  void write(const ParameterStorageBase& p, const std::string& name,
             const GradientBuffer& gradients) {
    const std::string text =
        text_of(p.is_lookup, name, p.full_dim(), p.data, gradient_of(p, gradients));
    file_ ? file_->write(text) : void(stream_ << text);
  }
  void commit() {
    if (file_) return file_->commit();
    stream_.close();
    if (!stream_) fail("writing failed");
    committed_ = true;
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw FileError(printable(filename_) + ": " + why);
  }

  const std::string& filename_;
  std::optional<NewFile> file_;
  std::ofstream stream_;
  off_t size_ = 0;  // before this output
  bool regular_ = false, committed_ = false;
};

TextFileSaver::TextFileSaver(const std::string& filename, bool append) : filename_(filename) {
  // Pipes and terminals cannot be replaced; output is appended to them.
  struct stat info = {};
  replaces_ = !append && (::stat(filename.c_str(), &info) != 0 || S_ISREG(info.st_mode) ||
                          S_ISDIR(info.st_mode));
  const Output writable(filename, replaces_);
}

template <class WriteAll>
void TextFileSaver::save_all(WriteAll write_all) {
  io_detail::with_memory("save", filename_, [&] {
    Output out(filename_, replaces_);
    write_all(out);
    out.commit();
    replaces_ = false;
  });
}

void TextFileSaver::save(const ParameterCollection& model, const std::string& key) {
  const std::size_t strip = key.empty() ? 0 : model.get_fullname().size();
  const std::string prefix = key.empty() ? "" : with_slash(key);
  save_all([&](Output& out) {
    for (const LookupParameter& p : model.lookup_parameters_list()) p.stored().copy_to_host();
    for (const Parameter& p : model.parameters_list()) p.stored().copy_to_host();
    const GradientBuffer& gradients = model.bank().gradients.merged();
    const auto write = [&](const ParameterHandle& p) {
      out.write(p.stored(), prefix + p.get_fullname().substr(strip), gradients);
    };
    for (const Parameter& p : model.parameters_list()) write(p);
    for (const LookupParameter& p : model.lookup_parameters_list()) write(p);
  });
}

void TextFileSaver::save_one(const ParameterHandle& p, const std::string& key) {
  ParameterStorageBase& s = p.stored();
  save_all([&](Output& out) {
    s.copy_to_host();
    out.write(s, key.empty() ? s.name : key, s.bank->gradients.merged());
  });
}

void TextFileSaver::save(const Parameter& p, const std::string& key) { save_one(p, key); }

void TextFileSaver::save(const LookupParameter& p, const std::string& key) { save_one(p, key); }

void TextFileLoader::populate(ParameterCollection& model, const std::string& key) {
  io_detail::with_memory("load", filename_, [&] {
    Reader in(filename_);
    const std::string prefix = key.empty() ? "" : with_slash(key);
    auto saved = in.read(
        [&](const std::string& name, bool) { return name.compare(0, prefix.size(), prefix) == 0; });
    std::vector<ParameterStorageBase*> parameters, tables;
    for (const Parameter& p : model.parameters_list()) parameters.push_back(&p.stored());
    for (const LookupParameter& p : model.lookup_parameters_list()) tables.push_back(&p.stored());
    const auto count = [&](bool table) {
      return static_cast<std::size_t>(std::count_if(
          saved.begin(), saved.end(), [=](const SavedText& t) { return t.is_table == table; }));
    };
    if (count(false) != parameters.size() || count(true) != tables.size())
      in.fail(0, "holds " + std::to_string(count(false)) + " parameters and " +
                     std::to_string(count(true)) + " tables" +
                     (prefix.empty() ? "" : " under " + prefix) + ", the model has " +
                     std::to_string(parameters.size()) + " and " + std::to_string(tables.size()));
    for (const bool storing : {false, true}) {
      std::size_t next[2] = {0, 0};
      for (SavedText& t : saved) {
        ParameterStorageBase& p = *(t.is_table ? tables : parameters)[next[t.is_table]++];
        storing ? store(t, p) : check_fits(in, t, p);
      }
    }
  });
}

void TextFileLoader::populate(Parameter& p, const std::string& key) {
  populate_one(filename_, p.stored(), key);
}

void TextFileLoader::populate(LookupParameter& p, const std::string& key) {
  populate_one(filename_, p.stored(), key);
}

Parameter TextFileLoader::load_param(ParameterCollection& model, const std::string& key) {
  return io_detail::with_memory("load", filename_, [&] {
    Reader in(filename_);
    SavedText t = find(in, key, false);
    Parameter p = model.add_parameters(t.dim, ParameterInitConst(0));
    store(t, p.stored());
    return p;
  });
}

LookupParameter TextFileLoader::load_lookup_param(ParameterCollection& model,
                                                  const std::string& key) {
  return io_detail::with_memory("load", filename_, [&] {
    Reader in(filename_);
    SavedText t = find(in, key, true);
    Dim row = t.dim;
    const unsigned rows = row.d[row.nd - 1];
    row.resize(row.nd - 1);
    LookupParameter p = model.add_lookup_parameters(rows, row, ParameterInitConst(0));
    store(t, p.stored());
    return p;
  });
}

std::vector<NamedTensor> read_text_tensors(const std::string& filename, const FileSystem* files) {
  return io_detail::with_memory("load", filename, [&] {
    Reader in(filename, files);
    std::vector<NamedTensor> all;
    for (const SavedText& t : in.read([](const std::string&, bool) { return true; })) {
      SavedTensor s;
      s.name = t.name;
      s.is_lookup = t.is_table;
      s.sizes.assign(t.dim.d, t.dim.d + t.dim.nd);
      if (t.is_table) {
        s.rows = s.sizes.back();
        s.sizes.pop_back();
      }
      all.push_back(to_named_tensor(s, t.values.data()));
    }
    return all;
  });
}

void write_text_tensors(const std::string& filename, const std::vector<NamedTensor>& tensors,
                        const SaveOptions& options) {
  io_detail::with_memory("save", filename, [&] {
    NewFile file(filename, options.files);
    try {
      for (const NamedTensor& t : tensors) {
        const auto [saved, values] = to_saved_tensor(t);
        std::vector<long> sizes(saved.sizes.begin(), saved.sizes.end());
        if (saved.is_lookup) sizes.push_back(static_cast<long>(saved.rows));
        file.write(text_of(saved.is_lookup, saved.name, Dim(sizes), values.data()));
      }
      file.commit();
    } catch (const FileError& e) {
      const std::string why = e.what();
      if (why.starts_with("cannot save")) throw;
      file.fail(why);
    }
  });
}

void save_dynet_model(const std::string& filename, const ParameterCollection* model) {
  if (!model) throw ArgumentError("save_dynet_model: needs a model, got a null pointer");
  TextFileSaver(filename).save(*model, "/model");
}

void load_dynet_model(const std::string& filename, ParameterCollection* model) {
  if (!model) throw ArgumentError("load_dynet_model: needs a model, got a null pointer");
  TextFileLoader(filename).populate(*model, "/model");
}

}  // namespace dynet
