#include "tools/program/profile.h"

#include <cstdlib>
#include <memory>

#include "dynet-like/profile/profiler.h"
#include "tools/program/files.h"

namespace program {
namespace {

std::unique_ptr<dynet::ProfiledRun>& profiled_run() {
  static std::unique_ptr<dynet::ProfiledRun> run;
  return run;
}

void start(const char* table) {
  profiled_run() = dynet::ProfiledRun::if_asked_for(table, std::getenv("DYNET_TRACE"));
}

}  // namespace

void profile_to(const std::string& table) {
  require_possible(table);
  start(table.c_str());
}

void profile_by_environment() { start(std::getenv("DYNET_PROFILE")); }

void write_profile() {
  if (profiled_run()) profiled_run()->write();
}

}  // namespace program

namespace dynet {

Observer* process_observer() {
  const auto& run = program::profiled_run();
  return run ? &run->profiler() : nullptr;
}

}  // namespace dynet
