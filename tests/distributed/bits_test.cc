#include <chrono>
#include <filesystem>

#include "dynet-like/distributed/communicator.h"
#include "dynet-like/io/checkpoints.h"
#include "tests/distributed/small_run.h"
#include "tests/support/prelude.h"

namespace bits_test {

using namespace dynet;

namespace {

std::vector<SmallSettings> all_settings() {
  std::vector<SmallSettings> all(6);
  all[1].sparse = false;
  all[2].whole_table = true;
  all[3].weight_decay = 0.01f;
  all[3].average = true;
  all[3].sparse = false;
  all[4].lanes = 5;
  all[4].clip = 100;
  all[5].wordless = true;
  all[5].batches = {4, 1, 7};  // some processes have no sample, or only some without a word
  return all;
}

// Random, but the same in every run of the test.
InProcessGroup::Faults delays(std::uint64_t seed) {
  return {[seed](unsigned from, unsigned to, std::uint64_t message) {
            std::uint64_t x = seed + from * 77 + to * 1009 + message * 0x9e3779b97f4a7c15u;
            x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
            return std::chrono::microseconds((x >> 20) % ((x >> 40) % 16 == 0 ? 700 : 70));
          },
          {}};
}

}  // namespace

TEST_CASE("processes and threads do not change a bit") {
  for (const SmallSettings& settings : all_settings()) {
    const std::string expected = bits_of_run(1, settings);
    for (const unsigned world : {1u, 2u, 3u, 4u, 5u, 8u})
      for (const unsigned threads : {1u, 2u}) {
        SmallSettings s = settings;
        s.threads = threads;
        INFO(world << " processes, " << threads << " threads, sparse " << s.sparse << ", whole "
                   << s.whole_table << ", lanes " << s.lanes << ", wordless " << s.wordless);
        CHECK(bits_of_run(world, s) == expected);
      }
  }
}

TEST_CASE("the order in which messages arrive does not change a bit") {
  const SmallSettings settings;
  const std::string expected = bits_of_run(1, settings);
  for (const std::uint64_t seed : {1u, 2u})
    for (const unsigned world : {2u, 3u, 5u, 8u}) {
      INFO(world << " processes, seed " << seed);
      CHECK(bits_of_run(world, settings, delays(seed)) == expected);
    }
}

TEST_CASE("the number of lanes decides the bits of a run with clipping") {
  SmallSettings settings;
  const std::string eight = bits_of_run(2, settings);
  settings.lanes = 4;
  CHECK(bits_of_run(2, settings) != eight);
  CHECK(eight.find(" with 6 clips of ") != std::string::npos);
}

TEST_CASE("more processes than lanes or samples") {
  SmallSettings settings;
  settings.lanes = 3;
  settings.batches = {1, 2};
  const std::string expected = bits_of_run(1, settings);
  for (const unsigned world : {2u, 3u, 4u, 7u}) CHECK(bits_of_run(world, settings) == expected);
}

TEST_CASE("one lane in a group of one is the plain program") {
  SmallSettings settings;
  settings.lanes = 1;
  settings.clip = 1e9f;  // the order of rows, which the norm depends on, is that of numbers here
  const auto world = make_self_communicator();
  SmallRun run(*world, settings), plain(*world, settings);
  for (unsigned u = 0; u < 5; ++u) {
    const std::size_t size = settings.batches[u];
    std::uint64_t seed = 0;
    const auto learn = [&](SmallRun& r, ComputationGraph& cg) {
      r.builders[0].new_graph(cg);
      std::vector<Expression> losses;
      for (std::size_t s = 0; s < size; ++s)
        losses.push_back(r.loss_of(cg, r.builders[0], 1000 * u + s));
      const Expression total = sum(losses);
      const double value = as_scalar(cg.forward(total));
      cg.backward(total);
      return value;
    };
    run.distributed.for_each_lane(size, [&](const Lane& lane) {
      ComputationGraph cg;
      lane.begin(cg);
      seed = lane.seed;
      return learn(run, cg);
    });
    run.distributed.update(0.25f);
    ComputationGraph cg;
    cg.set_seed(seed);
    CHECK(learn(plain, cg) == run.distributed.loss());
    plain.trainer.update(0.25f);
  }
  CHECK(run.bits() == plain.bits());
}

TEST_CASE("a run that goes on with another number of processes has the same bits") {
  const std::string folder = "distributed_bits_test";
  for (const bool average : {false, true}) {
    SmallSettings settings;
    settings.average = average;
    const auto train = [&](const std::vector<unsigned>& worlds) {
      std::filesystem::remove_all(folder);
      std::string bits;
      for (std::size_t part = 0; part < worlds.size(); ++part) {
        InProcessGroup group(worlds[part]);
        group.run([&](Communicator& c) {
          const Checkpoints checkpoints(folder);
          SmallRun run(c, settings);
          c.barrier();
          const bool found =
              run.distributed.load(checkpoints, run.model, run.trainer, run.losses_seen);
          if (found != (part > 0)) throw FileError("the checkpoint is not as expected");
          run.train(2 * static_cast<unsigned>(part + 1));
          run.distributed.save(checkpoints, run.model, run.trainer, run.losses_seen);
          if (c.rank() == 0) bits = run.bits();
        });
      }
      std::filesystem::remove_all(folder);
      return bits;
    };
    const std::string expected = train({1, 1, 1});
    CHECK(train({4, 1, 3}) == expected);
    CHECK(train({1, 8, 2}) == expected);
    CHECK(bits_of_run(1, settings) == expected);  // without a break
  }
}

}  // namespace bits_test
