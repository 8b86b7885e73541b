#include "tools/cli/inspect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "dynet-like/base/printable.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/layout.h"

namespace cli {
namespace {

using namespace dynet;

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? "," : "") + std::to_string(shape[i]);
  return s + "]";
}

bool is_float(NamedTensor::Type type) { return type <= NamedTensor::Type::BF16; }

// Bars of a histogram from the smallest to the largest number; the fullest bar has full height.
std::string histogram(const std::vector<float>& numbers, double least, double most) {
  constexpr std::size_t kBars = 16;
  constexpr std::array<const char*, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::array<std::size_t, kBars> counts{};
  for (const float x : numbers)
    if (std::isfinite(x))
      ++counts[std::min(kBars - 1, static_cast<std::size_t>((x - least) / (most - least) * kBars))];
  const std::size_t fullest = *std::max_element(counts.begin(), counts.end());
  std::string bars;
  for (const std::size_t n : counts)
    bars += kHeights[(n * (kHeights.size() - 1) + fullest - 1) / fullest];
  return bars;
}

// Rows of a table without a number other than zero: never trained from zero, or cut to it.
std::size_t dead_rows(const NamedTensor& t, const std::vector<float>& numbers) {
  const std::size_t rows = t.shape.empty() ? 0 : t.shape[0];
  if (!t.is_table || rows == 0) return 0;
  const std::size_t size = numbers.size() / rows;
  std::size_t dead = 0;
  for (std::size_t r = 0; r < rows; ++r)
    dead += std::all_of(numbers.begin() + static_cast<std::ptrdiff_t>(r * size),
                        numbers.begin() + static_cast<std::ptrdiff_t>((r + 1) * size),
                        [](float x) { return x == 0; });
  return dead;
}

void print_values(const NamedTensor& t, std::ostream& out) {
  if (!is_float(t.type)) return;
  constexpr std::size_t kFew = 16;  // without a histogram
  double squares = 0, least = std::numeric_limits<double>::infinity(), most = -least;
  std::size_t bad = 0;
  const std::vector<float> numbers = to_floats(t);
  for (const float x : numbers) {
    if (!std::isfinite(x)) {
      ++bad;
      continue;
    }
    squares += static_cast<double>(x) * x;
    least = std::min<double>(least, x);
    most = std::max<double>(most, x);
  }
  if (least <= most || numbers.empty()) out << "  norm " << std::sqrt(squares);
  if (least <= most) out << "  from " << least << " to " << most;
  if (bad > 0) out << "  not finite " << bad;
  if (const std::size_t dead = dead_rows(t, numbers); dead > 0)
    out << "  rows of zeros " << dead << " of " << t.shape[0];
  if (numbers.size() > kFew && least < most) out << "  [" << histogram(numbers, least, most) << ']';
}

// Prints each line of an untrusted text.
void print_lines(const std::string& text, std::ostream& out) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out << "    " << printable(line) << '\n';
}

void inspect_model(const std::string& path, std::ostream& out) {
  const ModelFile file(path);
  file.verify_all();
  const std::vector<NamedTensor> tensors = tensors_of(file);
  out << printable(path) << ": model file, format version " << file.version() << ", " << file.size()
      << " bytes, all checksums right\n";
  if (file.index().has_metadata()) {
    out << "metadata:\n";
    print_lines(file.metadata(), out);
  }
  for (std::size_t i = 0; i < file.index().saved_things(); ++i) {
    const SavedThing& t = file.index().things[i];
    out << "thing " << i + 1 << ": " << printable(t.kind) << ", " << t.data.size << " bytes\n";
  }
  for (const SavedGroup& g : file.index().groups) {
    out << printable(g.kind) << ", " << g.tensors.size() << " tensors";
    const auto int8 = std::count_if(g.tensors.begin(), g.tensors.end(),
                                    [](const SavedTensor& t) { return t.is_int8; });
    if (int8 > 0) out << ", " << int8 << " of them in 8 bits";
    for (const auto& [name, x] : g.numbers) out << "\n    " << printable(name) << " = " << x;
    for (const SavedTensor& t : g.tensors)
      if (t.is_int8) out << "\n    " << printable(t.name) << " has 8 bits";
    for (const SavedTensor& t : g.tensors)
      if (!t.updated) out << "\n    " << printable(t.name) << " is frozen";
    out << '\n';
  }
  print_tensors(tensors, out);
}

const char* name_of(FileFormat f) {
  switch (f) {
    case FileFormat::safetensors:
      return "safetensors";
    case FileFormat::vectors:
      return "word vectors";
    default:
      return "binary word vectors";
  }
}

}  // namespace

void print_tensors(const std::vector<NamedTensor>& tensors, std::ostream& out) {
  std::uint64_t bytes = 0;
  for (const NamedTensor& t : tensors) {
    out << "  " << printable(t.name) << "  " << type_name(t.type) << ' ' << shape_text(t.shape)
        << "  " << t.bytes.size() << " bytes";
    print_values(t, out);
    out << '\n';
    bytes += t.bytes.size();
  }
  out << tensors.size() << " arrays, " << bytes << " bytes of values\n";
}

void inspect(const std::string& path, std::ostream& out) {
  const FileFormat format = detect_format(path);
  if (format == FileFormat::model) return inspect_model(path, out);
  const FileContents contents = read_contents(path);
  out << printable(path) << ": " << name_of(format) << '\n';
  for (const auto& [key, text] : contents.metadata) {
    out << "metadata " << printable(key) << ":\n";
    print_lines(text, out);
  }
  print_tensors(contents.tensors, out);
}

std::size_t print_differences(const TensorsOfFile& a, const TensorsOfFile& b, std::ostream& out) {
  std::map<std::string, const NamedTensor*> others;
  for (const NamedTensor& t : b.tensors) others[t.name] = &t;
  std::size_t differ = 0, same = 0;
  std::set<std::string> seen;
  for (const NamedTensor& t : a.tensors) {
    const auto found = others.find(t.name);
    seen.insert(t.name);
    if (found == others.end()) {
      out << printable(t.name) << " is in " << printable(a.path) << " only\n";
    } else if (const NamedTensor& u = *found->second; t.type != u.type || t.shape != u.shape) {
      out << printable(t.name) << " is " << type_name(t.type) << ' ' << shape_text(t.shape)
          << " and " << type_name(u.type) << ' ' << shape_text(u.shape) << '\n';
    } else if (t.bytes != u.bytes) {
      out << printable(t.name) << " differs";
      if (is_float(t.type)) {
        const std::vector<float> x = to_floats(t), y = to_floats(u);
        double most = 0, moved = 0, norm = 0;
        std::size_t values = 0, bad = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
            const bool differs = t.bytes.compare(i * type_size(t.type), type_size(t.type), u.bytes,
                                                 i * type_size(t.type), type_size(t.type)) != 0;
            bad += differs;
            values += differs;
            continue;
          }
          values += x[i] != y[i];
          const double d = std::abs(static_cast<double>(x[i]) - y[i]);
          if (d > most) most = d;
          moved += d * d;
          norm += static_cast<double>(x[i]) * x[i];
        }
        out << " in " << values << " of " << x.size() << " values, by " << most << " at most";
        if (bad > 0) out << ", " << bad << " of them not finite";
        if (norm > 0 && bad == 0)
          out << ", moved by " << std::sqrt(moved / norm) * 100 << " % of its norm";
      }
      out << '\n';
    } else {
      ++same;
      continue;
    }
    ++differ;
  }
  for (const NamedTensor& t : b.tensors)
    if (!seen.contains(t.name)) {
      out << printable(t.name) << " is in " << printable(b.path) << " only\n";
      ++differ;
    }
  out << same << " arrays are the same, " << differ << " differ\n";
  return differ;
}

}  // namespace cli
