#include "tests/cuda/emulation/streams.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/memory.h"

namespace dynet::emulation {
namespace {

using Line = Stream::Line;

struct Need {
  std::shared_ptr<Line> line;
  std::size_t number;
};
struct Work {
  std::function<void()> run;
  std::vector<Need> needs;
};

}  // namespace

struct Stream::Line {
  std::size_t device;
  bool updates = false;
  std::deque<Work> waiting;
  std::size_t done = 0;
  std::vector<Need> needs;  // of what is put in next

  std::size_t end() const { return done + waiting.size(); }
};

namespace {

struct All {
  std::recursive_mutex mutex;
  std::array<std::vector<std::weak_ptr<Line>>, kDevices> lines;
  std::array<std::shared_ptr<Line>, kDevices> legacy;
  std::array<std::optional<Memory::Open>, kDevices> open;
  unsigned depth = 0;
  std::mt19937 order{1};
};
All& all() {
  static All streams;
  return streams;
}

void need(std::vector<Need>& needs, const std::shared_ptr<Line>& line, std::size_t number) {
  if (line->done < number) needs.push_back({line, number});
}
void need(std::vector<Need>& needs, const std::shared_ptr<Line>& line) {
  need(needs, line, line->end());
}

const std::shared_ptr<Line>& legacy(int device) {
  const auto d = static_cast<std::size_t>(device);
  auto& line = all().legacy[d];
  if (!line) {
    line = std::make_shared<Line>();
    line->device = d;
    line->updates = true;
    all().lines[d].push_back(line);
  }
  return line;
}

void put_into(const std::shared_ptr<Line>& line, std::function<void()> work) {
  Work next{std::move(work), std::exchange(line->needs, {})};
  for (const auto& l : all().lines[line->device])
    if (const auto other = l.lock(); other && other != line && other->updates != line->updates)
      need(next.needs, other);
  line->waiting.push_back(std::move(next));
}

// In the legacy stream marks and waits are work, too, that other streams wait for and that waits
// for them.
void let_wait(const std::shared_ptr<Line>& line, const std::shared_ptr<Line>& other) {
  if (other == line) return;
  if (other->updates) put_into(other, [] {});
  need(line->needs, other);
  if (line->updates) put_into(line, [] {});
}

void run_all(std::vector<Need> needs);

// Work is always queued after the work that it needs.
void run_next(Line& line) {
  const Work work = std::move(line.waiting.front());
  line.waiting.pop_front();
  ++line.done;
  run_all(work.needs);
  work.run();
}

// Lines that do not wait for each other are run piece by piece, now this one and now that one.
void run_all(std::vector<Need> needs) {
  for (;;) {
    std::erase_if(needs, [](const Need& n) { return n.line->done >= n.number; });
    if (needs.empty()) return;
    run_next(*needs[all().order() % needs.size()].line);
  }
}

void run_all_closed(std::vector<Need> needs) {
  struct Depth {
    Depth() { ++all().depth; }
    ~Depth() {
      if (--all().depth == 0)
        for (auto& o : all().open) o.reset();
    }
  } depth;
  run_all(std::move(needs));
}

}  // namespace

// The stream for updates is CUDA's legacy stream: there is always one for each device.
Stream::Stream(int device, cuda::StreamKind kind) {
  const std::lock_guard lock(all().mutex);
  auto& lines = all().lines[static_cast<std::size_t>(device)];
  std::erase_if(lines, [](const auto& l) { return l.expired(); });
  if (kind == cuda::StreamKind::updates) {
    line_ = legacy(device);
    return;
  }
  line_ = std::make_shared<Line>();
  line_->device = static_cast<std::size_t>(device);
  lines.push_back(line_);
}

Stream::~Stream() {
  try {
    reach(end());
  } catch (...) {  // as CUDA, which would tell it to the next call
  }
}

void Stream::put(std::function<void()> work) {
  if (idle()) return;
  const std::lock_guard lock(all().mutex);
  put_into(line_, std::move(work));
  if (static_cast<int>(line_->device) == hurried) run_all_closed({{line_, line_->end()}});
}

std::size_t Stream::end() const {
  const std::lock_guard lock(all().mutex);
  return line_->end();
}

void Stream::reach(std::size_t number) {
  const std::lock_guard lock(all().mutex);
  run_all_closed({{line_, number}});
}

void Stream::wait_for(const Stream& other) {
  if (idle()) return;
  const std::lock_guard lock(all().mutex);
  let_wait(line_, other.line_);
}

void Stream::mark(StreamMark& mark) const {
  const std::lock_guard lock(all().mutex);
  if (!line_->needs.empty()) put_into(line_, [] {});  // what is waited for comes before it, too
  mark.line_ = line_;
  mark.number_ = line_->end();
}

void Stream::reach(const StreamMark& mark) {
  const std::lock_guard lock(all().mutex);
  if (mark.line_) run_all_closed({{mark.line_, mark.number_}});
}

void Stream::wait_for(const StreamMark& mark) {
  if (idle()) return;
  const std::lock_guard lock(all().mutex);
  if (!mark.line_ || mark.line_ == line_) return;
  need(line_->needs, mark.line_, mark.number_);
  if (line_->updates) put_into(line_, [] {});
}

void copy_between(int to, int from, std::function<void()> work) {
  if (idle()) return;
  const std::lock_guard lock(all().mutex);
  let_wait(legacy(to), legacy(from));
  put_into(legacy(to), std::move(work));
  let_wait(legacy(from), legacy(to));
}

void separate_work(int device) {
  if (idle()) return;
  const std::lock_guard lock(all().mutex);
  put_into(legacy(device), [] {});
}

void finish(int device) {
  const std::lock_guard lock(all().mutex);
  std::vector<Need> needs;
  for (const auto& l : all().lines[static_cast<std::size_t>(device)])
    if (const auto line = l.lock()) need(needs, line);
  run_all_closed(std::move(needs));
}

void set_order(unsigned seed) {
  const std::lock_guard lock(all().mutex);
  all().order.seed(seed);
}

void open_memory(int device) {
  auto& open = all().open[static_cast<std::size_t>(device)];
  if (!open) open.emplace(memory(device));
}

}  // namespace dynet::emulation
