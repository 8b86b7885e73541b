#include "dynet-like/io/pieces.h"

#include <algorithm>

namespace dynet::io_detail {

bool Pieces::until(char end, std::size_t most, std::string_view& s) {
  std::size_t looked = 0;
  while (true) {
    const std::size_t at = buffer_.find(end, first_ + looked);
    const bool found = at != buffer_.npos;
    const std::size_t n = (found ? at : buffer_.size()) - first_;
    if (n > most) file_.fail("more than " + std::to_string(most) + " bytes without an end");
    if (found || (read_ == file_.size() && n > 0)) {
      s = std::string_view(buffer_).substr(first_, n);
      first_ += n + found;
      ended_ = !found;
      return true;
    }
    if (read_ == file_.size()) return false;
    looked = n;
    more();
  }
}

std::string_view Pieces::take(std::size_t n) {
  while (buffer_.size() - first_ < n && read_ < file_.size()) more();
  n = std::min(n, buffer_.size() - first_);
  first_ += n;
  return std::string_view(buffer_).substr(first_ - n, n);
}

void Pieces::skip(char c) {
  if (first_ == buffer_.size() && read_ < file_.size()) more();
  if (first_ < buffer_.size() && buffer_[first_] == c) ++first_;
}

void Pieces::more() {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  buffer_.erase(0, first_);
  first_ = 0;
  const std::size_t held = buffer_.size();
  const auto n = static_cast<std::size_t>(std::min(kPiece, file_.size() - read_));
  buffer_.resize(held + n);
  file_.read(read_, buffer_.data() + held, n);
  read_ += n;
}

}  // namespace dynet::io_detail
