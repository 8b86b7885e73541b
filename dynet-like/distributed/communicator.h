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

/// Thrown if a process has failed, does not answer, or disagrees with the others. The processes of
/// a run cannot continue without each other: the program must end and restart from its last
/// checkpoint, with any number of processes.
struct CommunicationError : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};

/// The processes of a run, which exchange messages. Each process has a rank below `size`.
///
/// Messages between two processes arrive in the order of sending. The functions from `wait` to
/// `barrier` block; each throws CommunicationError, which names a rank, after the time-out or when
/// another process has called `fail`. Only one thread of a process may use it at a time. The
/// functions from `broadcast` to `barrier` are collective: all processes call them in one order.
class Communicator {
 public:
  using Bytes = std::vector<std::byte>;
  /// An operation in progress.
  class Request {
   public:
    virtual ~Request() = default;
    /// Returns whether it is complete. Throws CommunicationError if it cannot complete.
    virtual bool done() = 0;
  };

  virtual ~Communicator() = default;
  virtual unsigned rank() const = 0;
  /// The number of processes.
  virtual unsigned size() const = 0;
  /// Starts to send or to receive a message of exactly this size. The memory must not be changed
  /// until `wait` returns.
  virtual std::unique_ptr<Request> start_send(unsigned to, Span<const std::byte> message) = 0;
  virtual std::unique_ptr<Request> start_receive(unsigned from, Span<std::byte> message) = 0;
  /// Notifies all processes that this one has failed, and why: their pending calls throw. Does not
  /// block and does not throw.
  virtual void fail(const std::string& why) noexcept = 0;
  /// The reason for the failure of another process, with its rank; empty if no failure is known.
  virtual std::string failure() = 0;

  /// Waits for an operation with process `other`.
  void wait(Request& request, unsigned other);
  void send(unsigned to, Span<const std::byte> message);
  void receive(unsigned from, Span<std::byte> message);
  /// Messages of a size unknown to the receiver. The first message, of kFirstMessage bytes, has the
  /// size and up to kRoom bytes of the content.
  static constexpr std::size_t kFirstMessage = 1024, kRoom = kFirstMessage - sizeof(std::uint64_t);
  void send_any(unsigned to, Span<const std::byte> message);
  Bytes receive_any(unsigned from);

  /// Copies the bytes of `root` to all processes.
  void broadcast(Bytes& bytes, unsigned root = 0);
  /// Merges the bytes of all processes along a binary tree of ranks; every process gets the result.
  /// `merge(into, from)`: `from` is from higher ranks. Takes log2(size) messages in each direction.
  Bytes merge_all(Bytes mine, const std::function<void(Bytes& into, const Bytes& from)>& merge);
  /// Concatenates the bytes of all processes in the order of ranks, on every process.
  Bytes allgather(Bytes mine);
  /// Sums over all processes, in an order that depends on their number. Integers below 2^53 are
  /// exact. All processes must pass equally many numbers.
  std::vector<double> allreduce(std::vector<double> numbers);
  /// Returns when all processes have called it.
  void barrier();

  /// Time limit of one message. Default: ten minutes. It must exceed the longest time by which one
  /// process is ahead of another.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  /// Current activity, for error messages: "summing gradients of update 12".
  void set_activity(std::string activity) { activity_ = std::move(activity); }
  const std::string& activity() const { return activity_; }
  /// Number of bytes sent by this process by the functions of this class.
  std::uint64_t sent_bytes() const { return sent_bytes_; }

 protected:
  void count_sent(std::size_t bytes) { sent_bytes_ += bytes; }
  /// Throws ArgumentError unless `other` is the rank of another process of this run.
  void check_other(const char* who, unsigned other) const;

 private:
  std::chrono::milliseconds timeout_{std::chrono::minutes(10)};
  std::string activity_;
  std::uint64_t sent_bytes_ = 0;
};

/// Converts text to a message; `text_of` converts it back.
Communicator::Bytes bytes_of(std::string_view text);
std::string text_of(const Communicator::Bytes& bytes);

/// A group of one process; it sends no messages.
std::unique_ptr<Communicator> make_self_communicator();

/// Runs f on rank 0 while the other ranks wait. A standard exception of f is rethrown on rank 0;
/// the other ranks throw a CommunicationError with its text.
void on_rank_zero(Communicator& world, const std::function<void()>& f);

/// Runs f; if it throws, notifies the other processes by `fail`, so that they end, and rethrows.
void guarded(Communicator& world, const std::function<void()>& f);

/// Throws CommunicationError on all processes, with the text of the lowest rank whose `problem` is
/// not empty; returns if all are empty.
void throw_if_any(Communicator& world, const std::string& problem);

/// Names and values, on this process, that determine the results of a run.
using RunFacts = std::vector<std::pair<std::string, std::string>>;
/// Throws CommunicationError on all processes unless all have equal facts; it names the lowest rank
/// that differs from rank 0, and each differing fact with both values. For large data pass a
/// digest.
void require_same(Communicator& world, const RunFacts& facts);

/// A warning for a program that a launcher has started as several processes that are not connected:
/// the launcher's environment (`OMPI_COMM_WORLD_SIZE`, `PMI_SIZE`, `SLURM_NTASKS`) has more
/// processes than `world`. Each of them would train alone and overwrite the files of the others.
/// Empty if the numbers agree.
std::string launcher_warning(const Communicator& world);

/// Returns whether, by the environment, a launcher of MPI has started this process (as one of
/// several or alone).
bool started_by_launcher();

}  // namespace dynet
