#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <mutex>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/save.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/text_input.h"

// Distribution of a model's work to threads and processes. Each has its own graph and a copy of the
// model that shares the weights; results are independent of their number.

namespace nlp {

/// Calls `work(model, graph, i)` for each i below `count` on the model's workers, and `finished(i)`
/// after each, one call at a time.
template <class Model, class Work, class Finished>
void share_out(Model& model, std::size_t count, Work work, Finished finished) {
  std::atomic<std::size_t> next{0};
  std::mutex one_at_a_time;
  const auto go = [&](Model& mine) {
    dynet::ComputationGraph graph;
    for (std::size_t i; (i = next++) < count;) {
      work(mine, graph, i);
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      finished(i);
    }
  };
  if (model.threads() == 1 || count == 1) return go(model);
  // Threads use copies only, since another thread may be copying `model`.
  model.workers()->run(model.threads(), [&](unsigned /*thread*/) {
    Model mine(model);
    go(mine);
  });
}

/// Gives all results to every process: result i is that of process i modulo the number of
/// processes. Throws dynet::CommunicationError if processes have different numbers of results.
template <class Result>
void exchange_results(dynet::Communicator& world, std::vector<Result>& results) {
  using Bytes = dynet::Communicator::Bytes;
  dynet::require_same(world, {{"the number of samples", std::to_string(results.size())}});
  std::ostringstream out;
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  for (std::size_t i = world.rank(); i < results.size(); i += world.size()) archive << results[i];
  const std::string text = out.str();
  const std::uint64_t size = text.size();
  Bytes mine(sizeof size + size);
  std::memcpy(mine.data(), &size, sizeof size);
  if (size > 0) std::memcpy(mine.data() + sizeof size, text.data(), size);
  const Bytes all = world.allgather(std::move(mine));
  std::size_t at = 0;
  for (unsigned rank = 0; rank < world.size(); ++rank) {
    std::uint64_t length = 0;
    std::memcpy(&length, &all[at], sizeof length);
    std::istringstream in(
        std::string(reinterpret_cast<const char*>(all.data()) + at + sizeof length, length));
    boost::archive::binary_iarchive from(in, boost::archive::no_header);
    for (std::size_t i = rank; i < results.size(); i += world.size()) from >> results[i];
    at += sizeof length + length;
  }
}

/// Results of `work(model, graph, i)` for each i below `count`, computed by all workers and
/// processes of the model; `finished(i)` is called for each, one call at a time.
template <class Model, class Work, class Finished>
auto compute_shared(Model& model, std::size_t count, Work work, Finished finished) {
  using Result = decltype(work(model, std::declval<dynet::ComputationGraph&>(), std::size_t{0}));
  std::vector<Result> results(count);
  dynet::Communicator* const world = model.world();
  const std::size_t rank = world ? world->rank() : 0, size = world ? world->size() : 1;
  const std::size_t own = count / size + (rank < count % size ? 1 : 0);
  share_out(
      model, own,
      [&](Model& mine, dynet::ComputationGraph& graph, std::size_t k) {
        results[rank + k * size] = work(mine, graph, rank + k * size);
      },
      [&](std::size_t k) { finished(rank + k * size); });
  if (!world) return results;
  exchange_results(*world, results);
  for (std::size_t i = 0; i < count; ++i)
    if (i % size != rank) finished(i);
  return results;
}

/// Results of `predict(model, graph, samples)` for all samples in order, with `together` samples
/// per graph. A progress bar titled `name`, unless empty, counts samples in `unit`.
template <class Model, class Samples, class Predict>
auto predict_in_parts(Model& model, const Samples& samples, std::size_t together,
                      const std::string& name, const std::string& unit, Predict predict) {
  const auto part = [all = std::span(samples), together](std::size_t i) {
    return all.subspan(i * together, std::min(together, all.size() - i * together));
  };
  using Predictions = decltype(predict(model, std::declval<dynet::ComputationGraph&>(), part(0)));
  Progress progress(name.empty() ? Progress::Output() : standard_error_output(), name, unit,
                    samples.size(), 0, 0);
  std::size_t done = 0;
  auto parts = compute_shared(
      model, (samples.size() + together - 1) / together,
      [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
        return predict(mine, graph, part(i));
      },
      [&](std::size_t i) { progress.update(done += part(i).size()); });
  Predictions all;
  for (Predictions& each : parts) {
    all.insert(all.end(), std::make_move_iterator(each.begin()),
               std::make_move_iterator(each.end()));
  }
  return all;
}

/// `predict_in_parts` of samples with these sizes: those of similar size share a graph, the largest
/// come first. `predict(model, graph, indices)` gets the indices of samples; results are in the
/// order of the samples.
template <class Model, class Predict>
auto predict_by_size(Model& model, const std::vector<std::size_t>& sizes, std::size_t together,
                     const std::string& name, const std::string& unit, Predict predict) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  auto sorted = predict_in_parts(model, order, together, name, unit, predict);
  decltype(sorted) all(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) all[order[i]] = std::move(sorted[i]);
  return all;
}

/// Number of lines per thread in one round.
inline constexpr std::size_t kLinesOfThread = 64;

/// Writes the lines returned by `make(model, graph, i)`, in order, up to the first exception. Works
/// in rounds, so that memory is independent of `count`.
template <class Model, class Make>
void write_shared(Model& model, std::size_t count, OutputFile& out, Make make) {
  const std::size_t most = kLinesOfThread * model.threads();
  for (std::size_t begin = 0; begin < count; begin += most) {
    const std::size_t size = std::min(most, count - begin);
    std::vector<std::vector<std::string>> lines(size);
    std::vector<std::exception_ptr> errors(size);
    const auto work = [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
      try {
        lines[i] = make(mine, graph, begin + i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    };
    share_out(model, size, work, [](std::size_t /*i*/) {});
    for (std::size_t i = 0; i < size; ++i) {
      if (errors[i]) std::rethrow_exception(errors[i]);
      for (const std::string& line : lines[i]) out.write(line);
    }
  }
}

/// Number of lines per round: one with a single thread, for interactive use.
template <class Model>
std::size_t lines_together(const Model& model) {
  return model.threads() == 1 ? 1 : kLinesOfThread * model.threads();
}

/// Writes `make(model, graph, line, number)` for each line of `in` that `check` accepts; numbers
/// start at 1.
template <class Model, class Check, class Make>
void write_for_lines(Model& model, InputFile& in, OutputFile& out, Check check, Make make) {
  const std::size_t most = lines_together(model);
  std::vector<std::string> lines;
  std::size_t done = 0;
  const auto write = [&] {
    write_shared(model, lines.size(), out,
                 [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
                   return std::vector{make(mine, graph, lines[i], done + i + 1)};
                 });
    done += lines.size();
    lines.clear();
  };
  const auto next = [&](std::string& line) {
    try {
      if (!in.next(line)) return false;
      check(line);
      return true;
    } catch (...) {
      write();  // lines before the error
      throw;
    }
  };
  for (std::string line; next(line);) {
    lines.push_back(std::move(line));
    if (lines.size() == most) write();
  }
  write();
}

}  // namespace nlp
