// Saving and loading on several threads at once.

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/catch.h"

namespace files_test {

using namespace dynet;

TEST_CASE("threads save and load one file, and save one model to many") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Run(0).save_to(path);
  std::vector<std::string> states;
  for (int n = 0; n < 4; ++n) states.push_back(Run(n).state());
  std::atomic<int> saves = 0, loads = 0, wrong = 0;
  const Run shared(1);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      const Run mine(n);
      for (int i = 0; i < 20; ++i) {
        mine.save_to(path);
        shared.save_to(folder / std::to_string(n));
        saves += 2;
      }
    });
    threads.emplace_back([&] {
      Run mine(9);
      for (int i = 0; i < 20; ++i) {
        mine.load_from(path);
        const std::string state = mine.state();
        bool known = false;
        for (const std::string& s : states) known |= s == state;
        wrong += !known;
        ++loads;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  for (int n = 1; n < 4; ++n)
    CHECK(read_file(folder / std::to_string(n)) == read_file(folder / "0"));
  CHECK(folder.names().size() == 5);  // and no temporary file
  std::printf("%d saves and %d loads on 8 threads\n", saves.load(), loads.load());
}

}  // namespace files_test
