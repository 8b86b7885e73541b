// Training that a signal stops: all is saved, and the run goes on as if there had been no signal.

#include "tests/examples/programs.h"

constexpr int kInterrupted = 128 + 2;
constexpr int kTerminated = 128 + 15;

/// Waits, for a minute at most, until the command succeeds.
const char* const kUntil =
    "until_true() { i=0; until eval \"$1\"; do i=$((i + 1)); test $i -lt 6000 || exit 99; "
    "sleep 0.01; done; }\n";
std::string until_shows(const std::string& text) {
  return "until_true \"grep -q '" + text + "' errors\"; ";
}
/// Until the program, which writes to `log`, waits for something.
const std::string kUntilStill =
    "until_true \"sleep 0.5; before=\\$(wc -c < log); sleep 0.5; "
    "test \\$before -gt 0 && test \\$before = \\$(wc -c < log)\"; ";
const std::string kFillPipe = "dd if=/dev/zero of=pipe bs=4096 oflag=nonblock 2> /dev/null; ";

TEST_CASE("Stop: a signal in the first epoch leaves a checkpoint and no model") {
  on_desks(30000, "", [](const AnyProgram& each, const Desk& desk) {
    desk.must("touch log errors");
    const Result stopped =
        desk.sh(kUntil + ("(start_training --model new --batch 1 > log 2> errors) & pid=$!; " +
                          until_shows("epoch 1: 25 %") + "kill -INT $pid; wait $pid; exit $?"));
    INFO(each.program.name << "\n" << desk.read("log") << desk.read("errors"));
    CHECK(stopped.code == kInterrupted);
    const std::string log = desk.read("log");
    CHECK(contains(log, "stopped by SIGINT after epoch 0 and "));
    CHECK(contains(log, "new.checkpoint: the same command goes on with --resume\n"));
    CHECK(contains(log, "no model of this run is saved yet\n"));
    CHECK(contains(desk.read("errors"), "a second signal ends at once\n"));
    CHECK(desk.names() == Strings{"data", "errors", "in", "log", "new.checkpoint"});
    CHECK(contains(desk.must("train --model new --resume --max-seconds 0.01"),
                   "resuming after epoch 0 and "));
  });
}

TEST_CASE("Stop: a signal in a later epoch says which model there is, and nothing is lost") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("EPOCHS=60 train --model whole; touch log errors");
    // A pipe that is full but for one page: the program waits there in the midst of an epoch, once
    // its progress has filled that page, until all is read.
    const Result stopped =
        desk.sh(kUntil + ("EPOCHS=60; mkfifo pipe; exec 3<> pipe; " + kFillPipe +
                          "dd bs=4096 count=1 <&3 > errors 2>&1; "
                          "(start_training --model parts > log 2> pipe 3>&-) & pid=$!; " +
                          kUntilStill +
                          "kill -TERM $pid; cat <&3 > errors & reader=$!; wait $pid; "
                          "code=$?; kill $reader; rm pipe; exit $code"));
    const std::string log = desk.read("log");
    INFO(each.program.name << "\n" << log);
    CHECK(stopped.code == kTerminated);
    const std::string last = from(log, "stopped by SIGTERM after epoch ");
    CHECK(contains(last, " updates; all is saved in parts.checkpoint: "));
    CHECK(contains(last, "\nsaved in parts: the best model so far, of epoch "));
    CHECK(desk.names() == Strings{"data", "errors", "in", "log", "parts", "parts.checkpoint",
                                  "whole", "whole.checkpoint"});
    desk.must("p eval -m parts -d data > log; EPOCHS=60 train --model parts --resume");
    desk.must("cmp parts whole && cmp parts.checkpoint whole.checkpoint");
  });
}

TEST_CASE("Stop: signals at any moment leave a run as it is") {
  on_desks(1000, "", [](const AnyProgram&, const Desk& desk) {
    desk.must("EPOCHS=3 train --dev data --model whole; touch log");
    desk.must(
        "EPOCHS=3; more=\n"
        "for pause in 0.01 0.02 0.03 0.05 0.07 0.1 0.15 0.2 0.3; do\n"
        "  (start_training --dev data --model parts $more > log 2>&1) & pid=$!\n"
        "  sleep $pause; kill -TERM $pid; wait $pid; code=$?\n"
        "  test $code = 143 || test $code = 0 || { cat log; exit 1; }\n"
        "  if test -e parts.checkpoint; then more=--resume; fi\n"
        "done\n"
        "train --dev data --model parts $more\n"
        "cmp parts whole && cmp parts.checkpoint whole.checkpoint");
    CHECK(desk.names() ==
          Strings{"data", "in", "log", "parts", "parts.checkpoint", "whole", "whole.checkpoint"});
  });
}

TEST_CASE("Stop: a second signal ends at once, and one that comes twice counts once") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    // The report has no reader, so the program waits for ever once the pipe is full.
    const auto waiting = [&](const std::string& pids, const std::string& then) {
      return desk.sh(
          kUntil +
          ("EPOCHS=1000000; mkfifo pipe; exec 3<> pipe; head -c 60000 /dev/zero >&3; "
           "(start_training --model new --report pipe --force > log 2> errors 3>&-) & pid=$!; " +
           kUntilStill + "kill -TERM " + pids + "; " + until_shows("stopping") + then +
           "; wait $pid; code=$?; rm pipe; test -z \"$drain\" || kill $drain; exit $code"));
    };
    CHECK(waiting("$pid", "sleep 0.5; kill -TERM $pid").code == kTerminated);
    CHECK_FALSE(contains(desk.read("log"), "stopped by"));
    CHECK(desk.names() == Strings{"data", "errors", "in", "log", "new", "new.checkpoint"});
    desk.must("EPOCHS=1000000 train --model new --resume --max-seconds 0.1");

    CHECK(waiting("$pid $pid", "cat <&3 > /dev/null & drain=$!").code == kTerminated);
    CHECK(contains(desk.read("log"), "stopped by SIGTERM after epoch "));
  });
}

TEST_CASE("Stop: an ignored signal stays ignored") {
  const Desk desk(all_programs()[0], 10000);
  const Result result = desk.sh(
      kUntil + std::string("trap '' HUP; (start_training --model new > log 2> errors) & pid=$!; ") +
      until_shows("25 %") + "kill -HUP $pid; wait $pid");
  CHECK(result.code == 0);
  CHECK_FALSE(contains(desk.read("log"), "stopped"));
}
