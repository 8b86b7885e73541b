#include "dynet-like/io/parts.h"

#include <cstdint>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet::io_detail {
namespace {

void put(std::string& bytes, std::size_t at, std::uint64_t x) {
  for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(x >> (8 * i));
}

void append(std::string& bytes, std::uint64_t x) {
  bytes.resize(bytes.size() + 8);
  put(bytes, bytes.size() - 8, x);
}

std::string counted(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

PartWriter::PartWriter(std::size_t parts) { append(bytes_, parts); }

void PartWriter::begin(std::string_view kind) {
  append(bytes_, kind.size());
  bytes_ += kind;
  append(bytes_, 0);
  start_ = bytes_.size();
}

void PartWriter::end() { put(bytes_, start_ - 8, bytes_.size() - start_); }

PartReader::PartReader(std::string path, std::string_view payload, std::size_t parts)
    : path_(std::move(path)) {
  const auto broken = [&] {
    throw FileError("cannot load " + path_ + ": its list of parts is broken");
  };
  const auto take = [&](std::uint64_t n) {
    if (n > payload.size()) broken();
    const std::string_view taken = payload.substr(0, n);
    payload.remove_prefix(n);
    return taken;
  };
  const auto number = [&] {
    std::uint64_t x = 0;
    const std::string_view bytes = take(8);
    for (std::size_t i = 8; i-- > 0;) x = x << 8 | static_cast<unsigned char>(bytes[i]);
    return x;
  };
  const std::uint64_t count = number();
  if (count != parts)
    throw FileError("cannot load " + path_ + ": it holds " + counted(count, "thing") + ", not " +
                    std::to_string(parts));
  for (std::size_t i = 0; i < parts; ++i) {
    Part part;
    part.kind = take(number());
    part.bytes = take(number());
    parts_.push_back(part);
  }
  if (!payload.empty()) broken();
}

std::string_view PartReader::part(std::size_t i, const std::string& kind) const {
  if (parts_[i].kind != kind)
    throw FileError("cannot load " + path_ + ": thing " + std::to_string(i + 1) + " of " +
                    std::to_string(parts_.size()) + " is of kind " + std::string(parts_[i].kind) +
                    ", not " + kind);
  return parts_[i].bytes;
}

void PartReader::fail(std::size_t i, const std::string& why) const {
  throw FileError("cannot load " + path_ + ": thing " + std::to_string(i + 1) + " of " +
                  std::to_string(parts_.size()) + " (" + std::string(parts_[i].kind) +
                  ") cannot be read: " + why);
}

void PartReader::check(const Loading& loading) const {
  if (const std::string problem = loading.problem(); !problem.empty())
    throw FileError("cannot load " + path_ + ": it does not fit: " + problem);
}

}  // namespace dynet::io_detail
