#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dynet-like/profile/profiler.h"

namespace dynet {

/// Nanoseconds of a monotonic clock.
std::int64_t profile_clock();

/// An operation at a line of the program.
struct ProfiledLine {
  std::string operation;
  std::string at;  ///< file:line
  struct Part {
    std::uint64_t calls = 0, nodes = 0;
    std::int64_t time = 0;  ///< ns
    double work = 0;        ///< floating-point operations of products
    double bytes = 0;       ///< read and written, each operand of a batch once
  };
  Part forward, backward;
  double value_bytes = 0;  ///< memory of its values
};

/// Kernel calls of a line whose nodes differ, in all graphs.
struct ApartCalls {
  std::uint64_t calls = 0, nodes = 0;
  std::uint64_t more = 0;  ///< calls beyond one for nodes that do not depend on each other
  std::map<std::string, std::uint64_t> reasons;  ///< of some pairs, and how often
};

/// Requests for values that came before other nodes were built that could have joined their
/// batches.
struct EarlyRequests {
  std::uint64_t requests = 0;
  std::uint64_t more = 0;  ///< kernel calls that one request at the end would have saved
};

/// A slice of a timeline: an activity, or a kernel call in it.
struct ProfileSlice {
  enum Kind : std::uint8_t { build, plan, forward, backward, update, forward_call, backward_call };
  static constexpr std::size_t kActivities = forward_call, kKinds = backward_call + 1;
  std::int64_t begin, end;  ///< ns
  std::uint32_t thread;     ///< from 1
  Kind kind;
  std::uint32_t line;   ///< of calls: index in ProfileRecord::lines; else of a request in `texts`
  std::uint32_t count;  ///< nodes
  std::uint32_t shape;  ///< of calls: index in `texts`
  float work, bytes;
};

/// Names of activities.
inline constexpr const char* kProfileNames[] = {"build", "plan", "forward", "backward", "update"};

struct ProfileMemory {
  std::int64_t time;
  std::uint64_t values, gradients;  ///< bytes
};

/// The record of some updates.
struct ProfileData {
  std::uint64_t recorded = 0;  ///< updates or graphs
  std::int64_t begin = 0, end = 0;
  std::uint64_t graphs = 0, nodes = 0, samples = 0, calls = 0;
  std::vector<ProfiledLine> lines;
  std::map<std::tuple<std::string, std::string>, std::uint32_t> line_of;  ///< operation, place
  std::map<std::uint32_t, ApartCalls> apart;                              ///< by line
  std::map<std::pair<std::string, std::string>, EarlyRequests> early;     ///< by function, place
  std::vector<ProfileSlice> slices;
  std::vector<ProfileMemory> memory;

  std::uint32_t line(const std::string& operation, const std::string& at);
};

/// The record of a profiler. Observers of graphs add to it when their graph is cleared and when an
/// update ends.
struct ProfileRecord : ProfileData {
  explicit ProfileRecord(const ProfileSchedule& s) : schedule(s) {}

  const ProfileSchedule schedule;
  std::atomic<bool> records = false;  ///< whether graphs add to it

  mutable std::mutex mutex;  ///< of all that follows, and of ProfileData
  bool by_updates = false;   ///< an update was seen; before, graphs count
  bool stopped = false;      ///< the schedule has ended
  bool closed = false;       ///< by the user
  bool dropped = false;      ///< the first updates were
  ProfileData first;         ///< of the first updates, if there are no later ones
  std::vector<std::string> texts;
  std::map<std::string, std::uint32_t, std::less<>> text_of;
  std::map<std::uint64_t, std::uint32_t> thread_of;  ///< by this_thread_number
  std::int64_t update_begin = 0;
  std::set<GraphObserver*> recorders;  ///< of live graphs

  // These need the lock.
  void begin_recording();
  void end_recording();
  void end_step();
  void count_updates();
  void stop();
  /// Adds what the graphs of this thread did since they were cleared.
  void collect();
  std::uint32_t text(const std::string& s);
  std::uint32_t thread(std::uint64_t number);
};

/// Observer of one graph.
std::unique_ptr<GraphObserver> make_recorder(std::shared_ptr<ProfileRecord> record);

std::string profile_table(const ProfileRecord& record);
std::string profile_trace(const ProfileRecord& record);

}  // namespace dynet
