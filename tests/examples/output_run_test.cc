// Output of the programs: files are written beside the old one, never over an input; what cannot be
// written fails every command, which says why.

#include <sys/stat.h>

#include "tests/examples/programs.h"

unsigned mode_of(const std::string& path) {
  struct stat info = {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

TEST_CASE("Output: a command refuses its input as its output") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("train --model model && ln -s in link && ln -s ../desk/link link2 && ln in hard");
    Strings scripts = {
        // By any of its names.
        "apply -i in -o in", "apply -i in -o ./in", "apply -i in -o \"$PWD/../desk/in\"",
        "apply -i in -o link", "apply -i link2 -o in", "apply -i in -o hard",
        // As a standard stream, or another one that is open.
        "apply -o in < in", "apply -i /dev/stdin -o in < in", "apply -i /dev/fd/5 -o in 5< in",
        "apply -i in >> in", "apply -i in -o /dev/stdout >> in", "apply -i in -o /dev/fd/7 7>> in",
        "apply < in >> in", "apply -i in 1<> in",
        // The model and data are input as well.
        "apply -i in -o model", "apply -i in -o model.checkpoint", "apply -i in >> model",
        "p eval -m model -d data >> data", "p eval -m model -d data >> model"};
    if (each.program.name == "rnnlm")
      for (const char* more : {"-o model", ">> model"})
        scripts.push_back(std::string("p sample -m model ") + more);
    for (const std::string& script : scripts) desk.refuses(script, kWrongUsage, "the same file");
    // Files that are no files may be both.
    if (each.program.name != "parser") desk.must("apply -i /dev/null -o /dev/null");
    desk.must("mkfifo pipe; cat in > pipe & apply -i pipe > out && apply -i in | cmp - out");
  });
}

TEST_CASE("Output: a file takes the place of the old one when it is whole") {
  on_desks(60, "train --model model", [](const AnyProgram& each, const Desk& desk) {
    const std::string whole = desk.must("apply -i in");
    REQUIRE(whole.size() > 600);

    desk.must("echo old > out; chmod 640 out; ln -s out link; apply -i in -o link");
    CHECK(desk.read("out") == whole);
    CHECK(mode_of(desk.path("out")) == 0640);
    desk.must("test -L link && umask 027 && apply -i in -o new");
    CHECK(desk.read("new") == whole);
    CHECK(mode_of(desk.path("new")) == 0640);
    desk.must("cd / && p " + each.command + " -m '" + desk.path("model") + "' -i '" +
              desk.path("in") + "' -o '" + desk.path("out") + "'");
    CHECK(desk.read("out") == whole);

    // A full quota, and input that breaks off: the old file stays, and nothing lies beside it.
    desk.write("out", "old\n");
    desk.refuses("ulimit -f 1; apply -i in -o out", 1, "File too large");
    desk.refuses("apply -i in -o no/out", 1, "cannot save no/out: ");
    desk.refuses("mkdir folder; apply -i in -o folder; r=$?; rmdir folder; exit $r", 1,
                 "cannot save folder: ");
    desk.refuses("apply -i in -o in/out", 1, "cannot save in/out: ");
    desk.refuses("apply -i in -o " + std::string(256, 'o'), 1, "File name too long");
    desk.refuses("ln -s loop loop; apply -i in -o loop; r=$?; rm loop; exit $r", 1,
                 "cannot save loop: Too many levels of symbolic links");
    desk.refuses("apply -i none -o out", 1, "cannot open none");
    desk.refuses("apply -i / -o out", 1, "is it a directory?");
    desk.refuses("p " + each.command + " -m none -i in -o out", 1, "none");
    if (each.program.name == "treelstm")
      desk.refuses("(cat in; echo '(3 x') | apply -o out", 1, "standard input:61: ");
    if (each.program.name == "parser")
      desk.refuses("(cat in; echo 1) | apply -o out", 1, "standard input:241: ");
  });
}

TEST_CASE("Output: an interrupted command leaves the old file and nothing else") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("train --model model; echo old > out; mkfifo pipe; touch log");
    const Strings before = desk.names();
    // The pipe is opened once the program reads it and stays open, so that the program waits for
    // more when the signal comes.
    const auto interrupted_by = [&](const std::string& signal) {
      return desk.sh(
          "(start -i pipe -o out 2> log) & pid=$!; exec 3> pipe; cat in >&3; "
          "sleep 0.1; kill -" +
          signal + " $pid; wait $pid; exit $?");
    };
    for (const auto& [signal, number] :
         {std::pair("INT", 2), std::pair("TERM", 15), std::pair("HUP", 1)}) {
      const Result result = interrupted_by(signal);
      INFO(each.program.name << " " << signal << " " << result.err);
      CHECK(result.code == 128 + number);
      CHECK(desk.read("log").empty());
      CHECK(desk.read("out") == "old\n");
      CHECK(desk.names() == before);
    }
    // A killed program may leave a file, which the next run removes.
    CHECK(interrupted_by("KILL").code == 128 + 9);
    CHECK(desk.read("out") == "old\n");
    desk.must("apply -i in -o out");
    CHECK(desk.read("out") == desk.must("apply -i in"));
    CHECK(desk.names() == before);
    // A signal that the parent ignores is ignored by the program.
    const Result ignored = desk.sh(
        "trap '' HUP; (start -i pipe -o out) & pid=$!; exec 3> pipe; cat in >&3; sleep 0.1; "
        "kill -HUP $pid; exec 3>&-; wait $pid; exit $?");
    CHECK(ignored.code == 0);
    CHECK(desk.read("out") == desk.must("apply -i in"));
  });
}

TEST_CASE("Output: to what is no file it goes as it comes") {
  on_desks("train --model model", [](const AnyProgram&, const Desk& desk) {
    const std::string whole = desk.must("apply -i in");
    CHECK(desk.must("apply -i in -o - ") == whole);
    CHECK(desk.must("apply -i in -o /dev/stdout") == whole);
    CHECK(desk.must("apply -i in -o /dev/stdout | cat") == whole);
    CHECK(desk.must("ln -s /dev/stdout link; apply -i in -o link | cat; test -L link") == whole);
    CHECK(desk.must("apply -i in -o /proc/self/fd/1") == whole);
    CHECK(desk.sh("apply -i in -o /dev/stderr 2>&1 > /dev/null | grep -v '^parse: '").out == whole);
    desk.must("mkfifo pipe; cat pipe > got & apply -i in -o pipe && wait && test -p pipe");
    CHECK(desk.read("got") == whole);
    desk.must("apply -i in -o /dev/null; test -c /dev/null");
    // A descriptor is written where it stands, and keeps what is there.
    desk.must("echo old > log; apply -i in -o /dev/fd/3 3>> log");
    CHECK(desk.read("log") == "old\n" + whole);
    desk.must("echo old > log; (echo new; apply -i in -o /dev/stdout; echo end) > log");
    CHECK(desk.read("log") == "new\n" + whole + "end\n");

    desk.refuses("apply -i in -o /dev/full", 1, "cannot write /dev/full: No space left on device");
    desk.refuses("apply -i in -o /dev/fd/9", 1, "cannot write /dev/fd/9: Bad file descriptor");
    desk.refuses("apply -i in -o /dev/stdin < data", 1, "Bad file descriptor");
  });
}

TEST_CASE("Output: standard streams that are closed do not get into files") {
  on_desks(400, "train --model model", [](const AnyProgram& each, const Desk& desk) {
    const std::string whole = desk.must("apply -i in");
    for (const std::string closed : {"2>&-", ">&-", "<&-", "<&- >&- 2>&-"}) {
      desk.must("apply -i in -o out " + closed);
      INFO(each.program.name << " " << closed);
      CHECK(desk.read("out") == whole);
    }
    desk.must("train --model other 2>&-");
    CHECK(desk.read("other") == desk.read("model"));
    CHECK(desk.read("other.checkpoint") == desk.read("model.checkpoint"));
  });
}

TEST_CASE("Output: input that cannot be read to its end is an error") {
  on_desks("train --model model; echo old > out", [](const AnyProgram&, const Desk& desk) {
    const auto refused = [&](const std::string& command, const std::string& why) {
      desk.refuses(command, 1, "cannot read " + why);
    };
    refused("apply -o out < .", "standard input: Is a directory");
    refused("apply -o out <&-", "standard input: Bad file descriptor");
    refused("apply -o out -i /proc/self/mem", "/proc/self/mem: Input/output error");
    refused("apply < .", "standard input: Is a directory");
    // Nothing of a name gets to the terminal but its letters.
    desk.refuses("apply -i \"$(printf 'no\\033[31m\\nfile')\"", 1,
                 "cannot open no\\u{1b}[31m file");
    refused("p eval -m model -d - < .", "standard input: Is a directory");
    refused("DATA=- train --model new < .", "standard input: Is a directory");
  });
}

TEST_CASE("Output: a command answers a typed line before the next one") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    if (each.program.name == "parser") return;  // sentences of similar length go together
    const std::string answer = desk.must("train --model model > log; head -n 1 in | apply");
    const std::string talk = desk.must(
        "mkfifo to from; start < to > from & exec 3> to 4< from; for i in 1 2 3; do "
        "head -n 1 in >&3; timeout 20 head -n 1 <&4 || exit 1; done; exec 3>&-; wait");
    CHECK(talk == answer + answer + answer);
  });
}

/// All that the program can be asked for that prints something.
Strings commands_of(const AnyProgram& each) {
  Strings commands = {
      // Without a model.
      "p --help", "p train --help", "p eval --help", "p " + each.command + " --help",
      // With one, and of training.
      "p eval -m model -d data", "apply -i in", "apply < in", "apply -i in -o /dev/stdout",
      "train --model new", "train --model model --force", "EPOCHS=2 train --model model --resume"};
  if (each.program.name == "rnnlm")
    for (const char* more : {"--help", "-m model -n 100", "-m model -n 1000000000"})
      commands.push_back(std::string("p sample ") + more);
  if (each.program.name == "parser") commands.push_back("p eval -m model -d data --compare");
  if (each.program.name != "rnnlm") commands.push_back("p eval -m model -d data --show 3");
  return commands;
}

TEST_CASE("Standard output: a full disk and a full quota are noticed") {
  on_desks(2000, "train --model model", [](const AnyProgram& each, const Desk& desk) {
    for (const std::string& command : commands_of(each)) {
      const Result full = desk.sh(command + " 2> log > /dev/full");
      const std::string log = desk.read("log");
      INFO(each.program.name << ": " << command << "\n" << log);
      CHECK(full.code == kFailed);
      CHECK(contains(
          log, each.program.name + ": cannot write standard output: No space left on device\n"));
      const Result closed = desk.sh(command + " 2> log >&-");
      CHECK(closed.code == kFailed);
      CHECK(contains(desk.read("log"),
                     each.program.name + ": cannot write standard output: Bad file descriptor\n"));
    }
    // Nothing was trained, only to be lost.
    CHECK_FALSE(contains(desk.sh("ls").out, "new"));
    const Result result = desk.sh("ulimit -f 1; apply -i in 2>&1 > part | tail -n 1; cat part");
    INFO(result.out);
    CHECK(contains(result.out,
                   each.program.name + ": cannot write standard output: File too large\n"));
    CHECK(desk.read("part").size() == 512);
  });
}

TEST_CASE("Standard output: who reads no further ends a program in silence") {
  on_desks(20000, "", [](const AnyProgram& each, const Desk& desk) {
    desk.must("head -n 1000 data > few; DATA=few train --model model");
    const std::string first = desk.must("head -n 1 in | apply | head -n 1");
    const auto quiet = [&](const std::string& command) {
      const Result result = desk.sh(
          "{ " + command + "; echo $? > status; } 2> log | head -n 1; grep -v '^parse' log");
      INFO(each.program.name << ": " << command << "\n" << result.out << result.err);
      CHECK(desk.read("status") == std::to_string(kBrokenPipe) + "\n");
      return result.out;
    };
    if (each.program.name == "parser") {
      quiet("apply -i few -o /dev/stdout; apply -i few");
    } else {
      CHECK(quiet("apply -i in") == first);
      CHECK(quiet("apply < in") == first);
      CHECK(quiet("apply -i in -o /dev/stdout") == first);
    }
    if (each.program.name == "rnnlm") quiet("p sample -m model -n 1000000");
    desk.must("mkfifo pipe");
    CHECK(desk.sh("head -n 1 pipe > got & apply -i in -o pipe").code == kBrokenPipe);
    // Standard error is no result.
    desk.must("{ train --model new 2>&1 >&3 | true; } 3> log");
    CHECK(contains(desk.read("log"), "saved in new"));
  });
}
