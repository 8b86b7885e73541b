#include "dynet-like/profile/profiler.h"

#include <chrono>
#include <utility>

#include "dynet-like/base/thread_number.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/io/files.h"
#include "dynet-like/profile/gzip.h"
#include "dynet-like/profile/record.h"

namespace dynet {

std::int64_t profile_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint32_t ProfileRecord::text(const std::string& s) {
  const auto [known, is_new] = text_of.try_emplace(s, static_cast<std::uint32_t>(texts.size()));
  if (is_new) texts.push_back(s);
  return known->second;
}

std::uint32_t ProfileData::line(const std::string& operation, const std::string& at) {
  const auto [known, is_new] =
      line_of.try_emplace({operation, at}, static_cast<std::uint32_t>(lines.size()));
  if (is_new) lines.push_back({operation, at, {}, {}, 0});
  return known->second;
}

std::uint32_t ProfileRecord::thread(std::uint64_t number) {
  return thread_of.try_emplace(number, static_cast<std::uint32_t>(thread_of.size() + 1))
      .first->second;
}

void ProfileRecord::begin_recording() {
  static_cast<ProfileData&>(*this) = {};
  stopped = closed || schedule.record == 0;
  records = !stopped;
  begin = end = profile_clock();
}

void ProfileRecord::end_recording() {
  records = false;
  stopped = true;
  end = profile_clock();
}

// The first steps are dropped as soon as there are later ones.
void ProfileRecord::end_step() {
  if (stopped) return;
  ++recorded;
  end = profile_clock();
  if (!dropped && recorded == schedule.skip) {
    dropped = true;
    first = std::move(static_cast<ProfileData&>(*this));
    begin_recording();
  } else if (recorded >= schedule.record && (dropped || schedule.skip == 0)) {
    end_recording();
  }
}

void ProfileRecord::stop() {
  if (closed) return;
  collect();
  if (records) end_recording();
  stopped = closed = true;
  if (graphs > 0 || !dropped) return;
  static_cast<ProfileData&>(*this) = std::move(first);
  dropped = false;
}

// Graphs before the first update are dropped: from now on updates count.
void ProfileRecord::count_updates() {
  if (by_updates) return;
  by_updates = true;
  if ((records && !dropped) || calls >= schedule.most_calls) {  // all belongs to the first update
    recorded = 0;
    return;
  }
  dropped = false;
  first = {};
  begin_recording();
}

Profiler::Profiler(ProfileSchedule schedule) : record_(std::make_shared<ProfileRecord>(schedule)) {
  record_->begin_recording();
}

Profiler::~Profiler() { stop(); }

void Profiler::watch(ComputationGraph& graph) { state_of(graph).set_observer(watch()); }

std::unique_ptr<GraphObserver> Profiler::watch() {
  const std::lock_guard lock(record_->mutex);
  return record_->stopped && record_->by_updates ? nullptr : make_recorder(record_);
}

void Profiler::begin_update() {
  const std::lock_guard lock(record_->mutex);
  record_->update_begin = profile_clock();
}

void Profiler::end_update() {
  ProfileRecord& r = *record_;
  const std::lock_guard lock(r.mutex);
  r.count_updates();
  r.collect();
  if (r.records && r.update_begin >= r.begin)
    r.slices.push_back({r.update_begin, profile_clock(), r.thread(this_thread_number()),
                        ProfileSlice::update, r.text("update"), 0, 0, 0, 0});
  r.end_step();
}

void Profiler::step() {
  const std::lock_guard lock(record_->mutex);
  record_->count_updates();
  record_->collect();
  record_->end_step();
}

void Profiler::add_samples(std::size_t n) {
  const std::lock_guard lock(record_->mutex);
  if (record_->records) record_->samples += n;
}

void Profiler::stop() {
  const std::lock_guard lock(record_->mutex);
  record_->stop();
}

bool Profiler::is_complete() const {
  const std::lock_guard lock(record_->mutex);
  return record_->stopped;
}

std::string Profiler::table() const { return profile_table(*record_); }

void Profiler::write_table(const std::string& path) const {
  NewFile file(path);
  file.write(table());
  file.commit();
}

void Profiler::write_trace(const std::string& path) const {
  const std::string_view end = ".gz";
  const std::string json = profile_trace(*record_);
  NewFile file(path);
  file.write(path.size() > end.size() && path.ends_with(end) ? gzip(json) : json);
  file.commit();
}

ProfiledRun::ProfiledRun(std::string table, std::string trace, ProfileSchedule schedule)
    : table_(std::move(table)), trace_(std::move(trace)), profiler_(schedule) {}

std::unique_ptr<ProfiledRun> ProfiledRun::if_asked_for(const char* table, const char* trace) {
  if (!(table && *table) && !(trace && *trace)) return nullptr;
  return std::make_unique<ProfiledRun>(table ? table : "", trace ? trace : "");
}

void ProfiledRun::write() {
  profiler_.stop();
  if (!table_.empty()) profiler_.write_table(table_);
  if (!trace_.empty()) profiler_.write_trace(trace_);
}

}  // namespace dynet
