#include "dynet-like/io/inspect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

#include "dynet-like/base/errors.h"
#include "dynet-like/io/numpy.h"
#include "dynet-like/io/safetensors.h"

namespace dynet {
namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? "," : "") + std::to_string(shape[i]);
  return s + "]";
}

bool is_float(NamedTensor::Type type) { return type <= NamedTensor::Type::BF16; }

void print_values(const NamedTensor& t, std::ostream& out) {
  if (!is_float(t.type)) return;
  double squares = 0, least = std::numeric_limits<double>::infinity(), most = -least;
  std::size_t bad = 0;
  for (const float x : to_floats(t)) {
    if (!std::isfinite(x)) {
      ++bad;
      continue;
    }
    squares += static_cast<double>(x) * x;
    least = std::min<double>(least, x);
    most = std::max<double>(most, x);
  }
  out << "  norm " << std::sqrt(squares);
  if (least <= most) out << "  from " << least << " to " << most;
  if (bad > 0) out << "  not finite " << bad;
}

void print_tensors(const std::vector<NamedTensor>& tensors, std::ostream& out) {
  std::uint64_t bytes = 0;
  for (const NamedTensor& t : tensors) {
    out << "  " << t.name << "  " << type_name(t.type) << ' ' << shape_text(t.shape) << "  "
        << t.bytes.size() << " bytes";
    print_values(t, out);
    out << '\n';
    bytes += t.bytes.size();
  }
  out << tensors.size() << " arrays, " << bytes << " bytes of values\n";
}

std::vector<NamedTensor> tensors_of(const ModelFile& file) {
  std::vector<NamedTensor> all;
  std::map<std::string, int> kinds;
  for (const SavedGroup& g : file.index().groups) {
    const int number = ++kinds[g.kind];
    const bool plain =
        g.kind == "ParameterCollection" || g.kind == "Parameter" || g.kind == "LookupParameter";
    std::string prefix = plain && number == 1 ? "" : g.kind;
    if (number > 1) prefix += "." + std::to_string(number);
    for (NamedTensor& t : tensors_of(file, g)) {
      if (!prefix.empty()) t.name = prefix + "/" + t.name;
      all.push_back(std::move(t));
    }
  }
  return all;
}

void inspect_model(const std::string& path, std::ostream& out) {
  const ModelFile file(path);
  file.verify_all();
  const std::vector<NamedTensor> tensors = tensors_of(file);
  out << path << ": model file, format version " << kFormatVersion << ", " << file.size()
      << " bytes, all checksums right\n";
  for (std::size_t i = 0; i < file.index().things.size(); ++i) {
    const SavedThing& t = file.index().things[i];
    out << "thing " << i + 1 << ": " << t.kind << ", " << t.data.size << " bytes\n";
  }
  for (const SavedGroup& g : file.index().groups) {
    out << g.kind << ", " << g.tensors.size() << " tensors";
    for (const auto& [name, x] : g.numbers) out << "\n    " << name << " = " << x;
    for (const SavedTensor& t : g.tensors)
      if (!t.updated) out << "\n    " << t.name << " is frozen";
    out << '\n';
  }
  print_tensors(tensors, out);
}

const char* name_of(FileFormat f) {
  return f == FileFormat::model         ? "model file"
         : f == FileFormat::safetensors ? "safetensors"
         : f == FileFormat::npy         ? ".npy"
                                        : ".npz";
}

}  // namespace

FileFormat format_of_name(const std::string& path) {
  if (path.ends_with(".dynet")) return FileFormat::model;
  if (path.ends_with(".safetensors")) return FileFormat::safetensors;
  if (path.ends_with(".npy")) return FileFormat::npy;
  if (path.ends_with(".npz")) return FileFormat::npz;
  throw FileError(path + ": a name that ends in .dynet, .safetensors, .npy or .npz is needed");
}

FileFormat detect_format(const std::string& path) {
  const InputFile file(path);
  std::string start(std::min<std::uint64_t>(8, file.size()), '\0');
  file.read(0, start.data(), start.size());
  if (start.starts_with("\x89"
                        "dynet"))
    return FileFormat::model;
  if (start.starts_with("\x93NUMPY")) return FileFormat::npy;
  if (start.starts_with("PK")) return FileFormat::npz;
  if (path.ends_with(".safetensors")) return FileFormat::safetensors;
  file.fail("it is no file of a kind that is known");
}

std::vector<NamedTensor> read_tensors(const std::string& path) {
  switch (detect_format(path)) {
    case FileFormat::model: {
      const ModelFile file(path);
      file.verify_all();
      return tensors_of(file);
    }
    case FileFormat::safetensors:
      return read_safetensors(path);
    case FileFormat::npz:
      return read_npz(path);
    default:
      return {read_npy(path)};
  }
}

void write_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                   const SaveOptions& options) {
  switch (format_of_name(path)) {
    case FileFormat::safetensors:
      return write_safetensors(path, tensors, {}, options);
    case FileFormat::npz:
      return write_npz(path, tensors, options);
    case FileFormat::npy:
      if (tensors.size() != 1)
        throw FileError("cannot save " + path + ": .npy holds one array, not " +
                        std::to_string(tensors.size()));
      return write_npy(path, tensors[0], options);
    default:
      return write_model_tensors(path, tensors, options);
  }
}

void inspect(const std::string& path, std::ostream& out) {
  const FileFormat format = detect_format(path);
  if (format == FileFormat::model) return inspect_model(path, out);
  const std::vector<NamedTensor> tensors = read_tensors(path);
  out << path << ": " << name_of(format) << '\n';
  print_tensors(tensors, out);
}

std::size_t print_differences(const std::string& a, const std::string& b, std::ostream& out) {
  const std::vector<NamedTensor> one = read_tensors(a), two = read_tensors(b);
  std::map<std::string, const NamedTensor*> others;
  for (const NamedTensor& t : two) others[t.name] = &t;
  std::size_t differ = 0, same = 0;
  std::set<std::string> seen;
  for (const NamedTensor& t : one) {
    const auto found = others.find(t.name);
    seen.insert(t.name);
    if (found == others.end()) {
      out << t.name << " is in " << a << " only\n";
    } else if (const NamedTensor& u = *found->second; t.type != u.type || t.shape != u.shape) {
      out << t.name << " is " << type_name(t.type) << ' ' << shape_text(t.shape) << " and "
          << type_name(u.type) << ' ' << shape_text(u.shape) << '\n';
    } else if (t.bytes != u.bytes) {
      out << t.name << " differs";
      if (is_float(t.type)) {
        const std::vector<float> x = to_floats(t), y = to_floats(u);
        double most = 0;
        std::size_t values = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          values += x[i] != y[i];
          const double d = std::abs(static_cast<double>(x[i]) - y[i]);
          if (d > most) most = d;
        }
        out << " in " << values << " of " << x.size() << " values, by " << most << " at most";
      }
      out << '\n';
    } else {
      ++same;
      continue;
    }
    ++differ;
  }
  for (const NamedTensor& t : two)
    if (!seen.contains(t.name)) {
      out << t.name << " is in " << b << " only\n";
      ++differ;
    }
  out << same << " arrays are the same, " << differ << " differ\n";
  return differ;
}

}  // namespace dynet
