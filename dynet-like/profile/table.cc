#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/profile/record.h"

namespace dynet {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* how, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, how);
  std::vsnprintf(text, sizeof text, how, arguments);
  va_end(arguments);
  return text;
}

// Milliseconds with three digits or so.
std::string ms(double ns) {
  const double x = ns / 1e6;
  return format(x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x);
}

// "1,234"
std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

// Floating-point operations a nanosecond of a product of squares on one thread, the best of some.
double peak() {
  constexpr unsigned kSize = 384;
  ComputationGraph cg;
  state_of(cg).set_observer(nullptr);
  const std::vector<float> numbers(kSize * kSize, 0.5f);
  const Expression a = input(cg, Dim({kSize, kSize}), numbers);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const Expression product = a * a;
    cg.incremental_forward(a);
    const std::int64_t begin = profile_clock();
    cg.incremental_forward(product);
    best =
        std::max(best, 2.0 * kSize * kSize * kSize /
                           static_cast<double>(std::max<std::int64_t>(1, profile_clock() - begin)));
  }
  return best;
}

// Names to the left, numbers to the right.
class Table {
 public:
  explicit Table(std::size_t names) : names_(names) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t k = 0; k < row.size(); ++k) {
        if (k == widths.size()) widths.push_back(0);
        widths[k] = std::max(widths[k], row[k].size());
      }
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t k = 0; k < row.size(); ++k) {
        const std::string space(widths[k] - row[k].size(), ' ');
        line += (k ? "  " : "") + (k < names_ ? row[k] + space : space + row[k]);
      }
      line.resize(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  }

 private:
  const std::size_t names_;
  std::vector<std::vector<std::string>> rows_;
};

// Nanoseconds by kind of slice; forward without the planning inside it.
std::array<double, ProfileSlice::kKinds> times_of(const ProfileRecord& r) {
  std::array<double, ProfileSlice::kKinds> times{};
  for (const ProfileSlice& s : r.slices) times[s.kind] += static_cast<double>(s.end - s.begin);
  times[ProfileSlice::forward] -= times[ProfileSlice::plan];
  return times;
}

std::string head(const ProfileRecord& r) {
  const auto steps = static_cast<double>(std::max<std::uint64_t>(1, r.recorded));
  const double wall = static_cast<double>(r.end - r.begin);
  const std::string what = r.by_updates ? "update" : "graph";
  std::string text = grouped(r.recorded) + ' ' + what + (r.recorded == 1 ? "" : "s") +
                     (r.dropped ? " after the first " + grouped(r.schedule.skip) : "") + ": " +
                     ms(wall / steps) + " ms each";
  if (r.by_updates) text += format(", %.1f graphs", static_cast<double>(r.graphs) / steps);
  text += format(", %.0f nodes, %.0f kernel calls", static_cast<double>(r.nodes) / steps,
                 static_cast<double>(r.calls) / steps);
  if (r.samples > 0)
    text += format(", %.1f samples; %.0f samples/s", static_cast<double>(r.samples) / steps,
                   static_cast<double>(r.samples) / wall * 1e9);
  return text + '\n';
}

std::string phases(const ProfileRecord& r) {
  const auto times = times_of(r);
  const auto steps = static_cast<double>(std::max<std::uint64_t>(1, r.recorded));
  const double wall = static_cast<double>(std::max<std::int64_t>(1, r.end - r.begin));
  Table table(1);
  table.add({"", r.by_updates ? "ms an update" : "ms a graph", "share"});
  const auto row = [&](const char* name, double time) {
    table.add({name, ms(time / steps), format("%.0f %%", 100 * time / wall)});
  };
  double rest = wall;
  for (std::size_t kind = 0; kind < ProfileSlice::kActivities; ++kind) {
    row(kProfileNames[kind], times[kind]);
    rest -= times[kind];
  }
  if (r.thread_of.size() == 1) row("the rest", std::max(0.0, rest));
  return table.text();
}

// Length of the folders that all places have in common.
std::size_t common_folders(const ProfileRecord& r) {
  std::vector<std::string_view> places;
  for (const ProfiledLine& l : r.lines) places.push_back(l.at);
  for (const auto& [request, e] : r.early) places.push_back(request.second);
  std::size_t length = places.empty() ? 0 : places[0].rfind('/') + 1;
  for (const std::string_view at : places) {
    const std::string_view common = places[0].substr(0, length);
    const auto differ = std::mismatch(common.begin(), common.end(), at.begin(), at.end());
    if (differ.first != common.end()) {
      const auto same = static_cast<std::size_t>(differ.first - common.begin());
      length = common.substr(0, same).rfind('/') + 1;
    }
  }
  return length;
}

std::string operations(const ProfileRecord& r, double most, std::size_t folders) {
  constexpr std::size_t kMost = 40;
  std::vector<const ProfiledLine*> lines;
  double all = 0;
  const auto time = [](const ProfiledLine* l) { return l->forward.time + l->backward.time; };
  for (const ProfiledLine& l : r.lines) {
    lines.push_back(&l);
    all += static_cast<double>(time(&l));
  }
  std::stable_sort(lines.begin(), lines.end(), [&](auto* a, auto* b) { return time(a) > time(b); });
  const auto steps = static_cast<double>(std::max<std::uint64_t>(1, r.recorded));
  const bool micro = all / steps < 2e7;  // ns
  const auto per_step = [&](std::int64_t ns) {
    return format("%.1f", static_cast<double>(ns) / steps / (micro ? 1e3 : 1e6));
  };
  const std::string unit = micro ? " us" : " ms";
  Table table(2);
  table.add({"operation", "at", "forward" + unit, "backward" + unit, "share", "calls",
             "nodes a call", "GFLOP/s", "of peak", "GB/s", "values KB"});
  for (std::size_t k = 0; k < std::min(kMost, lines.size()); ++k) {
    const ProfiledLine& l = *lines[k];
    const auto spent = static_cast<double>(std::max<std::int64_t>(1, time(&l)));
    const double work = (l.forward.work + l.backward.work) / spent;
    const auto calls = static_cast<double>(l.forward.calls);
    table.add({l.operation, l.at.substr(folders), per_step(l.forward.time),
               per_step(l.backward.time), format("%.1f %%", 100 * spent / std::max(1.0, all)),
               format("%.1f", calls / steps),
               calls > 0 ? format("%.1f", static_cast<double>(l.forward.nodes) / calls) : "-",
               work > 0 ? format("%.1f", work) : "-",
               work > 0 ? format("%.0f %%", 100 * work / most) : "-",
               format("%.1f", (l.forward.bytes + l.backward.bytes) / spent),
               format("%.0f", l.value_bytes / steps / 1024)});
  }
  std::string text = table.text();
  if (lines.size() > kMost) text += format("and %zu more\n", lines.size() - kMost);
  return text + format("Per %s. The peak is %.0f GFLOP/s: a product of 384 x 384 on one thread.\n",
                       r.by_updates ? "update" : "graph", most);
}

// The most frequent reasons, a line each.
std::string reasons_of(const ApartCalls& a) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (const auto& [reason, n] : a.reasons) all.emplace_back(n, reason);
  std::stable_sort(all.begin(), all.end(), [](auto& x, auto& y) { return x.first > y.first; });
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(2, all.size()); ++k)
    text += "\n      " + all[k].second;
  return text;
}

std::string missed(const ProfileRecord& r, std::size_t folders) {
  constexpr std::size_t kMost = 10;
  using Entries = std::vector<std::pair<std::uint64_t, std::string>>;
  Entries apart, early;
  for (const auto& [index, a] : r.apart) {
    const ProfiledLine& line = r.lines[index];
    if (20 * a.more < a.calls) continue;
    apart.emplace_back(a.more, line.operation + " at " + line.at.substr(folders) + ": " +
                                   grouped(a.calls) + " calls for " + grouped(a.nodes) +
                                   " nodes, " + grouped(a.more) + " more than if all were alike" +
                                   reasons_of(a));
  }
  for (const auto& [request, e] : r.early)
    early.emplace_back(e.more, request.first + " at " + request.second.substr(folders) + ": " +
                                   grouped(e.requests) +
                                   " times for a part of the graph, which cost " + grouped(e.more) +
                                   " of " + grouped(r.calls) + " calls");
  std::string text;
  const auto add = [&](const char* title, Entries& list) {
    std::stable_sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.first > b.first; });
    text += std::string("\n") + title + (list.empty() ? ": nothing\n" : ":\n");
    for (std::size_t k = 0; k < std::min(kMost, list.size()); ++k)
      text += "  " + list[k].second + '\n';
    if (list.size() > kMost) text += format("  and %zu more\n", list.size() - kMost);
  };
  add("Not batched", apart);
  add("Read too early", early);
  return text;
}

}  // namespace

std::string profile_table(const ProfileRecord& r) {
  const double most = peak();
  const std::lock_guard lock(r.mutex);
  if (r.graphs == 0) return "No graph was computed.\n";
  const std::size_t folders = common_folders(r);
  return head(r) + '\n' + phases(r) + '\n' + operations(r, most, folders) + missed(r, folders);
}

}  // namespace dynet
