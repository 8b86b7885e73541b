// Many small things: what is read, compared and stored by looking at all of the others each time
// would take hours here.

#include <chrono>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/word_vectors.h"
#include "tests/io/folder.h"
#include "tests/io/model.h"
#include "tests/support/prelude.h"

namespace many_test {

using namespace dynet;

namespace {

constexpr std::size_t kFew = 2000, kMany = 40000;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Twenty times as many things take at most a hundred times as long, where squares would take four
// hundred times. What takes next to no time is not compared.
void check_growth(const char* what,
                  const std::function<std::function<void()>(std::size_t n)>& ready) {
  const std::function<void()> few = ready(kFew), many = ready(kMany);
  double least = seconds(few);
  for (int i = 0; i < 2; ++i) least = std::min(least, seconds(few));
  const double taken = seconds(many);
  INFO(what << ": " << least << " s and " << taken << " s");
  CHECK(taken < 100 * least + 2);
}

std::string word(std::size_t i) { return "w" + std::to_string(i); }

struct Many {
  ParameterCollection pc;

  explicit Many(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      ParameterCollection part = pc.add_subcollection(word(i));
      part.add_parameters({1}, ParameterInitConst(1), "p");
      part.add_lookup_parameters(1, {1}, ParameterInitConst(1), "t");
    }
  }
};

}  // namespace

TEST_CASE("40,000 parameters and tables go through every format") {
  const TemporaryFolder folder;
  const auto check = [&](const char* what, auto save_to, auto load_from) {
    check_growth(what, [&, save_to, load_from](std::size_t n) -> std::function<void()> {
      const auto one = std::make_shared<Many>(n), two = std::make_shared<Many>(n);
      one->pc.parameters_list()[n - 1].stored().data[0] = 7;
      return [=, &folder] {
        const std::string path = folder / std::to_string(n);
        save_to(path, one->pc);
        load_from(path, two->pc);
        REQUIRE(two->pc.parameters_list()[n - 1].stored().data[0] == 7);
      };
    });
  };
  check(
      "a model file", [](auto& path, auto& pc) { save(path, pc); },
      [](auto& path, auto& pc) { load(path, pc); });
  check(
      "a model file with a rule for each name", [](auto& path, auto& pc) { save(path, pc); },
      [](auto& path, auto& pc) {
        LoadOptions options;
        for (const Parameter& p : pc.parameters_list())
          options.rename[p.get_fullname()] = p.get_fullname();
        load(path, options, pc);
      });
  check(
      "safetensors", [](auto& path, auto& pc) { save_safetensors(path, pc); },
      [](auto& path, auto& pc) { load_safetensors(path, pc); });
  check(
      "DyNet's text with gradients",
      [](auto& path, auto& pc) {
        for (const Parameter& p : pc.parameters_list()) plant(p, {1});
        for (const LookupParameter& t : pc.lookup_parameters_list()) plant_row(t, 0, {1});
        TextFileSaver(path).save(pc);
      },
      [](auto& path, auto& pc) { TextFileLoader(path).populate(pc); });
}

TEST_CASE("40,000 states of a trainer go through a file and through text") {
  const TemporaryFolder folder;
  check_growth("a trainer", [&](std::size_t n) -> std::function<void()> {
    const auto many = std::make_shared<Many>(n);
    const auto adam = std::make_shared<AdamTrainer>(many->pc);
    for (const Parameter& p : many->pc.parameters_list()) plant(p, {1});
    adam->update();
    return [=, &folder] {
      save(folder / std::to_string(n), *adam);
      load(folder / std::to_string(n), *adam);
      std::stringstream text;
      adam->save(text);
      adam->populate(text);
      REQUIRE(adam->state_views().size() == n);
    };
  });
}

TEST_CASE("40,000 words go through a dictionary and files of vectors") {
  const TemporaryFolder folder;
  check_growth("words", [&](std::size_t n) -> std::function<void()> {
    const auto dict = std::make_shared<Dict>();
    const auto pc = std::make_shared<ParameterCollection>();
    const auto table = std::make_shared<LookupParameter>(
        pc->add_lookup_parameters(static_cast<unsigned>(n), {1}, ParameterInitConst(1)));
    for (std::size_t i = 0; i < n; ++i) dict->convert("W" + std::to_string(i));
    return [=, &folder] {
      static_cast<void>(pc);
      const std::string path = folder / std::to_string(n);
      save(path, *dict);
      load(path, *dict);
      for (const VectorFormat format : {VectorFormat::text, VectorFormat::binary}) {
        save_word_vectors(path, *dict, *table, format);
        const VectorReport report = load_word_vectors(
            path, *dict, *table, {.format = format, .letters = VectorOptions::Case::fallback});
        REQUIRE(report.found == n);
      }
    };
  });
}

TEST_CASE("many pairs of sentences are read into two lists") {
  check_growth("pairs", [](std::size_t n) -> std::function<void()> {
    return [n] {
      Dict one, two;
      std::vector<int> source, target;
      for (std::size_t i = 0; i < n; ++i)
        read_sentence_pair("a b c ||| d e", source, one, target, two);
      REQUIRE(source.size() == 3 * n);
      REQUIRE(target.size() == 2 * n);
    };
  });
}

}  // namespace many_test
