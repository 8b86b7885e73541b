#include "dynet-like/distributed/data_parts.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/in_process.h"
#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace data_parts_test {

using namespace dynet;

namespace {

using Texts = std::vector<std::string>;

/// A file with this text, while it lives.
struct File {
  explicit File(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  ~File() { std::remove(path.c_str()); }
  const std::string path = "distributed_data_parts_test.txt";
};

/// What all processes read, in the order of ranks, and what each has read.
Texts read_all(const std::string& path, unsigned world, unsigned lanes, SampleEnd end,
               std::vector<FilePart>* parts = nullptr) {
  std::vector<FilePart> all(world);
  InProcessGroup(world).run(
      [&](Communicator& c) { all[c.rank()] = read_part(c, lanes, path, end); });
  Texts texts;
  for (const FilePart& part : all) {
    CHECK(part.samples == all[0].samples);
    CHECK(part.own.size() == part.texts.size());
    if (!part.own.empty()) CHECK(part.own.begin == texts.size());
    texts.insert(texts.end(), part.texts.begin(), part.texts.end());
  }
  CHECK(texts.size() == all[0].samples);
  if (parts) *parts = all;
  return texts;
}

}  // namespace

TEST_CASE("all processes together read each sample once") {
  const struct {
    std::string text;
    SampleEnd end;
    Texts samples;
  } cases[] = {
      {"", SampleEnd::line, {}},
      {"\n", SampleEnd::line, {""}},
      {"one", SampleEnd::line, {"one"}},
      {"one\ntwo\r\n\nfour\n", SampleEnd::line, {"one", "two", "", "four"}},
      {"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk",
       SampleEnd::line,
       {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}},
      {"", SampleEnd::blank_line, {}},
      {"\n\r\n\n", SampleEnd::blank_line, {}},
      {"a\tX\nb\tY\n\nc\tX\n", SampleEnd::blank_line, {"a\tX\nb\tY\n", "c\tX\n"}},
      {"\n\na\r\nb\r\n\r\n\r\nc", SampleEnd::blank_line, {"a\nb\n", "c\n"}},
      {"\r\na\n\n\n\nb\n\nc\n\n\n", SampleEnd::blank_line, {"a\n", "b\n", "c\n"}},
  };
  for (const auto& c : cases) {
    const File file(c.text);
    for (const unsigned lanes : {1u, 4u, 8u})
      for (unsigned world = 1; world <= 9; ++world) {
        INFO('"' << c.text << "\", " << world << " processes, " << lanes << " lanes");
        CHECK(read_all(file.path, world, lanes, c.end) == c.samples);
      }
  }
}

TEST_CASE("a process reads little more than its part twice") {
  std::string text;
  Texts lines;
  for (unsigned i = 0; i < 60000; ++i) {
    lines.push_back("line " + std::to_string(i * i % 10007) + std::string(i % 90, '.'));
    text += lines.back() + '\n';
  }
  const File file(text);
  std::vector<FilePart> parts;
  CHECK(read_all(file.path, 4, 32, SampleEnd::line, &parts) == lines);
  for (const FilePart& part : parts) CHECK(part.bytes_read < text.size() / 2 + 4 * 65536);
  CHECK(parts[2].text(parts[2].own.begin + 1) == lines[30001]);
  CHECK_THROWS_AS(parts[2].text(0), std::out_of_range);
}

TEST_CASE("a file that is not there, or differs, is an error everywhere") {
  for (const bool there : {false, true}) {
    const File file("a\nb\n");
    std::vector<std::string> errors(3);
    InProcessGroup group(3);
    try {
      group.run([&](Communicator& c) {
        try {
          const std::string other = file.path + ".other";
          if (there && c.rank() == 1) std::ofstream(other) << "a\nb\nc\n";
          read_part(c, 4, c.rank() == 1 ? other : file.path);
        } catch (const std::exception& e) {
          errors[c.rank()] = e.what();
          throw;
        }
      });
    } catch (const std::exception&) {  // that of one of them
    }
    std::remove((file.path + ".other").c_str());
    for (const std::string& e : errors) {
      INFO(e);
      const std::string part =
          there ? "has 4 bytes for rank 0, and 6 for rank 1" : "cannot be read";
      CHECK(e.find(part) != e.npos);
    }
  }
}

TEST_CASE("in an epoch each lane learns from each of its samples once") {
  for (const std::size_t n : {1u, 5u, 64u, 100u, 1001u})
    for (const unsigned lanes : {1u, 8u, 32u}) {
      const LaneEpoch epoch(n, lanes, {0, lanes}, 16, 3, 7), other(n, lanes, {0, lanes}, 16, 3, 8);
      INFO(n << " samples, " << lanes << " lanes");
      REQUIRE(epoch.updates() == (n + 15) / 16);
      bool differs = false;
      std::vector<std::vector<std::size_t>> seen(lanes);
      for (std::size_t u = 0; u < epoch.updates(); ++u) {
        std::size_t size = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const auto samples = epoch.samples(u, lane), then = other.samples(u, lane);
          REQUIRE(samples.size() == epoch.count(u, lane));
          differs =
              differs || !std::equal(samples.begin(), samples.end(), then.begin(), then.end());
          seen[lane].insert(seen[lane].end(), samples.begin(), samples.end());
          size += samples.size();
        }
        REQUIRE(size == epoch.count(u));
        REQUIRE(size <= 16 + lanes);
        REQUIRE(size + lanes + 16 >= n / epoch.updates());
      }
      CHECK((differs || n < 10));
      std::size_t next = 0;
      for (auto& of_lane : seen) {
        std::sort(of_lane.begin(), of_lane.end());
        for (const std::size_t sample : of_lane) REQUIRE(sample == next++);
      }
      REQUIRE(next == n);
    }
  CHECK_THROWS_AS(LaneEpoch(5, 8, {0, 8}, 0, 1, 1), ArgumentError);
  CHECK(LaneEpoch(0, 8, {0, 8}, 4, 1, 1).updates() == 0);
}

TEST_CASE("training on parts of a file has the same bits for any number of processes") {
  std::string text;
  for (unsigned i = 0; i < 45; ++i)
    text += std::to_string(i % 7) + ' ' + std::to_string((3 * i + 1) % 5) + '\n';
  const File file(text);
  std::vector<std::uint64_t> checksums;
  for (const unsigned world : {1u, 2u, 3u, 8u, 11u}) {
    InProcessGroup(world).run([&](Communicator& c) {
      ParameterCollection model;
      model.set_seed(3);
      LookupParameter rows = model.add_lookup_parameters(7, {5});
      Parameter W = model.add_parameters({5, 5});
      AdamTrainer adam(model, 0.02f);
      DistributedTrainer trainer(adam, c, {8, 5});
      const FilePart part = read_part(c, 8, file.path);
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        const LaneEpoch order(part.samples, 8, trainer.own_lanes(), 10, 1, epoch);
        for (std::size_t update = 0; update < order.updates(); ++update) {
          trainer.for_each_lane(
              [&](unsigned lane) { return order.count(update, lane); },
              [&](const Lane& lane) {
                ComputationGraph cg;
                lane.begin(cg);
                std::vector<Expression> losses;
                for (const std::size_t sample : order.samples(update, lane.number)) {
                  unsigned x = 0, y = 0;
                  REQUIRE(std::sscanf(part.text(sample).c_str(), "%u %u", &x, &y) == 2);
                  losses.push_back(pickneglogsoftmax(parameter(cg, W) * lookup(cg, rows, x), y));
                }
                const Expression total = sum(losses);
                const double value = as_scalar(cg.forward(total));
                cg.backward(total);
                return value;
              });
          trainer.update(1.0f / static_cast<float>(order.count(update)));
        }
      }
      if (c.rank() == 0) checksums.push_back(trainer.parameter_checksum());
    });
  }
  for (const std::uint64_t sum : checksums) CHECK(sum == checksums[0]);
}

}  // namespace data_parts_test
