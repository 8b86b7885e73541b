// The contract of threads in dynet-like/c/dynet.h.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/c/calls.h"
#include "tests/io/folder.h"
#include "tests/support/sanitized.h"

namespace dynet::test::c_threads {
namespace {

constexpr int kThreads = 4, kSentences = 24;

// A network over a model that several threads share.
struct Net {
  dynet_parameter *words, *W;
  Rnn rnn;

  explicit Net(dynet_model* model)
      : words([&] {
          const std::uint32_t sizes[] = {4};
          return dynet_add_lookup_parameters(model, "words", 10, sizes, 1, nullptr, nullptr);
        }()),
        W([&] {
          const std::uint32_t sizes[] = {3, 5};
          return dynet_add_parameters(model, "W", sizes, 2, nullptr, nullptr);
        }()),
        rnn([&] {
          const dynet_value sizes[] = {dynet_int(1), dynet_int(4), dynet_int(5)};
          return dynet_rnn_new(model, "lstm", sizes, 3, nullptr);
        }()) {}
};

// The loss of sentence i, with `rnn`, which may be a copy. Called on several threads: no checks.
dynet_expression loss(const Net& net, dynet_rnn* rnn, dynet_graph* g, int i, dynet_error* error) {
  const auto call = [&](const char* name, std::initializer_list<dynet_value> x) {
    return dynet_apply(g, name, x.begin(), x.size(), error);
  };
  dynet_rnn_new_graph(rnn, g, 1, error);
  dynet_rnn_start(rnn, nullptr, 0, error);
  dynet_expression h = {};
  for (int t = 0; t < 2 + i % 5; ++t)
    h = dynet_rnn_add_input(
        rnn, call("lookup", {dynet_param(net.words), dynet_int((7 * i + 3 * t) % 10)}), error);
  const dynet_expression W = call("parameter", {dynet_param(net.W)});
  return call("pickneglogsoftmax",
              {dynet_expr(call("multiply", {dynet_expr(W), dynet_expr(h)})), dynet_int(i % 3)});
}

template <class F>
void on_threads(F f) {
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) threads.emplace_back(f, k);
  for (std::thread& thread : threads) thread.join();
}

std::vector<float> losses(const Net& net, dynet_rnn* rnn, int first, int step) {
  dynet_error error = DYNET_NO_ERROR;
  dynet_graph_options options = DYNET_GRAPH_OPTIONS;
  options.inference = 1;
  const Graph g(dynet_graph_new(&options, &error));
  std::vector<float> all(kSentences);
  for (int i = first; i < kSentences; i += step) {
    dynet_graph_renew(g, &options, &error);
    all[i] = dynet_get_scalar(loss(net, rnn, g, i, &error), &error);
  }
  return error.code == DYNET_OK ? all : std::vector<float>();
}

TEST_CASE("C: threads predict with one model") {
  const Model model(dynet_model_new(nullptr));
  const Net net(model);
  const std::vector<float> alone = losses(net, net.rnn, 0, 1);
  REQUIRE(alone.size() == kSentences);
  std::vector<std::vector<float>> found(kThreads);
  on_threads([&](int k) {
    const Rnn mine(dynet_rnn_copy(net.rnn, nullptr));
    found[k] = losses(net, mine, k, kThreads);
  });
  for (int i = 0; i < kSentences; ++i) CHECK(found[i % kThreads].at(i) == alone[i]);
}

TEST_CASE("C: threads with numbered buffers train to the bits of one") {
  const auto trained = [](int threads) {
    const Model model(dynet_model_new(nullptr));
    const Net net(model);
    const Optimizer trainer(dynet_trainer_new(model, "adam", nullptr, 0, nullptr));
    std::atomic<int> failures = 0;
    for (int update = 0; update < 5; ++update) {
      std::atomic<int> next = 0;
      const auto work = [&] {
        dynet_error error = DYNET_NO_ERROR;
        const Rnn mine(dynet_rnn_copy(net.rnn, &error));
        const Graph g(dynet_graph_new(nullptr, &error));
        for (int lane = next++; lane < 6; lane = next++) {
          dynet_graph_options options = DYNET_GRAPH_OPTIONS;
          options.has_buffer = 1;
          options.buffer = static_cast<std::uint32_t>(lane);
          for (int i = lane; i < kSentences; i += 6) {
            dynet_graph_renew(g, &options, &error);
            dynet_backward(loss(net, mine, g, i, &error), 0, &error);
          }
        }
        if (error.code != DYNET_OK) ++failures;
      };
      std::vector<std::thread> all;
      for (int k = 0; k < threads; ++k) all.emplace_back(work);
      for (std::thread& thread : all) thread.join();
      dynet_trainer_update(trainer, 1.0 / kSentences, NoError());
    }
    CHECK(failures == 0);
    return values_of(net.W, 15);
  };
  CHECK(trained(1) == trained(kThreads));
}

TEST_CASE("C: threads look up parameters that have no handles yet") {
  const Model model(dynet_model_new(nullptr));
  const Net net(model);
  const std::size_t size = dynet_model_size(model);
  std::vector<std::vector<dynet_parameter*>> found(kThreads);
  on_threads([&](int k) {
    for (std::size_t i = 0; i < size; ++i)
      found[k].push_back(dynet_model_parameter(model, i, nullptr));
  });
  CHECK(size > 4);
  for (const auto& all : found) CHECK(all == found[0]);
}

TEST_CASE("C: threads load one file into models of their own") {
  const TemporaryFolder folder;
  const std::string path = folder / "model";
  const Model model(dynet_model_new(nullptr));
  const Net net(model);
  dynet_save(path.c_str(), model, nullptr, "text", NoError());
  const std::vector<float> expected = values_of(net.W, 15);
  std::vector<std::vector<float>> found(kThreads, std::vector<float>(15));
  on_threads([&](int k) {
    const Model mine(dynet_model_new(nullptr));
    dynet_model_set_seed(mine, 100 + static_cast<std::uint64_t>(k), nullptr);
    const Net its_net(mine);
    dynet_load(path.c_str(), mine, nullptr, k % 2 ? DYNET_LOAD_MAP : 0, nullptr);
    dynet_parameter_get(its_net.W, found[k].data(), 15, nullptr);
  });
  for (const auto& values : found) CHECK(values == expected);
}

#if !DYNET_SANITIZED  // a forked process of the thread sanitizer cannot make threads
TEST_CASE("C: a process forks after loading") {
  const Model model(dynet_model_new(nullptr));
  const Net net(model);
  const std::vector<float> expected = losses(net, net.rnn, 0, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<std::vector<float>> found(kThreads);
    on_threads([&](int k) {
      const Rnn mine(dynet_rnn_copy(net.rnn, nullptr));
      found[k] = losses(net, mine, 0, 1);
    });
    const bool right =
        std::all_of(found.begin(), found.end(), [&](auto& f) { return f == expected; });
    ::_exit(right ? 0 : 1);
  }
  REQUIRE(child > 0);
  CHECK(losses(net, net.rnn, 0, 1) == expected);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif

}  // namespace
}  // namespace dynet::test::c_threads
