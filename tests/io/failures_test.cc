// Saving while calls fail, the disk fills up, or the process ends.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "dynet-like/io/files.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace failures_test {

using namespace dynet;

namespace {

// Loads and compares with the states that the file may have. Returns which one it is.
std::size_t which_of(const std::string& path, const std::vector<std::string>& states) {
  Run run(99);
  run.load_from(path);
  const std::string state = run.state();
  for (std::size_t i = 0; i < states.size(); ++i)
    if (states[i] == state) return i;
  return states.size();
}

struct Saves {
  TemporaryFolder folder;
  std::string path = folder / "m";
  Run before{1}, after{2};
  std::vector<std::string> states{before.state(), after.state()};

  // The calls and the bytes of one save over an old file.
  std::pair<int, long> count() {
    before.save_to(path);
    const FailingFiles files;
    after.save_to(path, {&files});
    return {files.calls, files.bytes};
  }
};

}  // namespace

TEST_CASE("a process that ends anywhere in saving leaves the old model or the new one") {
  Saves s;
  const auto [calls, bytes] = s.count();
  REQUIRE(calls >= 8);
  REQUIRE(bytes > 1000);
  std::size_t stops = 0, old = 0;
  const auto stop = [&](int call, long byte) {
    s.before.save_to(s.path);
    FailingFiles files;
    files.stop_call = call;
    files.stop_byte = byte;
    REQUIRE_THROWS_AS(s.after.save_to(s.path, {&files}), Stopped);
    const std::size_t which = which_of(s.path, s.states);
    INFO(call << " " << byte << " " << files.last);
    REQUIRE(which < 2);
    old += which == 0;
    ++stops;
    REQUIRE(s.folder.names().size() <= 2);
    s.after.save_to(s.path);  // and cleans up
    REQUIRE(s.folder.names() == std::vector<std::string>{"m"});
  };
  for (int call = 0; call < calls; ++call) stop(call, -1);
  for (long byte = 0; byte < bytes; byte += 97) stop(-1, byte);
  CHECK(old > stops / 2);
  CHECK(old < stops);
  std::printf(
      "%zu stops (%d calls, every 97th of %ld bytes): %zu times the old model, else the new\n",
      stops, calls, bytes, old);
}

TEST_CASE("a call that fails in saving leaves the old file and says what happened") {
  Saves s;
  const auto [calls, bytes] = s.count();
  std::size_t failures = 0, cleaned = 0;
  for (const int error : {ENOSPC, EIO, EACCES, EDQUOT, EROFS})
    for (const bool forever : {false, true})
      for (int call = 0; call < calls; ++call) {
        s.before.save_to(s.path);
        FailingFiles files;
        files.fail_call = call;
        files.error = error;
        files.forever = forever;
        const std::string message =
            message_of<FileError>([&] { s.after.save_to(s.path, {&files}); });
        INFO(call << " " << files.last << " " << message);
        const std::size_t which = which_of(s.path, s.states);
        if (message.empty()) {
          REQUIRE(which == 1);  // the call was one that a save can do without
        } else if (which == 1) {
          REQUIRE(message.find("it is written, but") != std::string::npos);
        } else {
          REQUIRE(which == 0);
          REQUIRE(message.find("cannot save " + s.path) == 0);
        }
        ++failures;
        if (!forever) {
          REQUIRE(s.folder.names() == std::vector<std::string>{"m"});
          ++cleaned;
        }
      }
  std::printf(
      "%zu failing calls, %zu times a typed error or the whole new file, %zu left nothing\n",
      failures, failures, cleaned);
}

TEST_CASE("a saved file is flushed before its rename, and its folder after that") {
  const TemporaryFolder folder;
  const std::string sub = folder / "sub";
  std::filesystem::create_directory(sub);
  std::filesystem::create_symlink("sub/real", folder / "link");
  for (const std::string name : {"link", "sub/real", "new"})
    for (int round = 0; round < 2; ++round) {  // a new file, and one in place of another
      const std::string path = folder / name, target = name == "link" ? folder / "sub/real" : path;
      CAPTURE(path, round);
      const NotedFiles files;
      write_file(path, "some bytes", {&files});
      REQUIRE(files.notes.size() == 4);
      REQUIRE(files.notes[0].starts_with("write " + target + ".tmp-"));
      const std::string temporary = files.notes[0].substr(6);
      CHECK(files.notes[1] == "fsync " + temporary);
      CHECK(files.notes[2] == "rename " + temporary + " " + target);
      CHECK(files.notes[3] == "fsync " + target.substr(0, target.rfind('/') + 1));
    }
}

TEST_CASE("a write that takes less than all is gone on with") {
  Saves s;
  const auto [calls, bytes] = s.count();
  for (int call = 0; call < calls; ++call) {
    s.before.save_to(s.path);
    FailingFiles files;
    files.short_call = call;
    s.after.save_to(s.path, {&files});
    REQUIRE(which_of(s.path, s.states) == 1);
  }
  std::printf("%d calls, each one short once\n", calls);
}

TEST_CASE("kill -9 at any moment leaves the model before or after") {
  struct Shared {
    std::atomic<int> begun, done;
  };
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* shared = new (memory) Shared{};
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  constexpr unsigned kSize = 200;  // 160 kB, so that the end often comes within a write
  const auto save_version = [&](int v) {
    ParameterCollection pc;
    pc.add_parameters({kSize, kSize}, ParameterInitConst(static_cast<float>(v)), "W");
    save(path, pc, v);
  };
  save_version(0);
  int kills = 0, within = 0;
  std::uint64_t random = 1;
  while (kills < 500) {
    const int first = shared->done + 1;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        for (int v = first;; ++v) {
          shared->begun = v;
          save_version(v);
          shared->done = v;
        }
      } catch (...) {
        _exit(1);
      }
    }
    random = mix_bits(random);
    usleep(static_cast<useconds_t>(500 + random % 5000));
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    ++kills;
    ParameterCollection pc;
    const Parameter w = pc.add_parameters({kSize, kSize}, "W");
    int v = -1;
    load(path, pc, v);
    REQUIRE((v == shared->done || v == shared->begun));
    REQUIRE(as_vector(w.values()) == std::vector<float>(kSize * kSize, static_cast<float>(v)));
    within += shared->begun != shared->done;
    shared->done = v;
    REQUIRE(folder.names().size() <= 2);  // what the last one left is removed by the next
  }
  CHECK(within > 100);
  std::printf("%d kills, %d of them within a save; %d saves\n", kills, within, int(shared->done));
  save_version(1);
  CHECK(folder.names() == std::vector<std::string>{"m"});
  munmap(memory, sizeof(Shared));
}

}  // namespace failures_test
