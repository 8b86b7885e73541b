// The observer of a graph: lists what it does, and adds the list to the record when it is cleared.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "dynet-like/base/thread_number.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/profile/batching.h"
#include "dynet-like/profile/record.h"

namespace dynet {
namespace {

// Calls f(node, number of nodes with its shapes) for the nodes of a call.
template <class F>
void each_shape(const KernelCall& c, F f) {
  const bool ragged = c.form.batch.value.ragged.any();
  for (std::size_t i = 0; i < (ragged ? c.count : 1); ++i)
    f(c.graph.nodes[c.ids[i]], ragged ? 1.0 : static_cast<double>(c.count));
}

// Floating-point operations of the products of a call.
double work_of(const KernelCall& c) {
  const BatchRule& rule = c.form.batch.value;
  if (!rule.has_products()) return 0;
  double sum = 0;
  each_shape(c, [&](const Node& n, double count) {
    const auto args = c.graph.args_of(n);
    for (std::size_t k = rule.first_pair; k + 1 < args.size(); k += 2) {
      const Node &w = c.graph.nodes[args[k]], &x = c.graph.nodes[args[k + 1]];
      const double all =
          2.0 * count * w.dim.rows() * w.dim.cols() * x.dim.cols() * std::max(w.dim.bd, x.dim.bd);
      if (c.pass == KernelCall::shared)
        sum += k == c.operand ? all : 0;
      else if (c.terms.all() || c.terms.has(rule.term_of(k)))
        sum += c.pass == KernelCall::forward || x.needs_gradient() ? all : 0;
    }
  });
  return sum;
}

// Bytes of values that a call reads and writes; operands that all nodes share count once.
double bytes_of(const KernelCall& c) {
  const BatchRule& rule = c.form.batch.value;
  double numbers = 0;
  const auto add = [&](const Node& n, double count, bool shared) {
    const auto args = c.graph.args_of(n);
    for (std::size_t k = 0; k < args.size(); ++k)
      if (rule.shares(k) == shared)
        numbers += static_cast<double>(c.graph.nodes[args[k]].dim.size()) * count;
  };
  add(c.graph.nodes[c.ids[0]], 1, true);
  each_shape(c, [&](const Node& n, double count) {
    numbers += static_cast<double>(n.dim.size()) * count;
    add(n, count, false);
  });
  return numbers * sizeof(float) * (c.pass == KernelCall::backward ? 2 : 1);
}

class Recorder final : public GraphObserver {
 public:
  // With the lock of the record.
  explicit Recorder(std::shared_ptr<ProfileRecord> record)
      : record_(std::move(record)), since_(record_->records ? profile_clock() : 0) {
    record_->recorders.insert(this);
  }
  ~Recorder() override {
    const std::lock_guard lock(record_->mutex);
    record_->recorders.erase(this);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Adds the work of the graph so far, if it belongs to this thread and computes nothing now.
  void collect() {
    if (thread_ == this_thread_number() && graph_ && !is_recording_) add_to_record(*graph_, {});
  }

  void ask(const char* function, SourceLocation at) override {
    asked_ = {function, at};
    is_asked_ = true;
  }

  void begin(Activity activity, const GraphStore& graph) override {
    if (!is_recording_ && !record_->records.load(std::memory_order_relaxed)) return;
    const std::int64_t now = profile_clock();
    if (!is_recording_) {
      move_to_this_thread(graph);
      is_recording_ = true;
      const bool asked = std::exchange(is_asked_, false);
      if (asked)
        requests_.push_back({asked_.function, asked_.at, computed_, false});
      else if (activity == Activity::forward || requests_.empty())  // no function was called
        requests_.push_back({"immediate computation", graph.at(graph.nodes[graph.nodes.size() - 1]),
                             computed_, false});
      if (since_ > 0 && graph.nodes.size() > built_)
        spans_.push_back({ProfileSlice::build, since_, now, request(),
                          static_cast<std::uint32_t>(graph.nodes.size() - built_)});
      built_ = graph.nodes.size();
    }
    close_call(now);
    const auto kind = activity == Activity::plan      ? ProfileSlice::plan
                      : activity == Activity::forward ? ProfileSlice::forward
                                                      : ProfileSlice::backward;
    open_.push_back(static_cast<std::uint32_t>(spans_.size()));
    spans_.push_back({kind, now, now, request(), 0});
  }

  void end(Activity /*activity*/) override {
    if (open_.empty()) return;
    const std::int64_t now = profile_clock();
    close_call(now);
    spans_[open_.back()].end = now;
    open_.pop_back();
    if (!open_.empty()) return;
    is_recording_ = false;
    since_ = now;
    if (calls_.size() < kMostCalls) return;
    const std::lock_guard lock(record_->mutex);
    collect();
  }

  void call(const KernelCall& c) override {
    if (!is_recording_) return;
    const std::int64_t now = profile_clock();
    close_call(now);
    const GraphStore& graph = c.graph;
    const NodeId first = c.ids[0];
    const Node& n = graph.nodes[first];
    calls_.push_back({now, now, &c.form, graph.origins[first], &n.dim, first,
                      static_cast<std::uint32_t>(c.count), batch_key_of(graph, first), c.pass,
                      request(), static_cast<float>(work_of(c)), static_cast<float>(bytes_of(c))});
    is_call_open_ = true;
    if (c.pass != KernelCall::forward) return;
    Request& r = requests_.back();
    for (const NodeId a : graph.args_of(n))
      r.depends = r.depends || (a < r.first && (graph.nodes[a].flags & Node::kFromData) != 0 &&
                                graph.nodes[a].form->kind == Kind::compute);
    computed_ = std::max({computed_, first + 1, c.ids[c.count - 1] + 1});
  }

  void clear(const GraphStore& graph, const GraphStatistics& statistics) override {
    {
      const std::lock_guard lock(record_->mutex);
      add_to_record(graph, statistics);
    }
    asked_ = {};
    built_ = 0;
    computed_ = 0;
    const bool records = record_->records.load(std::memory_order_relaxed);
    since_ = records ? profile_clock() : 0;
  }

 private:
  static constexpr std::size_t kMostCalls = 1 << 16;  // of a graph that is never cleared

  struct Asked {
    const char* function = "";
    SourceLocation at;
  };
  struct Request {
    const char* function;
    SourceLocation at;
    NodeId first;  // nodes below it were computed for earlier requests
    bool depends;  // reads values of these that depend on data
  };
  struct Span {
    ProfileSlice::Kind kind;
    std::int64_t begin, end;
    std::uint32_t request, nodes;
  };
  struct Call {
    std::int64_t begin, end;
    const OpForm* form;
    NodeOrigin origin;
    const Dim* dim;
    NodeId first;
    std::uint32_t count;
    ProfiledKey key;
    KernelCall::Pass pass;
    std::uint32_t request;
    float work, bytes;
  };

  std::uint32_t request() const { return static_cast<std::uint32_t>(requests_.size() - 1); }
  void close_call(std::int64_t now) {
    if (std::exchange(is_call_open_, false)) calls_.back().end = now;
  }

  // `collect` of another thread may be looking at this graph.
  void move_to_this_thread(const GraphStore& graph) {
    if (graph_ && thread_ == this_thread_number()) return;
    const std::lock_guard lock(record_->mutex);
    graph_ = &graph;
    thread_ = this_thread_number();
  }

  // With the lock of the record.
  void add_to_record(const GraphStore& graph, const GraphStatistics& statistics) {
    if (!spans_.empty()) add_all(graph, statistics);
    calls_.clear();
    spans_.clear();
    requests_.clear();
  }

  void add_all(const GraphStore& graph, const GraphStatistics& statistics) {
    ProfileRecord& r = *record_;
    if (spans_.front().begin < r.begin) return;  // of updates that were dropped
    const std::uint32_t thread = r.thread(thread_);
    ++r.graphs;
    r.nodes += graph.nodes.size();
    std::vector<std::uint32_t> places;
    for (const Request& request : requests_)
      places.push_back(r.text(std::string(request.function) + " at " + to_string(request.at)));
    for (const Span& s : spans_)
      r.slices.push_back({s.begin, s.end, thread, s.kind, places[s.request], s.nodes, 0, 0, 0});
    std::unordered_map<const Dim*, std::uint32_t> shapes;
    std::vector<BatchedCall> batched;
    for (const Call& c : calls_) {
      const std::uint32_t line = line_of(r, c);
      auto [shape, is_new] = shapes.try_emplace(c.dim, 0);
      if (is_new) shape->second = r.text(to_string(*c.dim));
      ProfiledLine& l = r.lines[line];
      const bool forward = c.pass == KernelCall::forward;
      ProfiledLine::Part& part = forward ? l.forward : l.backward;
      ++part.calls;
      part.nodes += c.count;
      part.time += c.end - c.begin;
      part.work += static_cast<double>(c.work);
      part.bytes += static_cast<double>(c.bytes);
      if (forward) {
        l.value_bytes += static_cast<double>(c.dim->size()) * c.count * sizeof(float);
        if (c.form->kind == Kind::compute) batched.push_back({line, c.request, c.first, c.key});
      }
      r.slices.push_back({c.begin, c.end, thread,
                          forward ? ProfileSlice::forward_call : ProfileSlice::backward_call, line,
                          c.count, shape->second, c.work, c.bytes});
    }
    lines_.clear();
    r.calls += calls_.size();
    std::vector<BatchedRequest> requests;
    for (std::size_t k = 0; k < requests_.size(); ++k)
      requests.push_back({requests_[k].function, to_string(requests_[k].at), requests_[k].depends});
    add_missed_batches(graph, computed_, batched, requests, r);
    r.memory.push_back({spans_.back().end, statistics.value_bytes, statistics.gradient_bytes});
    if (!r.by_updates) r.end_step();
    if (r.calls >= r.schedule.most_calls && r.records) r.end_recording();
  }

  std::uint32_t line_of(ProfileRecord& r, const Call& c) {
    const auto key = std::make_tuple(c.form, c.origin.file, c.origin.line);
    for (const auto& [known, line] : lines_)
      if (known == key) return line;
    const std::uint32_t line =
        r.line(c.form->name.value, to_string(SourceLocation(c.origin.file, c.origin.line)));
    lines_.emplace_back(key, line);
    return line;
  }

  const std::shared_ptr<ProfileRecord> record_;
  bool is_recording_ = false, is_call_open_ = false, is_asked_ = false;
  const GraphStore* graph_ = nullptr;
  std::uint64_t thread_ = 0;
  std::int64_t since_;     // end of the last activity
  std::size_t built_ = 0;  // nodes at that time
  NodeId computed_ = 0;    // nodes below it were computed
  Asked asked_;
  std::vector<Request> requests_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> open_;  // spans
  std::vector<Call> calls_;
  std::vector<std::pair<std::tuple<const OpForm*, const char*, std::uint32_t>, std::uint32_t>>
      lines_;  // while flushing
};

}  // namespace

std::unique_ptr<GraphObserver> make_recorder(std::shared_ptr<ProfileRecord> record) {
  return std::make_unique<Recorder>(std::move(record));
}

void ProfileRecord::collect() {
  for (GraphObserver* const recorder : recorders) static_cast<Recorder*>(recorder)->collect();
}

}  // namespace dynet
