#include "dynet-like/distributed/cost_model.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/in_process.h"
#include "dynet-like/distributed/update_head.h"
#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

namespace cost_model_test {

using namespace dynet;

namespace {

constexpr unsigned kSize = 1000;

// What each process sends in one update of kSize dense numbers.
std::vector<Traffic> measured(unsigned world, unsigned lanes, std::size_t samples,
                              Compression compression) {
  std::vector<Traffic> sent(world);
  InProcessGroup(world).run([&](Communicator& c) {
    ParameterCollection model;
    Parameter W = model.add_parameters({kSize});
    SimpleSGDTrainer sgd(model, 0.1f);
    DistributedTrainer trainer(sgd, c, {lanes, 1, 0, compression}, nullptr, 0);
    for (unsigned update = 0; update < 2; ++update) {
      trainer.for_each_lane(samples, [&](const Lane& lane) {
        ComputationGraph cg;
        lane.begin(cg);
        const Expression loss = sum_elems(parameter(cg, W));
        cg.forward(loss);
        cg.backward(loss);
        return 1.0;
      });
      const Traffic before = c.sent();
      trainer.update();
      sent[c.rank()] = c.sent() - before;
    }
  });
  return sent;
}

// The same by the formula. What processes agree on is longer by 12 bytes for each lane with a loss.
std::vector<Traffic> expected(unsigned world, unsigned lanes, std::size_t samples,
                              Compression compression) {
  const auto head = [&](unsigned from, unsigned to) {
    UpdateHead h;
    h.same.resize(14);
    h.present.dense.resize(1);
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned r = from; r < to; ++r)
        if (const Interval own = lanes_of_rank(lanes, r, world);
            lane >= own.begin && lane < own.end && !samples_of_lane(samples, lane, lanes).empty())
          h.losses.emplace_back(lane, 1.0);
    return h.pack().size();
  };
  std::vector<Traffic> sent = traffic_of_merge(world, head);
  const auto sums = traffic_of_sums(plan_messages(lanes, world, kSize), world, compression);
  for (unsigned r = 0; r < world; ++r) {
    sent[r].messages += sums[r].messages;
    sent[r].bytes += sums[r].bytes;
  }
  return sent;
}

}  // namespace

TEST_CASE("so many messages and bytes are sent in an update as the formula says") {
  for (const Compression compression : {Compression::none, Compression::bfloat16})
    for (const unsigned lanes : {8u, 21u, 32u})
      for (unsigned world = 1; world <= 17; ++world)
        for (const std::size_t samples : {3u, 64u}) {
          INFO(world << " processes, " << lanes << " lanes, " << samples << " samples");
          const auto is = measured(world, lanes, samples, compression);
          const auto should = expected(world, lanes, samples, compression);
          for (unsigned r = 0; r < world; ++r) {
            INFO("rank " << r << ": " << is[r].messages << " messages of " << should[r].messages
                         << ", " << is[r].bytes << " bytes of " << should[r].bytes);
            REQUIRE(is[r] == should[r]);
          }
        }
}

TEST_CASE("the formula of powers of two") {
  for (const unsigned world : {2u, 4u, 8u, 32u}) {
    const unsigned rounds = static_cast<unsigned>(std::bit_width(world)) - 1;
    constexpr std::size_t kNumbers = 1 << 20;
    for (const auto& [compression, bytes] :
         {std::pair(Compression::none, 4), std::pair(Compression::bfloat16, 2)}) {
      const auto sent = traffic_of_sums(plan_messages(32, world, kNumbers), world, compression);
      for (const Traffic& t : sent) {
        CHECK(t.messages == 2 * rounds);
        CHECK(t.bytes == 2u * static_cast<unsigned>(bytes) * kNumbers / world * (world - 1));
      }
    }
    const NetworkCost network{.latency = 1e-3, .bandwidth = 1e8, .seconds_per_number = 1e-9};
    const UpdateSize size{.lanes = 32, .numbers = kNumbers, .head = 1500};
    const double numbers = kNumbers;
    const double closed = 2 * rounds * (1e-3 + 1508 / 1e8) + 2 * rounds * 3e-3 +
                          8 * numbers * (world - 1) / (world * 1e8) + 1e-9 * numbers;
    CHECK(std::abs(seconds_of_update(network, world, size) / closed - 1) < 1e-9);
    UpdateSize few = size;
    few.numbers = 1024;  // messages that are not announced
    const double closed_few = 2 * rounds * (1e-3 + 1508 / 1e8) + 2 * rounds * 1e-3 +
                              8 * 1024.0 * (world - 1) / (world * 1e8) + 1e-9 * 1024;
    CHECK(std::abs(seconds_of_update(network, world, few) / closed_few - 1) < 1e-9);
    few.compression = Compression::bfloat16;
    CHECK(seconds_of_update(network, world, few) < closed_few);
  }
  CHECK(seconds_of_update({1, 1, 0.5}, 1, {.numbers = 4}) == 2);  // alone: nothing but memory
}

TEST_CASE("a process that sends twice takes longer") {
  const NetworkCost network{.latency = 0, .bandwidth = 4, .seconds_per_number = 0, .eager = 10000};
  // The others have no lane. A message about the update takes 1024 / 4 seconds, the sum 48 / 4.
  const UpdateSize size{.lanes = 1, .numbers = 12, .head = 0};
  CHECK(seconds_of_update(network, 2, size) == 2 * 256 + 12);
  CHECK(seconds_of_update(network, 3, size) == 3 * 256 + 2 * 12);
}

TEST_CASE("so much is sent to merge what processes have, as the formula says") {
  for (unsigned world = 1; world <= 17; ++world) {
    constexpr std::size_t kEach = 700;
    std::vector<Traffic> sent(world);
    InProcessGroup(world).run([&](Communicator& c) {
      const auto all = c.allgather(Communicator::Bytes(kEach));
      if (all.size() != world * kEach) throw std::logic_error("not all of it");
      sent[c.rank()] = c.sent();
    });
    INFO(world << " processes");
    CHECK(sent ==
          traffic_of_merge(world, [](unsigned from, unsigned to) { return (to - from) * kEach; }));
  }
}

}  // namespace cost_model_test
