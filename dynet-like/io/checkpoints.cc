#include "dynet-like/io/checkpoints.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"

namespace dynet {
namespace {

constexpr std::string_view kStart = "checkpoint-", kEnd = ".dynet";
constexpr std::size_t kStepDigits = 20;

bool is_checkpoint(std::string_view name) {
  return name.size() == kStart.size() + kStepDigits + kEnd.size() && name.starts_with(kStart) &&
         name.ends_with(kEnd) &&
         name.substr(kStart.size(), kStepDigits).find_first_not_of("0123456789") == name.npos;
}

}  // namespace

Checkpoints::Checkpoints(std::string folder, std::size_t keep, const SaveOptions& options)
    : folder_(std::move(folder)), keep_(std::max<std::size_t>(keep, 1)), options_(options) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    throw FileError("cannot make the folder " + printable(folder_) + ": " + error.message());
}

std::vector<std::string> Checkpoints::paths() const {
  const FileSystem system;
  std::vector<std::string> names;
  const int r = (options_.files ? *options_.files : system).list(folder_, names);
  if (r < 0)
    throw FileError("cannot list the folder " + printable(folder_) + ": " +
                    std::generic_category().message(-r));
  std::erase_if(names, [](const std::string& name) { return !is_checkpoint(name); });
  std::sort(names.begin(), names.end());
  for (std::string& name : names) name = (std::filesystem::path(folder_) / name).string();
  return names;
}

std::string Checkpoints::next_path() const {
  const std::vector<std::string> all = paths();
  unsigned long long number = 1;
  if (!all.empty()) {
    const std::string& last = all.back();
    const std::string digits = last.substr(last.size() - kEnd.size() - kStepDigits, kStepDigits);
    if (digits >= "18446744073709551615") throw FileError("no number follows " + printable(last));
    number = std::stoull(digits) + 1;
  }
  std::string digits = std::to_string(number);
  digits.insert(0, kStepDigits - digits.size(), '0');
  return (std::filesystem::path(folder_) / (std::string(kStart) + digits + std::string(kEnd)))
      .string();
}

void Checkpoints::remove_old() const {
  const FileSystem system;
  const std::vector<std::string> all = paths();
  for (std::size_t i = 0; i + keep_ < all.size(); ++i)
    (options_.files ? *options_.files : system).unlink(all[i]);
}

}  // namespace dynet
