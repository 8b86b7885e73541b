// One Workers in many hands.

#include "dynet-like/base/workers.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/support/prelude.h"

namespace workers_test {

using namespace dynet;

TEST_CASE("calls of several threads wait for each other") {
  Workers workers(2);
  std::atomic<int> calls{0}, strangers{0}, owner{0};
  const auto call = [&](int who) {
    for (int time = 0; time < 50; ++time) {
      std::atomic<int> mine{0};
      workers.run(5, [&](unsigned) {
        int nobody = 0;
        // Whoever comes first holds it until his last job is done.
        strangers += !owner.compare_exchange_strong(nobody, who) && nobody != who;
        std::this_thread::yield();
        if (++mine == 5) owner = 0;
      });
      calls += mine == 5;
    }
  };
  std::thread a(call, 1), b(call, 2);
  call(3);
  a.join();
  b.join();
  CHECK(calls == 3 * 50);
  CHECK(strangers == 0);
}

TEST_CASE("a job may call its own workers") {
  Workers workers(3);
  std::atomic<int> inner{0};
  for (int time = 0; time < 10; ++time)
    workers.run(6, [&](unsigned) { workers.run(3, [&](unsigned) { ++inner; }); });
  CHECK(inner == 10 * 6 * 3);
}

TEST_CASE("the first exception of a call within a job is thrown, after all jobs") {
  Workers workers(2);
  std::atomic<int> done{0};
  CHECK(message<std::runtime_error>([&] {
          workers.run(1, [&](unsigned) {
            workers.run(4, [&](unsigned job) {
              ++done;
              if (job > 0) throw std::runtime_error("job " + std::to_string(job));
            });
          });
        }) == "job 1");
  CHECK(done == 4);
  workers.run(2, [&](unsigned) { ++done; });
  CHECK(done == 6);
}

}  // namespace workers_test
