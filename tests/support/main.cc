// Main function of all test programs. It returns 1 if anything failed, and kSkipped if nothing
// failed and every case was skipped. (Catch2 returns the number of failed assertions, which may
// equal kSkipped.)
#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/run_cases.h"

namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in tests/CMakeLists.txt

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

std::set<std::string> ran, skipped;
std::string running;

struct Cases : Listener {
  using Listener::Listener;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    running = info.name;
    ran.insert(running);
  }
};

}  // namespace

void skip(const std::string& why) {
  std::printf("\nskipped: %s\n", why.c_str());
  skipped.insert(running);
}

int run_cases(const char* program, const char* which) {
  const char* arguments[] = {program, which};
  return Catch::Session().run(2, arguments);
}

CATCH_REGISTER_LISTENER(Cases)

// Weak: benchmarks that run cases define main themselves.
[[gnu::weak]] int main(int argc, char** argv) {
  setenv("DYNET_VERIFY", "1", 0);  // verifies every plan, also in programs that tests start
  const int result = Catch::Session().run(argc, argv);
  if (ran.empty()) return result;  // a list was requested, or the command line is wrong
  if (result != 0) return 1;
  return ran.size() == skipped.size() ? kSkipped : 0;
}
