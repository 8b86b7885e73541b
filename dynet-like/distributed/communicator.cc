#include "dynet-like/distributed/communicator.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace dynet {
namespace {

std::string seconds(std::chrono::milliseconds t) {
  std::string text = std::to_string(t.count() / 1000);
  if (const auto rest = t.count() % 1000) text += '.' + std::to_string(1000 + rest).substr(1);
  return text + " s";
}

class SelfCommunicator : public Communicator {
 public:
  unsigned rank() const override { return 0; }
  unsigned size() const override { return 1; }
  std::unique_ptr<Request> start_send(unsigned to, std::span<const std::byte>) override {
    check_other("Communicator::start_send", to);
    return nullptr;
  }
  std::unique_ptr<Request> start_receive(unsigned from, std::span<std::byte>) override {
    check_other("Communicator::start_receive", from);
    return nullptr;
  }
  void fail(const std::string&) noexcept override {}
  std::string failure() override { return {}; }
};

// Names and values, each followed by a zero byte.
std::string pack(const RunFacts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + '\0' + value + '\0';
  return text;
}

RunFacts unpack(const std::string& text) {
  RunFacts facts;
  auto next = [&text, at = std::size_t{0}]() mutable {
    const std::size_t begin = at, end = std::min(text.find('\0', at), text.size());
    at = end + 1;
    return text.substr(begin, end - begin);
  };
  for (auto zeros = std::count(text.begin(), text.end(), '\0'); zeros > 1; zeros -= 2) {
    const std::string name = next();
    facts.emplace_back(name, next());
  }
  return facts;
}

const std::string* find(const RunFacts& facts, const std::string& name) {
  for (const auto& fact : facts)
    if (fact.first == name) return &fact.second;
  return nullptr;
}

constexpr const char* kSizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};

}  // namespace

void Communicator::check_other(const char* who, unsigned other) const {
  if (other >= size() || other == rank())
    throw ArgumentError(std::string(who) + ": rank " + std::to_string(other) +
                        " is no other process of a run of " + std::to_string(size()));
}

// Polls at first, since waits are usually short; later yields the core.
void Communicator::wait(Request& request, unsigned other) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string while_what = activity_.empty() ? "" : " (" + activity_ + ")";
  for (unsigned tries = 0; !request.done(); ++tries) {
    if (tries < 64) continue;
    if (const std::string why = failure(); !why.empty())
      throw CommunicationError(why + "; rank " + std::to_string(rank()) + " was waiting for rank " +
                               std::to_string(other) + while_what);
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > timeout_)
      throw CommunicationError("rank " + std::to_string(other) + " has not answered rank " +
                               std::to_string(rank()) + " for " + seconds(timeout_) + while_what);
    if (waited < std::chrono::milliseconds(20))
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Communicator::send(unsigned to, std::span<const std::byte> message) {
  const auto request = start_send(to, message);
  wait(*request, to);
}

void Communicator::receive(unsigned from, std::span<std::byte> message) {
  const auto request = start_receive(from, message);
  wait(*request, from);
}

void Communicator::send_any(unsigned to, std::span<const std::byte> message) {
  const std::uint64_t size = message.size();
  const std::size_t at_once = std::min(message.size(), kRoom);
  std::array<std::byte, kFirstMessage> first{};
  std::memcpy(first.data(), &size, sizeof size);
  std::copy_n(message.begin(), at_once, first.begin() + sizeof size);
  send(to, first);
  if (size > at_once) send(to, message.subspan(at_once));
}

Communicator::Bytes Communicator::receive_any(unsigned from) {
  std::array<std::byte, kFirstMessage> first{};
  receive(from, first);
  std::uint64_t size = 0;
  std::memcpy(&size, first.data(), sizeof size);
  const std::size_t at_once = std::min<std::size_t>(size, kRoom);
  Bytes message(size);
  std::copy_n(first.begin() + sizeof size, at_once, message.begin());
  if (size > at_once) receive(from, std::span(message).subspan(at_once));
  return message;
}

// A binomial tree: a process receives in the round of its lowest bit, then forwards to lower bits.
void Communicator::broadcast(Bytes& bytes, unsigned root) {
  if (root >= size())
    throw ArgumentError("Communicator::broadcast: there is no rank " + std::to_string(root));
  const unsigned n = size(), me = (rank() + n - root) % n;
  const auto rank_of = [&](unsigned place) { return (place + root) % n; };
  unsigned bit = 1;
  for (; bit < n; bit *= 2)
    if (me & bit) {
      bytes = receive_any(rank_of(me - bit));
      break;
    }
  for (bit /= 2; bit; bit /= 2)
    if (me + bit < n) send_any(rank_of(me + bit), bytes);
}

Communicator::Bytes Communicator::merge_all(
    Bytes mine, const std::function<void(Bytes& into, const Bytes& from)>& merge) {
  const unsigned n = size(), me = rank();
  for (unsigned bit = 1; bit < n; bit *= 2) {
    if (me & bit) {
      send_any(me - bit, mine);
      break;
    }
    if (me + bit < n) merge(mine, receive_any(me + bit));
  }
  broadcast(mine);
  return mine;
}

Communicator::Bytes Communicator::allgather(Bytes mine) {
  return merge_all(std::move(mine), [](Bytes& into, const Bytes& from) {
    into.insert(into.end(), from.begin(), from.end());
  });
}

std::vector<double> Communicator::allreduce(std::vector<double> numbers) {
  if (size() == 1) return numbers;
  const auto begin = std::as_bytes(std::span(numbers));
  const Bytes sum = merge_all({begin.begin(), begin.end()}, [&](Bytes& into, const Bytes& from) {
    if (into.size() != from.size())
      throw ArgumentError("Communicator::allreduce: processes give " +
                          std::to_string(into.size() / sizeof(double)) + " and " +
                          std::to_string(from.size() / sizeof(double)) + " numbers");
    for (std::size_t at = 0; at < into.size(); at += sizeof(double)) {
      double a = 0, b = 0;
      std::memcpy(&a, &into[at], sizeof a);
      std::memcpy(&b, &from[at], sizeof b);
      a += b;
      std::memcpy(&into[at], &a, sizeof a);
    }
  });
  if (!sum.empty()) std::memcpy(numbers.data(), sum.data(), sum.size());
  return numbers;
}

void Communicator::barrier() {
  if (size() > 1) merge_all({}, [](Bytes&, const Bytes&) {});
}

Communicator::Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const Communicator::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unique_ptr<Communicator> make_self_communicator() {
  return std::make_unique<SelfCommunicator>();
}

void on_rank_zero(Communicator& world, const std::function<void()>& f) {
  Communicator::Bytes error;
  if (world.rank() == 0) try {
      f();
    } catch (const std::exception& e) {
      error = bytes_of(std::string("rank 0 failed: ") + e.what());
      if (world.size() > 1) world.broadcast(error);
      throw;
    }
  if (world.size() > 1) world.broadcast(error);
  if (!error.empty()) throw CommunicationError(text_of(error));
}

void guarded(Communicator& world, const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    world.fail(e.what());
    throw;
  } catch (...) {
    world.fail("an exception of an unknown type");
    throw;
  }
}

void throw_if_any(Communicator& world, const std::string& problem) {
  using Bytes = Communicator::Bytes;
  const Bytes first = world.merge_all(bytes_of(problem), [](Bytes& into, const Bytes& from) {
    if (into.empty()) into = from;
  });
  if (!first.empty()) throw CommunicationError(text_of(first));
}

void require_same(Communicator& world, const RunFacts& facts) {
  if (world.size() == 1) return;
  const std::string mine = pack(facts);
  Communicator::Bytes first = bytes_of(mine);
  world.broadcast(first);
  if (text_of(first) == mine) return throw_if_any(world, "");
  const RunFacts theirs = unpack(text_of(first));
  const std::string me = "rank " + std::to_string(world.rank());
  std::string problem;
  const auto add = [&](const std::string& name, const std::string* here, const std::string* there) {
    if (here && there && *here == *there) return;
    problem += (problem.empty() ? "" : "; ") + name + " is " + (here ? *here : "not there") +
               " on " + me + " and " + (there ? *there : "not there") + " on rank 0";
  };
  for (const auto& [name, value] : facts) add(name, &value, find(theirs, name));
  for (const auto& [name, value] : theirs)
    if (!find(facts, name)) add(name, nullptr, &value);
  throw_if_any(world, problem.empty() ? "" : "processes must do the same: " + problem);
}

std::string launcher_warning(const Communicator& world) {
  for (const char* name : kSizes) {
    const char* const text = std::getenv(name);  // NOLINT: the environment is constant
    const unsigned long n = text ? std::strtoul(text, nullptr, 10) : 0;
    if (n > world.size())
      return std::string(name) + " says that " + std::to_string(n) +
             " processes were started, but this one knows of " + std::to_string(world.size()) +
             ": each trains for itself. The program is built without MPI, or with another MPI than "
             "that of the launcher.";
  }
  return {};
}

bool started_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name)) return true;  // NOLINT: the environment is constant
  return false;
}

}  // namespace dynet
