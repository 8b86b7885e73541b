#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/in_process.h"
#include "dynet-like/param/storage.h"
#include "tests/distributed/small_run.h"
#include "tests/support/prelude.h"

namespace failures_test {

using namespace dynet;
using namespace std::chrono_literals;

namespace {

// Error text of each process of a group; empty: no error.
std::vector<std::string> errors_of(unsigned world, const std::function<void(Communicator&)>& run,
                                   const InProcessGroup::Faults& faults = {}) {
  InProcessGroup group(world, faults);
  std::vector<std::string> errors(world);
  try {
    group.run([&](Communicator& c) {
      c.set_timeout(2s);
      try {
        run(c);
      } catch (const std::exception& e) {
        errors[c.rank()] = e.what();
        throw;
      }
    });
  } catch (const std::exception&) {  // that of one of them
  }
  return errors;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_all(const std::vector<std::string>& errors, const std::string& text) {
  for (const std::string& e : errors) CHECK_THAT(e, Catch::Contains(text));
}

}  // namespace

TEST_CASE("an exception of one process ends all, with its message") {
  for (const unsigned world : {2u, 3u, 8u})
    for (const unsigned bad : {0u, world - 1}) {
      const auto begin = std::chrono::steady_clock::now();
      const auto errors = errors_of(world, [&](Communicator& c) {
        SmallRun run(c, {});
        run.train(2);
        if (c.rank() == bad) {
          run.distributed.for_each_lane(
              16, [](const Lane&) -> double { throw std::runtime_error("out of cheese"); });
        }
        run.train(6);
      });
      for (unsigned r = 0; r < world; ++r) {
        INFO(world << " processes, rank " << r << ": " << errors[r]);
        CHECK(holds(errors[r], "out of cheese"));
        CHECK(holds(errors[r], "rank " + std::to_string(bad) + " failed") == (r != bad));
      }
      CHECK(std::chrono::steady_clock::now() - begin < 2s);  // nobody has waited for the time-out
    }
}

TEST_CASE("the first exception is the one that a group ends with") {
  InProcessGroup group(3);
  CHECK(message<std::out_of_range>([&] {
          group.run([](Communicator& c) {
            if (c.rank() == 2) throw std::out_of_range("the first");
            c.barrier();
          });
        }) == "the first");
}

TEST_CASE("a process that is silent is named once the time is out") {
  InProcessGroup::Faults faults;
  faults.lost = [](unsigned from, unsigned, std::uint64_t message) {
    return from == 1 && message >= 20;
  };
  const auto errors = errors_of(
      3,
      [](Communicator& c) {
        SmallRun run(c, {});
        c.set_timeout(100ms);
        run.train(6);
      },
      faults);
  bool named = false;
  for (const std::string& e : errors) {
    CHECK(!e.empty());
    CHECK(holds(e, "summing gradients of update"));
    // A process that waits for a waiting one may be the first to time out.
    named =
        named || holds(e, "rank 1 has not answered rank ") || holds(e, "was waiting for rank 1");
  }
  CHECK(named);
  CHECK((holds(errors[0], "for 0.100 s") || holds(errors[2], "for 0.100 s")));
}

TEST_CASE("parameters that differ are found, and the first is named") {
  for (const unsigned bad : {0u, 2u}) {
    const auto errors = errors_of(3, [&](Communicator& c) {
      SmallRun run(c, {});  // which compares after 0, 4, 8 updates
      run.train(1);
      if (c.rank() == bad) {
        run.b.set_value({1, 2, 3, 4, 5});
        run.tags.initialize(2, {1, 2, 3, 4, 5, 6});
      }
      run.train(5);
    });
    check_all(errors, bad == 0 ? "rank 1 and rank 0 disagree about parameter /b {5}"
                               : "rank 2 and rank 0 disagree about parameter /b {5}");
    check_all(errors, "after 4 updates");
  }
  const auto table = errors_of(2, [](Communicator& c) {
    SmallRun run(c, {});
    if (c.rank() == 1) run.tags.initialize(2, {1, 2, 3, 4, 5, 6});
    run.distributed.compare_parameters();
  });
  check_all(table, "about lookup parameter /tags {6}");
}

TEST_CASE("settings that differ are found") {
  const auto expect = [](const std::string& what, const std::function<void(SmallRun&)>& change) {
    const auto errors = errors_of(4, [&](Communicator& c) {
      SmallRun run(c, {});
      run.train(1);
      if (c.rank() == 3) change(run);
      run.train(2);
    });
    check_all(errors, "the " + what + " of rank 3 is not that of other ranks");
  };
  expect("learning rate", [](SmallRun& r) { r.trainer.learning_rate = 0.5f; });
  expect("clipping", [](SmallRun& r) { r.trainer.clipping_enabled = false; });
  expect("number of parameters", [](SmallRun& r) { r.model.add_parameters({2}); });
  const auto lanes = errors_of(2, [](Communicator& c) {
    SmallSettings s;
    s.lanes = c.rank() ? 8 : 16;
    SmallRun(c, s).train(1);
  });
  check_all(lanes, "number of lanes of rank 1");
}

TEST_CASE("an error names the difference between ranks before the first update") {
  const auto expect = [](const std::string& what, const std::function<void(SmallRun&)>& change) {
    const auto errors = errors_of(3, [&](Communicator& c) {
      SmallRun run(c, {});
      if (c.rank() == 1) change(run);
      run.train(1);
    });
    check_all(errors, what);
  };
  expect("the trainer's schedule_high is 0.5 on rank 1 and ",
         [](SmallRun& r) { r.trainer.set_schedule(LearningRateSchedule::cosine(0.5f, 100)); });
  expect("the trainer's sparse_updates_enabled is 0 on rank 1 and 1 on rank 0",
         [](SmallRun& r) { r.trainer.sparse_updates_enabled = false; });
  expect("the digest of weight decay and frozen parameters is ",
         [](SmallRun& r) { r.b.set_updated(false); });
  expect("the digest of weight decay and frozen parameters is ",
         [](SmallRun& r) { r.model.set_weight_decay_lambda(0.25f); });
  expect("rank 1 and rank 0 disagree about parameter /b {5} after 0 updates", [](SmallRun& r) {
    r.b.set_value({1, 2, 3, 4, 5});
  });
  expect("the number of samples of the minibatch of rank 1 is not that of other ranks",
         [](SmallRun& r) { r.settings.batches = {12}; });
}

TEST_CASE("a run that goes on compares trainers and parameters at once") {
  for (const bool state : {false, true}) {
    const auto errors = errors_of(2, [&](Communicator& c) {
      SmallRun run(c, {});
      run.train(2);
      DistributedTrainer again(run.trainer, c, run.distributed.state());
      if (c.rank() == 1) {
        if (state)
          const_cast<float*>(run.trainer.state_views()[0].arrays[0])[0] += 1;
        else
          run.b.set_value({1, 2, 3, 4, 5});
      }
      again.update();
    });
    check_all(errors, state ? "the digest of the trainer's state is " : "about parameter /b {5}");
  }
}

// Processes that still wait when the first one throws add what they waited for.
TEST_CASE("facts of a run are compared, and all that differ are named on every process") {
  const auto errors = errors_of(4, [](Communicator& c) {
    RunFacts facts = {{"--batch", "8"}, {"the data", "5a"}};
    require_same(c, facts);  // the same
    if (c.rank() > 1) facts = {{"--batch", "9"}, {"", "x"}};
    require_same(c, facts);
  });
  check_all(errors,
            "processes must do the same: --batch is 9 on rank 2 and 8 on rank 0;  is x on "
            "rank 2 and not there on rank 0; the data is not there on rank 2 and 5a on rank 0");
  const auto none = errors_of(2, [](Communicator& c) {
    require_same(c, {});
    require_same(c, c.rank() ? RunFacts() : RunFacts{{"", ""}});
  });
  check_all(none, "processes must do the same:  is not there on rank 1 and  on rank 0");
  const auto alone = make_self_communicator();
  require_same(*alone, {{"--batch", "8"}});
}

TEST_CASE("scores of different samples are refused") {
  for (const std::size_t others : {0u, 1u, 7u, 200u}) {
    const auto errors = errors_of(3, [&](Communicator& c) {
      SmallRun run(c, {});
      run.distributed.score(c.rank() == 1 ? others : 100, [](Interval) {
        return std::vector<double>{1, 2};
      });
    });
    check_all(errors, "DistributedTrainer::score: processes have different samples; rank ");
  }
  const auto lengths = errors_of(2, [](Communicator& c) {
    SmallRun run(c, {});
    run.distributed.score(8, [](Interval part) { return std::vector<double>(1 + part.begin % 2); });
  });
  check_all(lengths, "lists of 1 and of 2 numbers");
}

TEST_CASE("parameters are those of rank 0 after they were synchronized") {
  for (const bool sparse : {false, true}) {
    SmallSettings s;
    s.sparse = sparse;
    const auto bits_of = [&](Communicator& c) {
      SmallRun run(c, s);
      run.b.set_value(std::vector<float>(5, static_cast<float>(c.rank())));
      run.words.initialize(7, std::vector<float>(6, static_cast<float>(c.rank())));
      run.trainer.learning_rate = 0.01f * static_cast<float>(1 + c.rank());
      run.distributed.synchronize();
      run.train(6);
      return run.bits();
    };
    std::vector<std::string> bits(3);
    InProcessGroup(3).run([&](Communicator& c) { bits[c.rank()] = bits_of(c); });
    const auto self = make_self_communicator();
    CHECK(bits == std::vector<std::string>(3, bits_of(*self)));
  }
}

TEST_CASE("gradients that are not finite are treated alike everywhere") {
  for (const bool skip : {false, true})
    for (const unsigned world : {1u, 3u}) {
      InProcessGroup group(world);
      group.run([&](Communicator& c) {
        SmallRun run(c, {});
        run.trainer.skip_non_finite = skip;
        run.train(2);
        const auto before = run.distributed.parameter_checksum();
        run.distributed.for_each_lane(16, [&](const Lane& lane) {
          ComputationGraph cg;
          lane.begin(cg);
          const float factor = lane.number == 5 ? std::numeric_limits<float>::infinity() : 1;
          const Expression loss = sum_elems(parameter(cg, run.b)) * factor;
          cg.forward(loss);
          cg.backward(loss);
          return 0.0;
        });
        bool made = true, threw = false;
        try {
          made = run.distributed.update();
        } catch (const NumericError&) {
          threw = true;
        }
        if (threw == skip || made == skip) throw std::logic_error("not as in one process");
        if (run.distributed.parameter_checksum() != before)
          throw std::logic_error("parameters have changed");
        run.distributed.compare_parameters();
        run.train(5);
      });
      SUCCEED();
    }
}

TEST_CASE("gradients belong to lanes") {
  const auto self = make_self_communicator();
  SmallRun run(*self, {});
  ComputationGraph cg;
  const Expression loss = sum_elems(parameter(cg, run.b));
  cg.forward(loss);
  cg.backward(loss);
  CHECK_THROWS_AS(run.distributed.update(), ArgumentError);
  run.train(1);  // they are gone
  run.distributed.for_each_lane(8, [](const Lane&) { return 1.0; });
  CHECK_THROWS_AS(run.distributed.for_each_lane(8, [](const Lane&) { return 1.0; }), ArgumentError);
  run.train(2);
  CHECK_THROWS_AS(DistributedTrainer(run.trainer, *self, {0}), ArgumentError);
}

TEST_CASE("gradients outside the trainer's collection are dropped") {
  for (const unsigned world : {1u, 2u}) {
    InProcessGroup(world).run([](Communicator& c) {
      ParameterCollection all;
      ParameterCollection part = all.add_subcollection("part");
      Parameter in = part.add_parameters({1}, ParameterInitConst(1), "in");
      Parameter out = all.add_parameters({1}, ParameterInitConst(1), "out");
      LookupParameter rows = all.add_lookup_parameters(3, {1}, "rows");
      SimpleSGDTrainer trainer(part, 1);
      DistributedTrainer distributed(trainer, c);
      distributed.for_each_lane(4, [&](const Lane& lane) {
        ComputationGraph cg;
        lane.begin(cg);
        const Expression loss = parameter(cg, in) + parameter(cg, out) + lookup(cg, rows, 1);
        cg.forward(loss);
        cg.backward(loss);
        return 0.0;
      });
      distributed.update(0.25f);
      if (as_vector(in.values())[0] != 0 || as_vector(out.values())[0] != 1 ||
          out.stored().has_grad() || rows.stored().has_grad())
        throw std::logic_error("a wrong update");
    });
    SUCCEED();
  }
}

TEST_CASE("lanes done in order need memory for log2 of their number and one more") {
  const auto self = make_self_communicator();
  SmallSettings s;
  s.lanes = 32;
  SmallRun run(*self, s);
  GradientBuffers& gradients = run.model.bank().gradients;
  std::size_t most = 0;
  run.distributed.for_each_lane(32, [&](const Lane& lane) {
    ComputationGraph cg;
    lane.begin(cg);
    const Expression loss = sum_elems(parameter(cg, run.W));
    cg.forward(loss);
    cg.backward(loss);
    most = std::max(most, gradients.in_order().size());
    return 0.0;
  });
  CHECK(most == 6);
  run.distributed.update();
}

TEST_CASE("scores are summed in the order of lanes") {
  const auto score = [](unsigned world, std::size_t samples) {
    std::vector<double> result;
    InProcessGroup(world).run([&](Communicator& c) {
      SmallRun run(c, {});
      const auto sum = run.distributed.score(samples, [](Interval part) {
        std::vector<double> both(2);
        for (std::size_t i = part.begin; i < part.end; ++i) {
          both[0] += 1;
          both[1] += std::sin(static_cast<double>(i)) * 1e10;
        }
        return both;
      });
      if (c.rank() == world - 1) result = sum;
    });
    return result;
  };
  for (const std::size_t samples : {1u, 5u, 100u}) {
    const auto expected = score(1, samples);
    REQUIRE(expected.size() == 2);
    CHECK(expected[0] == static_cast<double>(samples));
    for (const unsigned world : {2u, 3u, 8u, 11u}) CHECK(score(world, samples) == expected);
  }
  CHECK(score(2, 0).empty());
}

TEST_CASE("collective functions, for every number of processes") {
  for (unsigned world = 1; world <= 9; ++world) {
    InProcessGroup(world).run([&](Communicator& c) {
      const auto need = [](bool holds, const char* what) {
        if (!holds) throw std::logic_error(what);
      };
      for (unsigned root = 0; root < world; ++root) {
        Communicator::Bytes bytes;
        if (c.rank() == root) bytes.assign(root * 3, std::byte{7});
        c.broadcast(bytes, root);
        need(bytes == Communicator::Bytes(root * 3, std::byte{7}), "broadcast");
      }
      const auto sum = c.allreduce({1, static_cast<double>(c.rank())});
      need(sum == std::vector<double>{static_cast<double>(world), world * (world - 1) / 2.0},
           "allreduce");
      const auto all = c.allgather({std::byte(c.rank())});
      need(all.size() == world, "allgather");
      for (unsigned r = 0; r < world; ++r) need(all[r] == std::byte(r), "the order of ranks");
      c.barrier();
    });
    SUCCEED();
  }
}

TEST_CASE("receives of one sender are served in their order") {
  InProcessGroup(2).run([](Communicator& c) {
    std::byte first[1] = {std::byte{1}}, second[1] = {std::byte{2}};
    if (c.rank() == 0) {
      c.send(1, first);
      c.send(1, second);
      return;
    }
    std::byte a[1] = {}, b[1] = {};
    const auto earlier = c.start_receive(0, a), later = c.start_receive(0, b);
    const auto end = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < end)
      if (later->done()) throw std::logic_error("the later one was served first");
    c.wait(*earlier, 0);
    c.wait(*later, 0);
    if (a[0] != first[0] || b[0] != second[0]) throw std::logic_error("in another order");
  });
  SUCCEED();
}

TEST_CASE("mistakes with communicators") {
  const auto self = make_self_communicator();
  CHECK_THROWS_AS(self->send_any(0, {}), ArgumentError);
  CHECK_THROWS_AS(self->receive_any(1), ArgumentError);
  CHECK_THROWS_AS(InProcessGroup(0), ArgumentError);
  check_all(errors_of(2, [](Communicator& c) { c.allreduce(std::vector<double>(1 + c.rank())); }),
            "processes give 1 and 2 numbers");
  const auto lengths = errors_of(2, [](Communicator& c) {
    std::byte bytes[3] = {};
    if (c.rank() == 0)
      c.send(1, bytes);
    else
      c.receive(0, std::span(bytes).first(2));
    c.barrier();
  });
  check_all(lengths, "rank 0 has sent 3 bytes where rank 1 waits for 2");
}

TEST_CASE("rank 0 acts for all, and fails for all") {
  const auto errors = errors_of(3, [](Communicator& c) {
    on_rank_zero(c, [&] {
      if (c.rank() != 0) throw std::logic_error("another rank");
    });
    on_rank_zero(c, [] { throw FileError("the disk is full"); });
  });
  check_all(errors, "the disk is full");
}

TEST_CASE("a launcher that knows of more processes is warned of") {
  const auto self = make_self_communicator();
  InProcessGroup four(4);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("PMI_SIZE");
  unsetenv("SLURM_NTASKS");
  CHECK(launcher_warning(*self).empty());
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    setenv(name, "4", 1);
    CHECK(holds(launcher_warning(*self), std::string(name) + " says that 4 processes"));
    CHECK(launcher_warning(four[0]).empty());
    setenv(name, "1", 1);
    CHECK(launcher_warning(*self).empty());
    unsetenv(name);
  }
}

}  // namespace failures_test
