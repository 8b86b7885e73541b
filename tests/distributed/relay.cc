// Carries packets between two network namespaces, each of which it reaches by a tun device, and
// hands them over late: relay NAMESPACE DEVICE NAMESPACE DEVICE MICROSECONDS
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

void need(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what + ": " + std::strerror(errno));
}

int open_tun(const std::string& name_space, const std::string& device) {
  const int there = open(("/var/run/netns/" + name_space).c_str(), O_RDONLY | O_CLOEXEC);
  need(there >= 0 && setns(there, CLONE_NEWNET) == 0, name_space);
  close(there);
  const int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  need(tun >= 0, "/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
  need(ioctl(tun, TUNSETIFF, &request) == 0, device);
  return tun;
}

struct Packet {
  Clock::time_point due;
  std::vector<char> bytes;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) throw std::runtime_error("relay NAMESPACE DEVICE NAMESPACE DEVICE MICROSECONDS");
  const std::array<int, 2> ends = {open_tun(argv[1], argv[2]), open_tun(argv[3], argv[4])};
  const std::chrono::microseconds delay(std::atoi(argv[5]));
  std::array<std::deque<Packet>, 2> on_the_way;  // from each
  std::array<char, 65536> buffer{};
  std::puts("ready");
  std::fflush(stdout);
  while (true) {
    auto next = Clock::now() + std::chrono::milliseconds(100);
    for (std::size_t k = 0; k < 2; ++k) {
      auto& packets = on_the_way[k];
      for (; !packets.empty() && packets.front().due <= Clock::now(); packets.pop_front())
        if (write(ends[1 - k], packets.front().bytes.data(), packets.front().bytes.size()) < 0 &&
            errno == EAGAIN)
          break;
      if (!packets.empty()) next = std::min(next, packets.front().due);
    }
    const auto wait = std::max<long>(0, (next - Clock::now()).count());
    const timespec limit = {0, wait};
    std::array<pollfd, 2> sources = {{{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}}};
    need(ppoll(sources.data(), sources.size(), &limit, nullptr) >= 0, "ppoll");
    for (std::size_t k = 0; k < 2; ++k) {
      if (!(sources[k].revents & POLLIN)) continue;
      for (ssize_t n; (n = read(ends[k], buffer.data(), buffer.size())) > 0;)
        on_the_way[k].push_back({Clock::now() + delay, {buffer.data(), buffer.data() + n}});
    }
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
