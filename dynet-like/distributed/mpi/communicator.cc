#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dynet-like/distributed/mpi/world.h"

namespace dynet {
namespace {

constexpr int kMessage = 0, kFailure = 1;  // tags

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CommunicationError(std::string(what) + ": " +
                           std::string(text, static_cast<std::size_t>(length)));
}

// MPI counts are int: a long message is split into several.
class MpiRequest : public Communicator::Request {
 public:
  template <class Start>
  MpiRequest(std::size_t bytes, const char* what, Start start) : what_(what) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes || requests_.empty(); at += kMost) {
      requests_.push_back(MPI_REQUEST_NULL);
      check(start(at, static_cast<int>(std::min(kMost, bytes - at)), &requests_.back()), what);
    }
  }
  /// Cancels incomplete requests, since their memory may be freed.
  ~MpiRequest() override {
    for (MPI_Request& r : requests_)
      if (r != MPI_REQUEST_NULL) {
        MPI_Cancel(&r);
        MPI_Request_free(&r);
      }
  }
  MpiRequest(const MpiRequest&) = delete;
  MpiRequest& operator=(const MpiRequest&) = delete;

  bool done() override {
    int all = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all,
                      MPI_STATUSES_IGNORE),
          what_);
    return all;
  }

 private:
  const char* what_;
  std::vector<MPI_Request> requests_;
};

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    int running = 0;
    check(MPI_Initialized(&running), "MPI_Initialized");
    if (!running) {
      int provided = 0;  // only the thread that started MPI calls MPI
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
      ends_mpi_ = true;
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &all_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int n = 0;
    check(MPI_Comm_rank(all_, &n), "MPI_Comm_rank");
    rank_ = static_cast<unsigned>(n);
    check(MPI_Comm_size(all_, &n), "MPI_Comm_size");
    size_ = static_cast<unsigned>(n);
  }
  ~MpiCommunicator() override {
    if (std::uncaught_exceptions() > 0) fail("it has ended by an exception");
    if (failed_ || !failure_.empty()) {
      deliver();
      return;
    }
    MPI_Comm_free(&all_);
    if (ends_mpi_) MPI_Finalize();
  }

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }

  std::unique_ptr<Request> start_send(unsigned to, std::span<const std::byte> message) override {
    check_other("Communicator::start_send", to);
    count_sent(message.size());
    return std::make_unique<MpiRequest>(
        message.size(), "MPI_Isend", [&](std::size_t at, int n, MPI_Request* request) {
          return MPI_Isend(message.data() + at, n, MPI_BYTE, static_cast<int>(to), kMessage, all_,
                           request);
        });
  }

  std::unique_ptr<Request> start_receive(unsigned from, std::span<std::byte> message) override {
    check_other("Communicator::start_receive", from);
    return std::make_unique<MpiRequest>(
        message.size(), "MPI_Irecv", [&](std::size_t at, int n, MPI_Request* request) {
          return MPI_Irecv(message.data() + at, n, MPI_BYTE, static_cast<int>(from), kMessage, all_,
                           request);
        });
  }

  // A short message, which MPI sends without waiting for the receiver.
  void fail(const std::string& why) noexcept override try {
    if (failed_ || !failure_.empty()) return;
    constexpr std::size_t kLongest = 1000;
    failed_ = true;
    sent_failure_ = why.substr(0, kLongest);
    for (unsigned r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      failure_sends_.push_back(MPI_REQUEST_NULL);
      MPI_Isend(sent_failure_.data(), static_cast<int>(sent_failure_.size()), MPI_BYTE,
                static_cast<int>(r), kFailure, all_, &failure_sends_.back());
    }
    deliver();
  } catch (...) {  // no memory for the text: the launcher ends the other processes
  }

  std::string failure() override {
    if (!failure_.empty()) return failure_;
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kFailure, all_, &there, &status), "MPI_Iprobe");
    if (!there) return {};
    int n = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &n), "MPI_Get_count");
    std::string why(static_cast<std::size_t>(n), ' ');
    check(MPI_Recv(why.data(), n, MPI_BYTE, status.MPI_SOURCE, kFailure, all_, MPI_STATUS_IGNORE),
          "MPI_Recv");
    return failure_ = "rank " + std::to_string(status.MPI_SOURCE) + " failed: " + why;
  }

 private:
  // Polls, since some transports send only inside of MPI calls.
  void deliver() noexcept {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    for (int all = 0; !all && std::chrono::steady_clock::now() < end;) {
      MPI_Testall(static_cast<int>(failure_sends_.size()), failure_sends_.data(), &all,
                  MPI_STATUSES_IGNORE);
      if (!all) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  unsigned rank_ = 0, size_ = 1;
  bool ends_mpi_ = false, failed_ = false;
  std::string failure_, sent_failure_;
  std::vector<MPI_Request> failure_sends_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator() {
  return std::make_unique<MpiCommunicator>();
}

}  // namespace dynet
