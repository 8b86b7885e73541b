#include "tools/program/profile.h"

#include <cstdlib>
#include <memory>

#include "dynet-like/profile/profiler.h"
#include "tools/program/files.h"

namespace program {
namespace {

struct Profile {
  std::string table, trace;
  std::unique_ptr<dynet::ProfiledRun> run;

  void start() {
    run.reset();
    if (!table.empty() || !trace.empty()) run = std::make_unique<dynet::ProfiledRun>(table, trace);
  }
};

Profile& profile() {
  static Profile p;
  return p;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

void profile_to(const std::string& table) {
  require_possible(table);
  profile().table = table;
  profile().start();
}

void profile_by_environment() {
  profile().table = variable("DYNET_PROFILE");
  profile().trace = variable("DYNET_TRACE");
  profile().start();
}

void write_profile() {
  if (profile().run) profile().run->write();
}

}  // namespace program

namespace dynet {

Observer* process_observer() {
  const auto& run = program::profile().run;
  return run ? &run->profiler() : nullptr;
}

}  // namespace dynet
