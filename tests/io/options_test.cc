// Partial loading, renaming, what is frozen, single parameters, things without copies, memory.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace options_test {

using namespace dynet;

namespace {

struct Scale {
  double by = 0;

  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& by;
  }
};

struct Layer {
  int size = 0;
  std::string name;
  std::unique_ptr<Scale> scale;

  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& size& name& scale;
  }
};

// Only seems to be copyable.
struct Stack {
  std::vector<std::unique_ptr<Layer>> layers;
  int depth = 0;

  template <class Archive>
  void serialize(Archive& ar, const unsigned) {
    ar& layers& depth;
  }
};

std::vector<std::unique_ptr<Layer>> layers(int n) {
  std::vector<std::unique_ptr<Layer>> all;
  for (int i = 0; i < n; ++i)
    all.emplace_back(
        new Layer{i, "layer" + std::to_string(i), std::make_unique<Scale>(Scale{0.5 * i})});
  return all;
}

// Bytes of memory that this process has held at most, from now on.
long peak_of(const std::function<void()>& work) {
  std::ofstream("/proc/self/clear_refs") << "5";
  work();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stol(line.substr(6)) * 1024;
  return 0;
}

}  // namespace

}  // namespace options_test

template <>
inline constexpr bool dynet::kCopiedByLoad<options_test::Stack> = false;

namespace options_test {

TEST_CASE("parts of a file are loaded if that is allowed, and told") {
  const TemporaryFolder folder;
  Model one(1);
  save(folder / "m", one.pc);
  ParameterCollection pc;
  auto w = pc.add_parameters({3, 4}, "W");
  auto layer = pc.add_subcollection("layer");
  auto b = layer.add_parameters({6}, ParameterInitConst(1.0f), "b");
  auto more = layer.add_parameters({2}, ParameterInitConst(2.0f), "more");
  const auto fails = [&](const LoadOptions& options) {
    return failed_load(folder / "m", options, pc);
  };
  const std::string b_differs = "/layer/b is {5} in the file and {6} here",
                    e_extra = "/layer/E a table of 6 rows {2} is in the file only",
                    more_missing = "/layer/more {2} is missing in the file",
                    start = misfit(folder / "m");
  CHECK(fails({}) == start + b_differs + "; " + e_extra + "; " + more_missing);
  CHECK(fails({.allow_missing = true}) == start + b_differs + "; " + e_extra);
  CHECK(fails({.allow_extra = true}) == start + b_differs + "; " + more_missing);
  CHECK(fails({.allow_reshaped = true}) == start + e_extra + "; " + more_missing);
  const LoadReport report =
      load(folder / "m",
           LoadOptions{.allow_missing = true, .allow_extra = true, .allow_reshaped = true}, pc);
  CHECK(report.loaded == 1);
  CHECK(report.left_out == std::vector<std::string>{b_differs, e_extra, more_missing});
  CHECK(as_vector(w.values()) == as_vector(one.w.values()));
  CHECK(as_vector(b.values()) == std::vector<float>(6, 1.0f));
  CHECK(as_vector(more.values()) == std::vector<float>(2, 2.0f));
}

TEST_CASE("damage is found in values that are left out, too") {
  const TemporaryFolder folder;
  ParameterCollection one, other;
  one.add_parameters({3}, ParameterInitConst(0.5f), "a");
  one.add_parameters({3}, ParameterInitConst(0.5f), "b");
  auto a = other.add_parameters({3}, ParameterInitConst(2.0f), "a");
  save(folder / "m", one);
  const std::string good = read_file(folder / "m");
  int refused = 0;
  for (std::size_t k = 0; k < good.size(); ++k) {
    std::string bytes = good;
    bytes[k] = static_cast<char>(bytes[k] ^ 4);
    write_file(folder / "m", bytes);
    try {
      load(folder / "m", LoadOptions{.allow_extra = true}, other);
    } catch (const FileError&) {
      ++refused;
    }
  }
  CHECK(refused == static_cast<int>(good.size()));
  CHECK(as_vector(a.values()) == std::vector<float>(3, 2.0f));
}

TEST_CASE("names are changed on the way, the longest rule first") {
  const TemporaryFolder folder;
  Model one(1);
  AdamTrainer adam(one.pc);
  one.step(adam, 1.0f);
  save(folder / "m", one.pc, adam);
  ParameterCollection pc;
  auto encoder = pc.add_subcollection("encoder");
  auto w = encoder.add_parameters({3, 4}, "W");
  auto b = encoder.add_parameters({5}, "bias");
  auto e = pc.add_subcollection("words").add_lookup_parameters(6, {2}, "E");
  AdamTrainer other(pc);
  LoadOptions options;
  options.rename = {{"/", "/encoder/"}, {"/layer/", "/words/"}, {"/layer/b", "/encoder/bias"}};
  load(folder / "m", options, pc, other);
  CHECK(as_vector(w.values()) == as_vector(one.w.values()));
  CHECK(as_vector(b.values()) == as_vector(one.b.values()));
  CHECK(table_values(e) == table_values(one.e));
  CHECK(other.numbers() == adam.numbers());
  REQUIRE(other.state_views().size() == 2);
  CHECK(other.state_views()[0].name == "/encoder/W");
  options.rename["/nowhere"] = "/x";
  CHECK_SAYS(FileError, load(folder / "m", options, pc, other),
             "/nowhere is to be renamed and is not in the file");
  options.rename = {{"/layer/b", "/W"}};
  CHECK_SAYS(FileError, load(folder / "m", options, one.pc, adam), "/W comes twice in the file");
}

TEST_CASE("loading restores frozen parameters and weight decay unless settings are off") {
  const TemporaryFolder folder;
  const auto decay_of = [](const ParameterHandle& p) { return p.weight_decay_lambda(); };
  ParameterCollection pc(0.1f);
  auto a = pc.add_parameters({2}, "a");
  auto sub = pc.add_subcollection("sub", 0.2f);
  auto b = sub.add_parameters({2}, "b");
  auto c = pc.add_subcollection("other").add_parameters({1}, "c");
  b.set_updated(false);
  save(folder / "m", pc);
  ParameterCollection to;
  auto a2 = to.add_parameters({2}, "a");
  auto b2 = to.add_subcollection("sub").add_parameters({2}, "b");
  auto c2 = to.add_subcollection("other", 0.3f).add_parameters({1}, "c");
  c2.set_updated(false);
  load(folder / "m", LoadOptions{.settings = false}, to);
  CHECK(b2.is_updated());
  CHECK_FALSE(c2.is_updated());
  CHECK(decay_of(a2) == 0);
  CHECK(decay_of(b2) == 0);
  CHECK(decay_of(c2) == 0.3f);
  load(folder / "m", to);
  CHECK(a2.is_updated());
  CHECK_FALSE(b2.is_updated());
  CHECK(c2.is_updated());
  CHECK(decay_of(a2) == 0.1f);
  CHECK(decay_of(b2) == 0.2f);
  CHECK(decay_of(c2) == 0.1f);
  save(folder / "n", to);
  CHECK(read_file(folder / "m") == read_file(folder / "n"));
}

TEST_CASE("single parameters are saved and loaded by their handles") {
  const TemporaryFolder folder;
  Model one(1), two(2);
  save(folder / "m", one.w, one.e);
  load(folder / "m", two.w, two.e);
  CHECK(as_vector(two.w.values()) == as_vector(one.w.values()));
  CHECK(table_values(two.e) == table_values(one.e));
  CHECK(as_vector(two.b.values()) != as_vector(one.b.values()));
  CHECK(failed_load(folder / "m", two.b, two.e) ==
        misfit(folder / "m") + "/W {3,4} is in the file only; /layer/b {5} is missing in the file");
  ParameterCollection pc;
  auto v = pc.add_parameters({3, 4}, "V");
  load(folder / "m", LoadOptions{.rename = {{"/W", "/V"}}}, v, two.e);
  CHECK(as_vector(v.values()) == as_vector(one.w.values()));
  Parameter empty;
  CHECK_THROWS_AS(load(folder / "m", empty, two.e), FileError);
  CHECK_THROWS_AS(save(folder / "m", empty), ArgumentError);
  CHECK_SAYS(FileError, load(folder / "m", two.e, two.w),
             "thing 1 of 2 is of kind Parameter, not LookupParameter");
}

TEST_CASE("vectors of unique pointers come back") {
  const TemporaryFolder folder;
  save(folder / "m", layers(3), 5);
  auto two = layers(1);
  float wrong = 0;
  CHECK_THROWS_AS(load(folder / "m", two, wrong), FileError);
  CHECK(two.size() == 1);
  int five = 0;
  load(folder / "m", two, five);
  REQUIRE(two.size() == 3);
  CHECK(two[2]->size == 2);
  CHECK(two[2]->name == "layer2");
  CHECK(two[2]->scale->by == 1.0);
  Stack stack{layers(2), 7}, other;
  save(folder / "s", stack);
  load(folder / "s", other);
  CHECK(other.depth == 7);
  CHECK(other.layers.at(1)->scale->by == 0.5);
}

TEST_CASE("saving what was loaded gives the same bytes") {
  const TemporaryFolder folder;
  using Limits = std::numeric_limits<float>;
  ParameterCollection one, two;
  std::size_t files = 0;
  for (ParameterCollection* pc : {&one, &two}) {
    pc->add_parameters({4096}, "bits");
    pc->add_lookup_parameters(3, {2, 2}, "table");
    pc->add_parameters({0, 3}, "nothing");
    pc->add_parameters({}, "scalar");
  }
  float* v = one.parameters_list()[0].stored().data;
  const float special[] = {Limits::infinity(), -Limits::infinity(), -0.0f, Limits::denorm_min()};
  std::copy(std::begin(special), std::end(special), v);
  for (std::uint32_t i = 4; i < 4096; ++i) {  // NaNs with payloads among them
    const auto bits = static_cast<std::uint32_t>(mix_bits(i)) | (i % 3 ? 0u : 0x7f800000u);
    std::memcpy(v + i, &bits, 4);
  }
  AdamTrainer adam(one), other(two);
  save(folder / "1", one, adam, 3);
  for (int i = 1; i <= 3; ++i) {
    int three = 0;
    load(folder / std::to_string(i), two, other, three);
    save(folder / std::to_string(i + 1), two, other, three);
    CHECK(read_file(folder / std::to_string(i + 1)) == read_file(folder / "1"));
    ++files;
  }
  CHECK(std::memcmp(v, two.parameters_list()[0].stored().data, 4096 * 4) == 0);
  std::printf("%zu rounds, each file the same\n", files);
}

TEST_CASE("a mapped file is loaded with the same bits and refused for the same reasons") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const Run one(1);
  Run two(2), three(3);
  one.save_to(path);
  const std::string good = read_file(path), before = two.state();
  const auto load_into = [&](Run& run, const FileSystem* files, bool map) {
    const LoadOptions options{.map = map, .files = files};
    load(path, options, run.model.pc, run.trainer, run.words, run.number);
  };
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    write_file(path, bad);
    const std::string why = message_of<FileError>([&] { load_into(two, nullptr, true); });
    REQUIRE_FALSE(why.empty());
    REQUIRE(why == message_of<FileError>([&] { load_into(two, nullptr, false); }));
    ++refused;
  }
  CHECK(two.state() == before);
  write_file(path, good);
  load_into(two, nullptr, true);
  CHECK(two.state() == one.state());
  MemoryFile unmapped;  // a file system that cannot map
  unmapped.bytes = good;
  load_into(three, &unmapped, true);
  CHECK(three.state() == one.state());
  std::printf("%zu damaged files, all refused when mapped\n", refused);
}

TEST_CASE("files of DyNet are named in the error") {
  const TemporaryFolder folder;
  const auto why = [&](const std::string& text) {
    ParameterCollection pc;
    return message_of<FileError>([&] { load(folder.write("m", text), pc); });
  };
  for (const char* begin : {"#Parameter# /W {2} 30 ZERO_GRAD\n1 2\n", "#LookupParameter# /E"})
    CHECK(why(begin).find("text file of DyNet 2") != std::string::npos);
  CHECK(why("22 serialization::archive 14 0 0").find("such as DyNet 1 wrote") != std::string::npos);
}

TEST_CASE("a mapped file holds the values, which may be changed") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const Run one(1);
  Run two(2);
  one.save_to(path);
  const std::string bytes = read_file(path);
  load(path, LoadOptions{.map = true}, two.model.pc, two.trainer, two.words, two.number);
  // The system knows each address by the file.
  const auto is_mapped = [&](const void* address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t first = 0, last = 0;
      if (std::sscanf(line.c_str(), "%zx-%zx", &first, &last) == 2 &&
          reinterpret_cast<std::uintptr_t>(address) - first < last - first)
        return line.find(path) != line.npos;
    }
    return false;
  };
  for (const auto& [name, p] : named_parameters(two.model.pc)) {
    INFO(name);
    CHECK(is_mapped(p->data));
    CHECK(reinterpret_cast<std::uintptr_t>(p->data) % 64 == 0);
  }
  for (const auto& p : two.model.pc.parameters_list()) CHECK(p.values().v == p.stored().data);
  for (const auto& table : two.model.pc.lookup_parameters_list())
    for (unsigned i = 0; i < table.size(); ++i) CHECK(table.row(i).v == table.values()[i].v);
  // Updates change this process alone, also when the file is gone.
  std::filesystem::remove(path);
  two.model.step(two.trainer, 5);
  Run three(3);
  write_file(path, bytes);
  load(path, three.model.pc, three.trainer, three.words, three.number);
  three.model.step(three.trainer, 5);
  CHECK(two.state() == three.state());
  CHECK(read_file(path) == bytes);
  two.save_to(path);
  CHECK(read_file(path) != bytes);
  load(path, LoadOptions{.map = true}, two.model.pc, two.trainer, two.words, two.number);
  CHECK(two.state() == three.state());
}

TEST_CASE("checksums of values are left out on request, with a mapped file alone") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  Run one(1), two(2);
  one.save_to(path);
  std::string bytes = read_file(path);
  const ModelFile file(path);
  bytes[file.index().groups.at(0).tensors.at(0).data.offset] ^= 1;
  write_file(path, bytes);
  const auto why = [&](bool map, bool verify) {
    return message_of<FileError>([&] {
      load(path, LoadOptions{.map = map, .verify = verify}, two.model.pc, two.trainer, two.words,
           two.number);
    });
  };
  for (const auto& [map, verify] : {std::pair(false, false), {false, true}, {true, true}})
    CHECK(why(map, verify).find("the checksum of its") != std::string::npos);
  CHECK(why(true, false) == "");
  CHECK(two.state() != one.state());
}

TEST_CASE("a mapped table takes no memory before its rows are used") {
  if (DYNET_SANITIZED) return;
  constexpr unsigned kRows = 1 << 16;
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  {
    ParameterCollection pc;
    pc.add_lookup_parameters(kRows, {256}, ParameterInitConst(0.5f), "table");  // 64 MiB
    save(path, pc);
  }
  const auto kilobytes = [](const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind(name, 0) == 0) return std::stol(line.substr(name.size()));
    return -1L;
  };
  const long before = kilobytes("VmRSS:");
  ParameterCollection pc;
  pc.skip_initialization();
  const LookupParameter table = pc.add_lookup_parameters(kRows, {256}, "table");
  load(path, LoadOptions{.map = true, .verify = false}, pc);
  CHECK(kilobytes("VmRSS:") - before < 8192);
  CHECK(table.row(kRows - 1).v[255] == 0.5f);
  const long own = kilobytes("RssAnon:");
  load(path, pc);
  CHECK(kilobytes("RssAnon:") - own > 32768);
}

TEST_CASE("a load takes at most twice the file and 64 MiB of memory (slow)") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  constexpr unsigned kRows = 100000, kSize = 256;  // 98 MiB
  {
    ParameterCollection pc;
    pc.add_lookup_parameters(kRows, {kSize}, ParameterInitConst(0.5f), "E");
    save(path, pc);
  }
  const auto size = static_cast<long>(std::filesystem::file_size(path));
  REQUIRE(size > 100 * 1000 * 1000);
  std::fflush(stdout);
  const pid_t child = fork();  // a process that has held nothing yet
  REQUIRE(child >= 0);
  if (child == 0) {
    const long peak = peak_of([&] {
      ParameterCollection pc;
      pc.add_lookup_parameters(kRows, {kSize}, ParameterInitConst(0.0f), "E");
      load(path, pc);
    });
    std::printf("a file of %ld MiB is loaded into a new model with %ld MiB\n", size >> 20,
                peak >> 20);
    std::fflush(stdout);
    _exit(peak > size && peak < 2 * size + (64 << 20) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

}  // namespace options_test
