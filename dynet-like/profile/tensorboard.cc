#include "dynet-like/profile/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "dynet-like/base/errors.h"
#include "dynet-like/param/parameters.h"

namespace dynet {
namespace {

constexpr std::chrono::seconds kInterval{30};

// Little-endian bytes of a number.
template <class Number>
std::string bytes_of(Number x) {
  std::string bytes(sizeof x, '\0');
  std::memcpy(bytes.data(), &x, sizeof x);
  return bytes;
}

// Protocol buffers: https://protobuf.dev/programming-guides/encoding.
std::string varint(std::uint64_t n) {
  std::string bytes;
  for (; n >= 0x80; n >>= 7) bytes += static_cast<char>(n | 0x80);
  return bytes + static_cast<char>(n);
}
std::string number_field(unsigned field, double x) { return varint(field << 3 | 1) + bytes_of(x); }
std::string float_field(unsigned field, float x) { return varint(field << 3 | 5) + bytes_of(x); }
std::string integer_field(unsigned field, std::int64_t n) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(n));
}
std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

// Fields of Event, Summary and Summary.Value.
constexpr unsigned kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr unsigned kValue = 1, kTag = 1, kSimpleValue = 2, kHistogram = 5;

std::string value_field(const std::string& tag, const std::string& value) {
  return bytes_field(kSummary, bytes_field(kValue, bytes_field(kTag, tag) + value));
}

// CRC-32C (Castagnoli), masked as in the record format of TensorFlow.
std::uint32_t masked_crc(const std::string& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const std::uint32_t c = crc.checksum();
  return (c >> 15 | c << 17) + 0xa282ead8u;
}

std::string record(const std::string& data) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(data.size()));
  return length + bytes_of(masked_crc(length)) + data + bytes_of(masked_crc(data));
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Limits of buckets as TensorFlow has them: powers of 1.1 from 1e-12 to 1e20, of both signs.
constexpr std::size_t kPowers = 774;
constexpr std::array<double, 2 * kPowers + 2> kLimits = [] {
  std::array<double, 2 * kPowers + 2> all{};
  double v = 1e-12;
  for (std::size_t k = 0; k < kPowers; ++k, v *= 1.1) {
    all[kPowers + 1 + k] = v;
    all[kPowers - 1 - k] = -v;
  }
  all.back() = std::numeric_limits<double>::max();
  return all;
}();

// HistogramProto. Bucket i counts numbers in (limit[i - 1], limit[i]]; only the range of buckets
// that are not empty is kept.
class Histogram {
 public:
  void add(std::span<const float> numbers) {
    for (const float number : numbers) {
      if (!std::isfinite(number)) continue;
      const auto x = static_cast<double>(number);
      const auto at = std::lower_bound(kLimits.begin(), kLimits.end(), x) - kLimits.begin();
      ++counts_[static_cast<std::size_t>(at)];
      min_ = std::min(min_, x);
      max_ = std::max(max_, x);
      sum_ += x;
      squares_ += x * x;
      ++count_;
    }
  }
  std::string field() const {
    std::string limits, counts;
    std::size_t first = 0, end = counts_.size();
    while (first < end && counts_[first] == 0) ++first;
    while (end > first && counts_[end - 1] == 0) --end;
    if (first > 0) --first;  // its limit is where the first bucket begins
    for (std::size_t k = first; k < end; ++k) {
      limits += bytes_of(kLimits[k]);
      counts += bytes_of(static_cast<double>(counts_[k]));
    }
    return bytes_field(kHistogram, number_field(1, count_ ? min_ : 0) +
                                       number_field(2, count_ ? max_ : 0) +
                                       number_field(3, static_cast<double>(count_)) +
                                       number_field(4, sum_) + number_field(5, squares_) +
                                       bytes_field(6, limits) + bytes_field(7, counts));
  }

 private:
  std::array<std::uint64_t, kLimits.size()> counts_{};
  std::uint64_t count_ = 0;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -min_, sum_ = 0, squares_ = 0;
};

std::span<const float> numbers_of(const Tensor& t) { return {t.v, t.d.size()}; }

std::string tag_of(const std::string& name) {
  return name.starts_with('/') ? name.substr(1) : name;
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::string& folder,
                                     std::optional<std::int64_t> resumed_at)
    : folder_(folder), flushed_(std::chrono::steady_clock::now()) {
  if (folder.empty() || folder.find('\0') != std::string::npos)
    throw FileError("a folder for TensorBoard needs a name without zero bytes");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError("cannot make the folder " + folder + ": " + error.message());
  open();
  constexpr std::int64_t kStart = 1;
  if (resumed_at) add_event(*resumed_at, bytes_field(kSessionLog, integer_field(1, kStart)));
  flush();
}

TensorBoardWriter::~TensorBoardWriter() {
  try {
    flush();
  } catch (const std::exception&) {  // a destructor cannot report it
  }
}

// events.out.tfevents.<seconds>.<host>.<process>.<number>
void TensorBoardWriter::open() {
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  const std::string stem = folder_ + "/events.out.tfevents." +
                           std::to_string(static_cast<long>(wall_time())) + '.' + host + '.' +
                           std::to_string(getpid()) + '.';
  for (unsigned number = 0;; ++number) {
    path_ = stem + std::to_string(number);
    if (!std::filesystem::exists(path_)) break;
  }
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) throw FileError("cannot write " + path_);
  waiting_.insert(
      0, record(number_field(kWallTime, wall_time()) + bytes_field(kFileVersion, "brain.Event:2")));
}

void TensorBoardWriter::add_event(std::int64_t step, const std::string& field) {
  waiting_ += record(number_field(kWallTime, wall_time()) + integer_field(kStep, step) + field);
  if (std::chrono::steady_clock::now() - flushed_ >= kInterval) flush();
}

void TensorBoardWriter::add_scalar(const std::string& tag, double value, std::int64_t step) {
  add_event(step, value_field(tag, float_field(kSimpleValue, static_cast<float>(value))));
}

void TensorBoardWriter::add_histogram(const std::string& tag, std::span<const float> numbers,
                                      std::int64_t step) {
  Histogram histogram;
  histogram.add(numbers);
  add_event(step, value_field(tag, histogram.field()));
}

void TensorBoardWriter::add_parameters(const ParameterCollection& model, std::int64_t step) {
  for (const Parameter& p : model.parameters_list())
    add_histogram(tag_of(p.get_fullname()), numbers_of(*p.values()), step);
  for (const LookupParameter& p : model.lookup_parameters_list()) {
    Histogram histogram;
    for (const Tensor& row : *p.values()) histogram.add(numbers_of(row));
    add_event(step, value_field(tag_of(p.get_fullname()), histogram.field()));
  }
}

void TensorBoardWriter::add_gradients(const ParameterCollection& model, std::int64_t step) {
  for (const Parameter& p : model.parameters_list())
    add_histogram("gradients" + p.get_fullname(), as_vector(*p.gradients()), step);
  for (const LookupParameter& p : model.lookup_parameters_list()) {
    Histogram histogram;
    for (unsigned row = 0; row < p.size(); ++row) histogram.add(p.row_gradient(row));
    add_event(step, value_field("gradients" + p.get_fullname(), histogram.field()));
  }
}

void TensorBoardWriter::flush() {
  flushed_ = std::chrono::steady_clock::now();
  if (waiting_.empty()) return;
  if (!file_.is_open()) open();
  file_.write(waiting_.data(), static_cast<std::streamsize>(waiting_.size()));
  file_.flush();
  if (!file_) {
    file_.close();
    file_.clear();
    throw FileError("cannot write " + path_);
  }
  waiting_.clear();
}

}  // namespace dynet
