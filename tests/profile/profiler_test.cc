#include "dynet-like/profile/profiler.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "dynet-like/graph/graph_state.h"
#include "dynet-like/profile/record.h"
#include "tests/io/folder.h"
#include "tests/run/random_graph.h"
#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace profiler_test {

using namespace dynet;
using Json = nlohmann::json;

namespace {

constexpr ProfileSchedule kAll{.skip = 0, .record = 1000};

// The text of a table from a title to the next empty line.
std::string part(const std::string& table, const std::string& title) {
  const std::size_t begin = table.find(title);
  if (begin == std::string::npos) return "";
  return table.substr(begin, table.find("\n\n", begin) - begin);
}

bool contains(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

// The row of an operation, without repeated spaces.
std::vector<std::string> row(const std::string& table, const std::string& operation,
                             unsigned line) {
  const std::string place = "profiler_test.cc:" + std::to_string(line) + ' ';
  std::istringstream all(table);
  for (std::string text; std::getline(all, text);) {
    if (text.rfind(operation + ' ', 0) != 0 || !contains(text, place)) continue;
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

Json trace_of(const Profiler& profiler) {
  const TemporaryFolder folder;
  profiler.write_trace(folder / "trace");
  std::ifstream file(folder / "trace");
  return Json::parse(file);
}

// Events of a name, in the order of their beginnings.
std::vector<Json> slices(const Json& trace, const std::string& name = "") {
  std::vector<Json> found;
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "X" && (name.empty() || e["name"] == name)) found.push_back(e);
  return found;
}

// The table of a program that uses one graph.
template <class Program>
std::string table_of(Program program) {
  Profiler profiler(kAll);
  {
    ComputationGraph g;
    profiler.watch(g);
    program(g);
  }
  profiler.stop();
  return profiler.table();
}

}  // namespace

TEST_CASE("a profile counts calls, nodes and products by operation and line") {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({8, 8});
  Profiler profiler(kAll);
  unsigned tanhs = 0, products = 0;
  for (int update = 0; update < 3; ++update) {
    ComputationGraph g;
    profiler.watch(g);
    const Expression m = parameter(g, w);
    std::vector<Expression> ends;
    for (unsigned k = 0; k < 64; ++k) {
      const Expression x = input(g, Dim({8}), std::vector<float>(8, float(k)));
      const Expression p = m * x;
      products = __LINE__ - 1;
      ends.push_back(tanh(p));
      tanhs = __LINE__ - 1;
    }
    g.backward(squared_norm(sum(ends)));
    profiler.step();
  }
  profiler.add_samples(192);
  profiler.stop();
  const std::string table = profiler.table();
  INFO(table);
  CHECK(contains(table, "3 updates: "));
  CHECK(contains(table, ", 1.0 graphs, "));
  CHECK(contains(table, " 64.0 samples; "));
  const auto t = row(table, "tanh", tanhs), p = row(table, "operator*", products);
  REQUIRE(t.size() > 8);
  CHECK(t[6] == "1.0");   // calls
  CHECK(t[7] == "64.0");  // nodes a call
  CHECK(t[8] == "-");     // no products
  REQUIRE(p.size() > 8);
  CHECK(p[7] == "64.0");
  CHECK(std::stod(p[8]) > 0);
  CHECK(contains(table, "Not batched: nothing"));
  CHECK(contains(table, "Read too early: nothing"));
  const Json trace = trace_of(profiler);
  CHECK(slices(trace, "tanh").size() == 3);
  CHECK(slices(trace, "tanh gradient").size() == 3);
  CHECK(slices(trace, "operator* gradient").size() == 3);
  // A product of 8 x 8 with each of 64 columns; backward computes dW alone, for the columns are
  // inputs.
  const auto work = [](const Json& e) {
    return double(e["args"]["GFLOP/s"]) * double(e["dur"]) * 1000;
  };
  for (const Json& e : slices(trace, "operator*")) {
    CHECK(e["args"]["nodes"] == 64);
    CHECK(e["args"]["shape"] == "{8}");
    CHECK(work(e) == Approx(2 * 8 * 8 * 64).epsilon(0.01));
    CHECK(e["args"]["bytes"] == 4 * (8 * 8 + 2 * 8 * 64));
  }
  for (const Json& e : slices(trace, "operator* gradient"))
    CHECK(work(e) == Approx(2 * 8 * 8 * 64).epsilon(0.01));
}

TEST_CASE("a profile counts the columns of each product of a batch") {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({8, 8});
  Profiler profiler(kAll);
  for (int update = 0; update < 2; ++update) {
    ComputationGraph g;
    profiler.watch(g);
    std::vector<Expression> ends;
    for (const unsigned columns : {2u, 40u, 400u})
      ends.push_back(squared_norm(parameter(g, w) * constant(g, {8, columns}, 0.5f)));
    g.backward(sum(ends));
    profiler.step();
  }
  profiler.stop();
  const Json trace = trace_of(profiler);
  const auto work = [](const Json& e) {
    return double(e["args"]["GFLOP/s"]) * double(e["dur"]) * 1000;
  };
  CHECK(slices(trace, "operator*").size() == 2);
  for (const Json& e : slices(trace, "operator*")) {
    CHECK(e["args"]["nodes"] == 3);
    CHECK(work(e) == Approx(2 * 8 * 8 * 442).epsilon(0.01));
    CHECK(e["args"]["bytes"] == 4 * (8 * 8 + 2 * 8 * 442));
  }
}

TEST_CASE("slices of a timeline nest, start near 0, and their times add up") {
  ParameterCollection pc;
  RandomGraph::Model model(5);
  Profiler profiler(kAll);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ComputationGraph g;
    profiler.watch(g);
    g.set_seed(seed);
    RandomGraph random(g, model, 5, seed);
    const Expression loss = random.build();
    if (seed % 2) (void)loss.value();
    g.backward(loss);
    profiler.step();
  }
  const Json trace = trace_of(profiler);
  std::map<int, std::vector<double>> open;  // ends of the enclosing slices, by thread
  double first = 1e9, calls = 0, passes = 0;
  std::optional<double> last_call;  // end of the call before, of the same pass
  unsigned gaps = 0, pairs = 0;
  for (const Json& e : slices(trace)) {
    const double begin = e["ts"], end = begin + double(e["dur"]);
    REQUIRE(begin >= 0);
    REQUIRE(end >= begin);
    first = std::min(first, begin);
    std::vector<double>& ends = open[e["tid"]];
    while (!ends.empty() && ends.back() <= begin + 1e-6) ends.pop_back();
    if (!ends.empty()) REQUIRE(end <= ends.back() + 1e-3);
    ends.push_back(end);
    if (e["cat"] == "graph") {
      last_call.reset();
    } else {  // a call ends where the next one begins
      pairs += last_call.has_value();
      gaps += last_call && std::abs(*last_call - begin) > 1e-3;
      last_call = end;
    }
    if (e["name"] == "forward" || e["name"] == "backward") passes += double(e["dur"]);
    if (e["cat"] != "graph" || e["name"] == "plan") calls += double(e["dur"]);
  }
  CHECK(first < 60e6);  // microseconds, and not since the start of the machine
  CHECK(calls <= passes + 1e-3 * passes);
  CHECK(pairs > 100);
  CHECK(gaps == 0);
  CHECK(open.size() == 1);
}

TEST_CASE("a profile says why nodes were not batched") {
  ParameterCollection pc;
  Parameter v = pc.add_parameters({4, 4}, 0, "v"), w = pc.add_parameters({4, 4}, 0, "w");
  const auto x = [](ComputationGraph& g, unsigned size = 4) {
    return input(g, Dim({size}), std::vector<float>(size, 1.0f));
  };
  struct Case {
    std::function<Expression(ComputationGraph&, unsigned)> node;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {[&](auto& g, unsigned k) { return parameter(g, k % 2 ? v : w) * x(g); },
       "their matrices differ: /w and /v"},
      {[&](auto& g, unsigned k) { return tanh(x(g, 3 + k % 2)); },
       "the shapes of operand 1 differ: {3} and {4}"},
      {[&](auto& g, unsigned k) { return sum(std::vector<Expression>(2 + k % 2, x(g))); },
       "their numbers of operands differ: 2 and 3"},
      {[&](auto& g, unsigned k) {
         return sum_dim(input(g, Dim({4, 4}), std::vector<float>(16, 1.0f)), {k % 2});
       },
       "their settings differ"},
  };
  for (const Case& c : cases) {
    const std::string table = table_of([&](ComputationGraph& g) {
      std::vector<Expression> all;
      for (unsigned k = 0; k < 6; ++k) all.push_back(sum_elems(c.node(g, k)));
      g.forward(sum(all));
    });
    INFO(table);
    CHECK(contains(part(table, "Not batched:"), c.reason));
  }
}

TEST_CASE("a profile does not count nodes apart that depend on each other") {
  ParameterCollection pc, other;
  std::vector<Parameter> layers;
  for (int k = 0; k < 5; ++k) layers.push_back(pc.add_parameters({4, 4}));
  Parameter same_name = other.add_parameters({4, 4});
  VanillaLSTMBuilder forward(1, 4, 4, pc), backward(1, 4, 4, pc);
  const auto x = [](ComputationGraph& g) {
    return input(g, Dim({4}), std::vector<float>(4, 1.0f));
  };
  // Layers with a matrix each, and the first step of an LSTM, which has no state before it.
  const std::string deep = table_of([&](ComputationGraph& g) {
    Expression h = x(g);
    for (const Parameter& w : layers) h = tanh(parameter(g, w) * h);
    forward.new_graph(g);
    forward.start_new_sequence();
    for (int t = 0; t < 6; ++t) h = forward.add_input(x(g));
    g.forward(squared_norm(h));
  });
  INFO(deep);
  CHECK(contains(deep, "Not batched: nothing"));
  // Two networks at one line, two collections with one name, two operations of one name.
  const std::string wide = table_of([&](ComputationGraph& g) {
    forward.new_graph(g);
    backward.new_graph(g);
    std::vector<Expression> all;
    for (VanillaLSTMBuilder* lstm : {&forward, &backward}) {
      lstm->start_new_sequence();
      for (int t = 0; t < 6; ++t) all.push_back(lstm->add_input(x(g)));
    }
    for (const Parameter& p : {layers[0], same_name}) all.push_back(parameter(g, p) * x(g) * 0.5f);
    g.forward(squared_norm(sum(all)));
  });
  INFO(wide);
  const std::string apart = part(wide, "Not batched:");
  CHECK(contains(apart, "for 12 nodes, 6 more"));
  CHECK(contains(apart, "their matrices differ"));
  CHECK_FALSE(contains(apart, "numbers of operands"));
}

TEST_CASE("a profile shows nodes that are computed one by one, at once") {
  const std::string table = table_of([&](ComputationGraph& g) {
    g.set_immediate_compute(true);
    std::vector<Expression> all;
    for (int k = 0; k < 8; ++k) all.push_back(exp(input(g, float(k))));
  });
  INFO(table);
  CHECK(contains(part(table, "Read too early:"), "immediate computation"));
}

TEST_CASE("nodes that were reverted give no line to those that are built in their place") {
  ParameterCollection pc;
  std::vector<Parameter> layers;
  for (int k = 0; k < 6; ++k) layers.push_back(pc.add_parameters({4, 4}));
  const std::string table = table_of([&](ComputationGraph& g) {
    const Expression x = input(g, Dim({4}), std::vector<float>(4, 1.0f));
    (void)x.value();
    g.checkpoint();
    std::vector<Expression> all;
    for (int k = 0; k < 6; ++k) all.push_back(tanh(parameter(g, layers[0]) * x));
    (void)sum(all).value();
    g.revert();
    all.clear();
    for (const Parameter& w : layers) all.push_back(parameter(g, w) * x);
    g.forward(sum(all));
  });
  INFO(table);
  const std::string apart = part(table, "Not batched:");
  CHECK(contains(apart, "operator* at "));
  CHECK_FALSE(contains(apart, "tanh at "));
}

TEST_CASE("graphs that are gone before the update ends belong to it") {
  Profiler profiler({.skip = 0, .record = 10});
  for (int k = 0; k < 3; ++k) {
    for (int sample = 0; sample < 2; ++sample) {
      ComputationGraph g;
      profiler.watch(g);
      g.forward(tanh(input(g, float(k))));
    }
    profiler.step();
  }
  profiler.stop();
  CHECK(contains(profiler.table(), "3 updates: "));
  CHECK(contains(profiler.table(), ", 2.0 graphs, 4 nodes"));
}

TEST_CASE("a profile names what was read before its graph was complete") {
  unsigned read = 0;
  const auto losses = [&](bool early, bool dependent) {
    return table_of([&](ComputationGraph& g) {
      std::vector<Expression> all;
      Expression last;
      for (unsigned k = 0; k < 64; ++k) {
        Expression x = input(g, Dim({4}), std::vector<float>(4, float(k)));
        if (dependent && k > 0) x = x + last;
        last = tanh(exp(x));
        all.push_back(squared_norm(last));
        if (early) (void)all.back().value();
        read = __LINE__ - 1;
      }
      (void)sum(all).value();
    });
  };
  const std::string early = losses(true, false);
  INFO(early);
  const std::string found = part(early, "Read too early:");
  CHECK(contains(found, "value at "));
  CHECK(contains(found, ":" + std::to_string(read) + ": 63 times for a part"));
  CHECK(contains(found, "cost 252 of "));  // input, exp, tanh, squared_norm
  CHECK(contains(losses(false, false), "Read too early: nothing"));
  // A node that needs an earlier value could not have waited: only the first request is
  // independent.
  CHECK(contains(losses(true, true), "Read too early: nothing"));
}

TEST_CASE("watching a graph changes no bit, in replays and in inference too") {
  RandomGraph::Model model(5);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<float> results[2];
    for (const bool watched : {false, true}) {
      Profiler profiler(kAll);
      model.pc.reset_gradient();
      ComputationGraph g;
      if (watched) profiler.watch(g);
      for (int round = 0; round < 4; ++round) {  // replayed from the third on
        g.clear();
        g.set_seed(seed);
        g.set_inference(seed % 3 == 0);
        RandomGraph random(g, model, 5, seed);
        const Expression loss = random.build();
        results[watched].push_back(as_scalar(loss.value()));
        if (seed % 3) g.backward(loss);
      }
      const std::vector<float> gradients = test::all_gradients(model.pc);
      results[watched].insert(results[watched].end(), gradients.begin(), gradients.end());
      profiler.stop();
      if (watched) CHECK(contains(profiler.table(), "4 graphs: "));
    }
    REQUIRE(test::same_bits(results[0], results[1]));
  }
}

TEST_CASE("a profile drops the first updates, and ends by its schedule") {
  const auto updates = [](ProfileSchedule schedule, int n) {
    Profiler profiler(schedule);
    for (int k = 0; k < n; ++k) {
      ComputationGraph g;
      profiler.watch(g);
      g.forward(tanh(input(g, float(k))));
      profiler.step();
    }
    profiler.stop();
    const std::string table = profiler.table();
    return table.substr(0, table.find(':'));
  };
  CHECK(updates({.skip = 2, .record = 3}, 10) == "3 updates after the first 2");
  CHECK(updates({.skip = 2, .record = 3}, 4) == "2 updates after the first 2");
  CHECK(updates({.skip = 5, .record = 3}, 4) == "4 updates");
  CHECK(updates({.skip = 5, .record = 3}, 9) == "3 updates after the first 5");
  CHECK(updates({.skip = 0, .record = 1}, 5) == "1 update");
  CHECK(updates({.skip = 0, .record = 0}, 5) == "No graph was computed.\n");
  CHECK(updates({}, 0) == "No graph was computed.\n");
  // The limit on calls ends it as well.
  Profiler small({.skip = 0, .record = 100, .most_calls = 10});
  for (int k = 0; k < 50; ++k) {
    ComputationGraph g;
    small.watch(g);
    g.forward(tanh(input(g, float(k))));
  }
  CHECK(small.is_complete());
  CHECK(slices(trace_of(small), "tanh").size() < 12);
}

TEST_CASE("graphs count where no update is made, and also one that is never cleared") {
  ComputationGraph g;
  Profiler profiler({.skip = 1, .record = 3});
  profiler.watch(g);
  for (int k = 0; k < 3; ++k) {
    g.clear();
    g.forward(tanh(input(g, float(k))));
  }
  profiler.stop();
  CHECK(contains(profiler.table(), "2 graphs after the first 1"));
  g.forward(tanh(input(g, 1.0f)));  // the graph outlives the recording
  g.clear();
}

TEST_CASE("names of files that are no text make a valid timeline") {
  Profiler profiler(kAll);
  {
    ComputationGraph g;
    profiler.watch(g);
    const SourceLocation odd("a\"\n\x01\\</script>\xff\xfe.cc", 7u);
    g.forward(tanh(input(g, 1.0f), odd), odd);
  }
  const auto found = slices(trace_of(profiler), "tanh");
  REQUIRE(found.size() == 1);
  const std::string at = found[0]["args"]["at"];
  CHECK(contains(at, "a\"\n\x01\\</script>"));
}

TEST_CASE("a pass that throws ends its slices, and the next one is recorded") {
  Profiler profiler(kAll);
  {
    ComputationGraph g;
    profiler.watch(g);
    std::vector<unsigned> rows{0};
    ParameterCollection pc;
    LookupParameter table = pc.add_lookup_parameters(2, {3});
    const Expression x = tanh(lookup(g, table, &rows));
    rows[0] = 9;
    CHECK_THROWS_AS(g.forward(x), IndexError);
    rows[0] = 1;
    g.forward(x);
  }
  const Json trace = trace_of(profiler);
  CHECK(slices(trace, "forward").size() == 2);
  CHECK(slices(trace, "tanh").size() == 1);
}

TEST_CASE("memory of graphs is a counter") {
  Profiler profiler(kAll);
  {
    ComputationGraph g;
    profiler.watch(g);
    g.forward(tanh(input(g, Dim({100}), std::vector<float>(100, 1.0f))));
  }
  int counters = 0;
  const Json trace = trace_of(profiler);
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "C") {
      ++counters;
      CHECK(e["args"]["values"] >= 400);
    }
  CHECK(counters == 1);
}

TEST_CASE("a timeline is compressed if its name says so, and cannot be written everywhere") {
  Profiler profiler(kAll);
  const TemporaryFolder folder;
  profiler.write_trace(folder / "trace.gz");
  std::ifstream file(folder / "trace.gz", std::ios::binary);
  CHECK(file.get() == 0x1f);
  CHECK(file.get() == 0x8b);
  CHECK_THROWS_AS(profiler.write_trace("/nonexistent/x.json"), FileError);
  CHECK_THROWS_AS(profiler.write_table("/nonexistent/x.txt"), FileError);
}

}  // namespace profiler_test
