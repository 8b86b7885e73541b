#include "dynet-like/distributed/in_process.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace dynet {

using Clock = std::chrono::steady_clock;

struct InProcessGroup::Shared {
  struct Message {
    Communicator::Bytes bytes;
    Clock::time_point arrives;
    bool lost;
  };
  struct Failure {
    unsigned rank;
    std::string why;
    bool is_first_hand;  // not a consequence of another failure
  };

  explicit Shared(unsigned n, Faults f) : size(n), faults(std::move(f)) {}

  const unsigned size;
  const Faults faults;
  std::mutex mutex;
  std::map<std::pair<unsigned, unsigned>, std::deque<Message>> waiting;  // by sender and receiver
  std::map<std::pair<unsigned, unsigned>, Clock::time_point> last;       // keeps the order
  std::vector<std::uint64_t> sent;                                       // by rank
  std::vector<Failure> failures;
};

class InProcessGroup::Member : public Communicator {
 public:
  Member(std::shared_ptr<Shared> shared, unsigned rank) : shared_(std::move(shared)), rank_(rank) {}

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return shared_->size; }

  std::unique_ptr<Request> start_send(unsigned to, std::span<const std::byte> message) override {
    check_other("Communicator::start_send", to);
    count_sent(message.size());
    const std::lock_guard lock(shared_->mutex);
    const Faults& faults = shared_->faults;
    const std::uint64_t number = shared_->sent[rank_]++;
    auto arrives = Clock::now();
    if (faults.delay) arrives += faults.delay(rank_, to, number);
    Clock::time_point& last = shared_->last[{rank_, to}];
    last = arrives = std::max(last, arrives);
    shared_->waiting[{rank_, to}].push_back(
        {{message.begin(), message.end()}, arrives, faults.lost && faults.lost(rank_, to, number)});
    return std::make_unique<Sent>();
  }

  std::unique_ptr<Request> start_receive(unsigned from, std::span<std::byte> message) override {
    check_other("Communicator::start_receive", from);
    return std::make_unique<Received>(*shared_, from, rank_, message, asked_[from]);
  }

  void fail(const std::string& why) noexcept override try {
    const std::lock_guard lock(shared_->mutex);
    const bool known = !shared_->failures.empty();
    shared_->failures.push_back({rank_, why, !known});
  } catch (...) {  // no memory for the text: the other processes wait for their time-out
  }

  std::string failure() override {
    const std::lock_guard lock(shared_->mutex);
    for (const Shared::Failure& f : shared_->failures)
      if (f.rank != rank_ && f.is_first_hand)
        return "rank " + std::to_string(f.rank) + " failed: " + f.why;
    return {};
  }

 private:
  struct Sent : Request {
    bool done() override { return true; }
  };
  /// Orders the receives of one sender by their start.
  struct Order {
    std::uint64_t started = 0, served = 0;
  };
  class Received : public Request {
   public:
    Received(Shared& shared, unsigned from, unsigned to, std::span<std::byte> memory, Order& order)
        : shared_(shared),
          from_(from),
          to_(to),
          memory_(memory),
          order_(order),
          turn_(order.started++) {}
    bool done() override {
      if (done_) return true;
      const std::lock_guard lock(shared_.mutex);
      auto& waiting = shared_.waiting[{from_, to_}];
      if (order_.served != turn_ || waiting.empty() || waiting.front().lost ||
          waiting.front().arrives > Clock::now())
        return false;
      const Bytes& bytes = waiting.front().bytes;
      if (bytes.size() != memory_.size())
        throw CommunicationError("rank " + std::to_string(from_) + " has sent " +
                                 std::to_string(bytes.size()) + " bytes where rank " +
                                 std::to_string(to_) + " waits for " +
                                 std::to_string(memory_.size()));
      std::copy(bytes.begin(), bytes.end(), memory_.begin());
      waiting.pop_front();
      ++order_.served;
      return done_ = true;
    }

   private:
    Shared& shared_;
    unsigned from_, to_;
    std::span<std::byte> memory_;
    Order& order_;
    std::uint64_t turn_;
    bool done_ = false;
  };

  std::shared_ptr<Shared> shared_;
  unsigned rank_;
  std::map<unsigned, Order> asked_;
};

InProcessGroup::InProcessGroup(unsigned size, Faults faults)
    : shared_(std::make_shared<Shared>(size, std::move(faults))) {
  if (size == 0) throw ArgumentError("InProcessGroup: a run has at least one process");
  shared_->sent.resize(size);
  for (unsigned r = 0; r < size; ++r) members_.push_back(std::make_unique<Member>(shared_, r));
}

InProcessGroup::~InProcessGroup() = default;

Communicator& InProcessGroup::operator[](unsigned rank) { return *members_.at(rank); }

void InProcessGroup::run(const std::function<void(Communicator&)>& process) {
  std::vector<std::exception_ptr> errors(shared_->size);
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < shared_->size; ++r)
    threads.emplace_back([&, r] {
      try {
        guarded(*members_[r], [&] { process(*members_[r]); });
      } catch (...) {
        errors[r] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const Shared::Failure& f : shared_->failures)
    if (errors[f.rank]) std::rethrow_exception(errors[f.rank]);
}

}  // namespace dynet
