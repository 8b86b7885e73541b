// Chrome's trace format: "Trace Event Format", Nat Duca and Dror Harlev, 2016. Times in
// microseconds from the start of recording, a row for each thread, slices of a row nest.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "dynet-like/profile/record.h"

namespace dynet {
namespace {

using Json = nlohmann::json;

constexpr int kProcess = 1;

double microseconds(const ProfileRecord& r, std::int64_t time) {
  return static_cast<double>(time - r.begin) / 1000;
}

Json event(const char* phase, const std::string& name, std::uint32_t thread) {
  return {{"ph", phase}, {"name", name}, {"pid", kProcess}, {"tid", thread}};
}

Json slice(const ProfileRecord& r, const ProfileSlice& s) {
  const bool call = s.kind >= ProfileSlice::forward_call;
  Json args = Json::object();
  std::string name;
  if (call) {
    const ProfiledLine& line = r.lines[s.line];
    name = line.operation + (s.kind == ProfileSlice::backward_call ? " gradient" : "");
    args = {{"nodes", s.count}, {"shape", r.texts[s.shape]}, {"at", line.at}, {"bytes", s.bytes}};
    if (s.work > 0)
      args["GFLOP/s"] = static_cast<double>(s.work) /
                        static_cast<double>(std::max<std::int64_t>(1, s.end - s.begin));
  } else {
    name = kProfileNames[s.kind];
    if (s.kind == ProfileSlice::build) args = {{"nodes", s.count}};
    if (s.kind == ProfileSlice::forward || s.kind == ProfileSlice::backward)
      args = {{"for", r.texts[s.line]}};
  }
  Json e = event("X", name, s.thread);
  e["cat"] = call ? (s.kind == ProfileSlice::forward_call ? "forward" : "backward") : "graph";
  e["ts"] = microseconds(r, s.begin);
  e["dur"] = static_cast<double>(s.end - s.begin) / 1000;
  e["args"] = std::move(args);
  return e;
}

// A line for each event; text that is not UTF-8 is replaced.
std::string line_of(const Json& e) {
  return e.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string profile_trace(const ProfileRecord& r) {
  const std::lock_guard lock(r.mutex);
  std::string json = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  Json process = event("M", "process_name", 0);
  process["args"] = {{"name", "dynet-like"}};
  json += line_of(process);
  for (const auto& [number, thread] : r.thread_of) {
    Json name = event("M", "thread_name", thread);
    name["args"] = {{"name", "thread " + std::to_string(thread)}};
    json += ",\n" + line_of(name);
  }
  // Outer slices first: viewers nest slices of one start in this order.
  std::vector<ProfileSlice> slices;
  for (const ProfileSlice& s : r.slices)
    if (s.begin >= r.begin) slices.push_back(s);
  std::stable_sort(slices.begin(), slices.end(), [](const ProfileSlice& a, const ProfileSlice& b) {
    return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
  });
  for (const ProfileSlice& s : slices) json += ",\n" + line_of(slice(r, s));
  for (const ProfileMemory& m : r.memory) {
    if (m.time < r.begin) continue;
    Json counter = event("C", "memory of graphs", 0);
    counter["ts"] = microseconds(r, m.time);
    counter["args"] = {{"values", m.values}, {"gradients", m.gradients}};
    json += ",\n" + line_of(counter);
  }
  return json + "\n]}\n";
}

}  // namespace dynet
