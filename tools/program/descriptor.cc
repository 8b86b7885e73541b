#include "tools/program/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace program {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 16;

}  // namespace

OutputError::OutputError(const std::string& name, int error)
    : std::runtime_error("cannot write " + name + ": " + std::generic_category().message(error)),
      error_(error) {}

DescriptorBuffer::DescriptorBuffer(int fd, std::string name)
    : fd_(fd), name_(std::move(name)), by_lines_(isatty(fd) != 0) {}

int DescriptorBuffer::copy_of(int fd, const std::string& name) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw OutputError(name, errno);
  return copy;
}

DescriptorBuffer::~DescriptorBuffer() {
  try {
    write_out();
  } catch (const OutputError&) {
  }
  if (fd_ >= 0) ::close(fd_);
}

void DescriptorBuffer::finish() {
  write_out();
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  xsputn(&character, 1);
  return c;
}

std::streamsize DescriptorBuffer::xsputn(const char* text, std::streamsize n) {
  const std::string_view added(text, static_cast<std::size_t>(n));
  waiting_ += added;
  if (waiting_.size() >= kLargest || (by_lines_ && added.find('\n') != added.npos)) write_out();
  return n;
}

int DescriptorBuffer::sync() {
  write_out();
  return 0;
}

void DescriptorBuffer::write_out() {
  const std::string bytes = std::exchange(waiting_, {});
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0) {
      fail(ENOSPC);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another owner of the descriptor made it non-blocking.
      pollfd wait{fd_, POLLOUT, 0};
      if (::poll(&wait, 1, -1) < 0 && errno != EINTR) fail(errno);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void DescriptorBuffer::fail(int error) { throw OutputError(name_, error); }

}  // namespace program
