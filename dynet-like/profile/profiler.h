#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "dynet-like/graph/observer.h"

namespace dynet {

class ComputationGraph;
struct ProfileRecord;

/// Updates that a profiler records. Where no trainer is used, each graph counts as one.
struct ProfileSchedule {
  /// First updates, which allocate memory and fill caches: dropped when there are later ones.
  unsigned skip = 5;
  unsigned record = 20;  ///< updates after these; recording ends with the last one
  /// Limit on kernel calls, of about 100 bytes each in memory, and 10 in a compressed trace.
  std::size_t most_calls = 200'000;
};

/// Records where the time of graphs and trainers goes, for a table and for a timeline:
///
///     dynet::Profiler profiler;
///     profiler.watch(cg);
///     for (...) { ...; cg.backward(loss); trainer.update(); profiler.step(); }
///     std::cout << profiler.table();
///     profiler.write_trace("run.json.gz");
///
/// In a program whose `process_observer` returns the profiler, all graphs that are made and all
/// trainers are watched, and an update is a step. Several threads may compute. While updates are
/// recorded a kernel call takes about a hundred nanoseconds more, see bench-graph-costs.
class Profiler final : public Observer {
 public:
  explicit Profiler(ProfileSchedule schedule = {});
  ~Profiler() override;
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Watches a graph until it is destroyed, or another profiler watches it.
  void watch(ComputationGraph& graph);
  /// Ends an update, where no trainer is watched.
  void step();
  /// Counts training samples, for the table.
  void add_samples(std::size_t n) override;
  /// Records nothing from now on.
  void stop();
  /// Whether the updates of the schedule were all recorded.
  bool is_complete() const;

  /// Text of several parts: the time of building, planning, forward, backward and updates; a row
  /// for each operation and line of the program; what was not batched, and why; what was read too
  /// early. Computes for some milliseconds, to find the peak of this CPU.
  std::string table() const;
  /// The timeline in Chrome's trace format (JSON), as Perfetto and chrome://tracing open it. Throws
  /// FileError.
  void write_trace(const std::string& path) const;
  /// Writes `table()`. Throws FileError.
  void write_table(const std::string& path) const;

  std::unique_ptr<GraphObserver> watch() override;
  void begin_update() override;
  void end_update() override;

 private:
  std::shared_ptr<ProfileRecord> record_;  // shared with the observers of graphs
};

/// A profiler of a whole program, and the files that it is written to. A program that has one
/// returns its profiler from `process_observer`.
class ProfiledRun {
 public:
  /// Paths of the table and of the trace; an empty one is not written.
  ProfiledRun(std::string table, std::string trace, ProfileSchedule schedule = {});
  /// The same with the values of environment variables, or null if none names a file.
  static std::unique_ptr<ProfiledRun> if_asked_for(const char* table, const char* trace);
  Profiler& profiler() { return profiler_; }
  /// Ends recording and writes the files. Throws FileError.
  void write();

 private:
  const std::string table_, trace_;
  Profiler profiler_;
};

}  // namespace dynet
