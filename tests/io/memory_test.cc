// Memory that cannot be had, one request at a time: a typed error, and nothing has changed.

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <new>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/heap.h"
#include "tests/support/prelude.h"
#include "tests/support/sanitized.h"

#if defined(__GLIBC__) && !DYNET_SANITIZED

using namespace dynet;

namespace {

// Does `act` again and again, each time with the next request refused, until none is left to be:
// each time from where `prepare` begins, for there are requests that can be done without.
// `unchanged` is asked after every failure, with its text. Returns how many requests there were.
template <class Expected>
std::size_t refuse_each(
    const std::function<void()>& act, const std::function<void(const std::string&)>& unchanged,
    const std::function<void()>& prepare = [] {}) {
  for (std::size_t k = 0;; ++k) {
    prepare();
    bool failed = false, typed = false;
    std::string what;
    heap::refuse(k);
    try {
      const heap::Risk risk;
      act();
    } catch (const Expected& e) {
      failed = typed = true;
      what = e.what();
    } catch (...) {
      failed = true;
    }
    if (!heap::refuse_nothing()) {
      REQUIRE_FALSE(failed);
      return k;
    }
    INFO("request " << k << " " << what);
    if (failed) {
      REQUIRE(typed);
      unchanged(what);
    }
  }
}

}  // namespace

TEST_CASE("a dictionary without memory for one more word is as it was") {
  Dict dict({"a", "b"});
  const std::string word(100, 'x');
  std::size_t failures = 0;
  for (int i = 0; i < 200; ++i) {  // tables grow at some of them
    const std::string next = word + std::to_string(i);
    const std::size_t before = dict.size();
    failures += refuse_each<std::bad_alloc>([&] { dict.convert(next); },
                                            [&](auto&) {
                                              REQUIRE(dict.size() == before);
                                              REQUIRE(dict.get_words().size() == before);
                                              REQUIRE_FALSE(dict.contains(next));
                                            });
    REQUIRE(dict.convert(next) == static_cast<int>(before));
    REQUIRE(dict.convert(dict.convert(static_cast<int>(before))) == static_cast<int>(before));
  }
  CHECK(failures > 400);

  Dict frozen({"a"});
  frozen.freeze();
  const std::string unknown(100, 'u');
  refuse_each<std::bad_alloc>([&] { frozen.set_unk(unknown); },
                              [&](auto&) {
                                REQUIRE(frozen.get_unk_id() == -1);
                                REQUIRE(frozen.size() == 1);
                              });
  CHECK(frozen.get_unk_id() == 1);
}

TEST_CASE("a pair of sentences without memory leaves both lists as they were") {
  Dict one, two;
  std::vector<int> source{7}, target{8};
  const std::string line = "a b c d e f g h i ||| k l m n o p";
  const std::size_t failures =
      refuse_each<std::bad_alloc>([&] { read_sentence_pair(line, source, one, target, two); },
                                  [&](auto&) {
                                    REQUIRE(source == std::vector<int>{7});
                                    REQUIRE(target == std::vector<int>{8});
                                  });
  CHECK(failures > 10);
  CHECK(source.size() == 10);
  CHECK(target.size() == 7);
}

TEST_CASE("saving without memory leaves the old file, and nothing beside it") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const Run one(1), two(2);
  one.save_to(path);
  const std::string before = read_file(path);
  std::size_t failures = refuse_each<OutOfMemoryError>([&] { two.save_to(path); },
                                                       [&](auto&) {
                                                         REQUIRE(folder.names().size() == 1);
                                                         REQUIRE(read_file(path) == before);
                                                       },
                                                       [&] { one.save_to(path); });
  CHECK(failures > 20);
  CHECK(read_file(path) != before);
  const std::vector<NamedTensor> tensors = tensors_of(one.model.pc);
  const std::string other = folder / "other";
  const auto check = [&](const std::function<void()>& act, const std::string& written) {
    failures += refuse_each<std::exception>(
        act, [&](auto&) { REQUIRE(folder.names().size() == 1); },
        [&] { std::filesystem::remove(written); });
    std::filesystem::remove(written);
  };
  for (const char* name : {"t.dynet", "t.safetensors"}) {
    INFO(name);
    const std::string written = folder / name;
    check([&] { write_tensors(written, tensors); }, written);
  }
  check([&] { write_word_vectors(other, {"a", "b"}, one.model.values().data(), 2); }, other);
  check([&] { TextFileSaver(other).save(one.model.pc); }, other);
  std::printf("%zu refused requests in saving\n", failures);
}

TEST_CASE("loading without memory is a typed error and changes nothing") {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const Run one(1);
  std::unique_ptr<Run> two;
  one.save_to(path);
  const std::string before = Run(2).state();
  const std::size_t failures = refuse_each<Error>([&] { two->load_from(path); },
                                                  [&](auto&) { REQUIRE(two->state() == before); },
                                                  [&] { two = std::make_unique<Run>(2); });
  CHECK(failures > 100);
  CHECK(two->state() == one.state());
  std::printf("%zu refused requests in loading\n", failures);
}

TEST_CASE("every reader without memory says which file it was") {
  const TemporaryFolder folder;
  Model model(1);
  save(folder / "m.dynet", model.pc);
  save_safetensors(folder / "m.safetensors", model.pc);
  write_file(folder / "m.vec", "2 2\nthe 1 2\ncat 3 4\n");
  TextFileSaver(folder / "m.model").save(model.pc);
  std::size_t failures = 0;
  const auto check = [&](const std::string& path, const std::function<void()>& read) {
    INFO(path);
    refuse_each<Error>(read, [&](const std::string& what) {
      REQUIRE(what.find(path) != std::string::npos);
      ++failures;
    });
  };
  for (const char* name : {"m.dynet", "m.safetensors", "m.vec"}) {
    const std::string path = folder / name;
    check(path, [&] { read_tensors(path); });
  }
  const std::string model_path = folder / "m.model", vectors = folder / "m.vec";
  check(model_path, [&] { read_text_tensors(model_path); });
  const std::vector<float> values = model.values();
  TextFileLoader loader(model_path);
  check(model_path, [&] { loader.populate(model.pc); });
  CHECK(model.values() == values);
  const std::string tensors = folder / "m.safetensors";
  check(tensors, [&] { load_safetensors(tensors, model.pc); });
  Dict words({"cat"});
  ParameterCollection pc;
  LookupParameter table = pc.add_lookup_parameters(1, {2}, "E");
  check(vectors, [&] { load_word_vectors(vectors, words, table); });
  CHECK(table_values(table) == std::vector<float>{3, 4});
  CHECK(failures > 200);
  std::printf("%zu refused requests in readers\n", failures);
}

#endif
