#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/span.h"

namespace dynet {

/// A process that has failed, does not answer, or disagrees with the others. Processes that take
/// part in one run cannot go on without each other: end the program, and start it again from its
/// last checkpoint, with as many processes as there are then.
struct CommunicationError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};

/// The processes of a run, which send messages to each other. Each has a rank below the size.
///
/// Messages between two processes arrive in the order in which they were sent. All functions but
/// those that start something wait; each throws CommunicationError, which names a rank, once it has
/// waited for longer than the time-out or another process has called `fail`. One thread of a
/// process at a time. The functions from `broadcast` on are called by all processes, in the same
/// order.
class Communicator {
 public:
  using Bytes = std::vector<std::byte>;
  /// Operation in progress.
  class Request {
   public:
    virtual ~Request() = default;
    /// Whether it is done. Throws CommunicationError if it never will be.
    virtual bool done() = 0;
  };

  virtual ~Communicator() = default;
  virtual unsigned rank() const = 0;
  /// The world size: how many processes there are.
  virtual unsigned size() const = 0;
  /// Starts to send, or to receive a message of exactly this size. The memory must stay as it is
  /// until `wait` has returned.
  virtual std::unique_ptr<Request> start_send(unsigned to, Span<const std::byte> message) = 0;
  virtual std::unique_ptr<Request> start_receive(unsigned from, Span<std::byte> message) = 0;
  /// Tells all processes that this one cannot go on, and why: whatever they wait for throws. Does
  /// not wait for them, and does not throw.
  virtual void fail(const std::string& why) noexcept = 0;
  /// Why another process has failed, with its rank; empty if none is known to have.
  virtual std::string failure() = 0;

  /// Waits for what was started with process `other`.
  void wait(Request& request, unsigned other);
  void send(unsigned to, Span<const std::byte> message);
  void receive(unsigned from, Span<std::byte> message);
  /// The same where the receiver does not know the size, which the first message tells; that has so
  /// many bytes, and room for so many of the message.
  static constexpr std::size_t kFirstMessage = 1024, kRoom = kFirstMessage - sizeof(std::uint64_t);
  void send_any(unsigned to, Span<const std::byte> message);
  Bytes receive_any(unsigned from);

  /// The bytes that `root` has, everywhere.
  void broadcast(Bytes& bytes, unsigned root = 0);
  /// Merges what all processes have, along a binary tree of ranks, and returns the result on each
  /// of them. `merge(into, from)`: `from` comes from a higher rank. log2 of the size messages each
  /// way.
  Bytes merge_all(Bytes mine, const std::function<void(Bytes& into, const Bytes& from)>& merge);
  /// Bytes of all processes, concatenated in the order of ranks, on each process.
  Bytes allgather(Bytes mine);
  /// Sums over all processes, in an order that depends on their number. Integers below 2^53 are
  /// exact. All processes give equally many.
  std::vector<double> allreduce(std::vector<double> numbers);
  /// Returns when all processes have called it.
  void barrier();

  /// How long one message may take. Ten minutes by default; it must be longer than the longest time
  /// by which one process is ahead of another.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  /// Current activity, for the text of errors: "summing gradients of update 12".
  void set_activity(std::string activity) { activity_ = std::move(activity); }
  const std::string& activity() const { return activity_; }
  /// The bytes that this process has sent by the functions of this class.
  std::uint64_t sent_bytes() const { return sent_bytes_; }

 protected:
  void count_sent(std::size_t bytes) { sent_bytes_ += bytes; }
  /// Throws ArgumentError unless it is another process of this run.
  void check_other(const char* who, unsigned other) const;

 private:
  std::chrono::milliseconds timeout_{std::chrono::minutes(10)};
  std::string activity_;
  std::uint64_t sent_bytes_ = 0;
};

/// Text as a message, and back.
Communicator::Bytes bytes_of(std::string_view text);
std::string text_of(const Communicator::Bytes& bytes);

/// A group of one: no message, no cost.
std::unique_ptr<Communicator> make_self_communicator();

/// Runs f on rank 0 while the others wait. An exception of a standard type there is thrown on the
/// others too, as a CommunicationError with its text.
void on_rank_zero(Communicator& world, const std::function<void()>& f);

/// Runs f; if it throws, tells the other processes why before the exception goes on, so that they
/// end as well.
void guarded(Communicator& world, const std::function<void()>& f);

/// Throws CommunicationError on all processes, with the text of the lowest rank that has one,
/// unless that of all is empty.
void throw_if_any(Communicator& world, const std::string& problem);

/// Everything that decides the results of a run: names, and values on this process.
using RunFacts = std::vector<std::pair<std::string, std::string>>;
/// Throws CommunicationError on all processes unless all have the same facts: it names the lowest
/// rank that differs from rank 0, and each fact with both values. For large things, such as data,
/// the value is a digest.
void require_same(Communicator& world, const RunFacts& facts);

/// Says that a program was started as one of several processes that do not know of each other, for
/// the environment of its launcher (`OMPI_COMM_WORLD_SIZE`, `PMI_SIZE`, `SLURM_NTASKS`) says that
/// there are more than `world` has. Empty if all is well. Each of them would train for itself, and
/// overwrite the files of the others.
std::string launcher_warning(const Communicator& world);

/// Whether the environment says that a launcher of MPI has started this process, as one of several
/// or alone.
bool started_by_launcher();

}  // namespace dynet
