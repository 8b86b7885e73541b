// Checks that reading and writing many small objects takes linear time: each task runs with n
// objects and with 2 n.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/measure.h"
#include "dynet-like/compat/text_file.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/checkpoints.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/save.h"
#include "dynet-like/io/word_vectors.h"

namespace {

using namespace dynet;

std::string word(std::size_t i) { return "w" + std::to_string(i); }

// n parameters of one number, each in its own collection.
struct Many {
  ParameterCollection pc;

  explicit Many(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      pc.add_subcollection(word(i)).add_parameters({1}, ParameterInitConst(1), "p");
  }
};

std::vector<NamedTensor> many_tensors(std::size_t n) {
  std::vector<NamedTensor> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    all[i].name = word(i);
    all[i].shape = {1};
    all[i].bytes = std::string(4, '\0');
  }
  return all;
}

// Timed work, prepared for n items in a folder.
using Work = std::function<void()>;
struct Task {
  const char* name;
  std::function<Work(std::size_t n, const std::string& folder)> ready;
};

std::vector<Task> tasks() {
  const auto with_model = [](auto prepare, auto work) {
    return [=](std::size_t n, const std::string& folder) -> Work {
      const auto many = std::make_shared<Many>(n);
      prepare(folder + "/m", *many);
      return [=] { work(folder + "/m", *many); };
    };
  };
  const auto with_tensors = [](auto prepare, auto work) {
    return [=](std::size_t n, const std::string& folder) -> Work {
      const auto tensors = std::make_shared<std::vector<NamedTensor>>(many_tensors(n));
      prepare(folder + "/t", *tensors);
      return [=] { work(folder + "/t", *tensors); };
    };
  };
  const auto none = [](const std::string&, auto&) {};
  const auto saved = [](const std::string& path, Many& m) { save(path, m.pc); };
  const auto text = [](const std::string& path, Many& m) {
    m.pc.parameters_list()[0].gradients();
    TextFileSaver(path).save(m.pc);
  };
  return {
      {"add parameters of one name",
       [](std::size_t n, const std::string&) -> Work {
         return [n] {
           ParameterCollection pc;
           for (std::size_t i = 0; i < n; ++i) pc.add_parameters({1}, ParameterInitConst(1), "p");
         };
       }},
      {"add collections",
       [](std::size_t n, const std::string&) -> Work { return [n] { const Many many(n); }; }},
      {"save a model", with_model(none, saved)},
      {"load a model",
       with_model(saved, [](const std::string& path, Many& m) { load(path, m.pc); })},
      {"load a model, each name by a rule",
       with_model(saved,
                  [](const std::string& path, Many& m) {
                    LoadOptions options;
                    for (const Parameter& p : m.pc.parameters_list())
                      options.rename[p.get_fullname()] = p.get_fullname();
                    load(path, options, m.pc);
                  })},
      {"load a trainer",
       [](std::size_t n, const std::string& folder) -> Work {
         const auto many = std::make_shared<Many>(n);
         const auto adam = std::make_shared<AdamTrainer>(many->pc);
         for (const Parameter& p : many->pc.parameters_list()) p.gradients();
         adam->update();
         save(folder + "/m", *adam);
         return [=] { load(folder + "/m", *adam); };
       }},
      {"a trainer to text and back",
       [](std::size_t n, const std::string&) -> Work {
         const auto many = std::make_shared<Many>(n);
         const auto adam = std::make_shared<AdamTrainer>(many->pc);
         for (const Parameter& p : many->pc.parameters_list()) p.gradients();
         adam->update();
         return [=] {
           std::stringstream stream;
           adam->save(stream);
           adam->populate(stream);
         };
       }},
      {"write DyNet's text", with_model(none, text)},
      {"read DyNet's text", with_model(text, [](const std::string& path,
                                                Many& m) { TextFileLoader(path).populate(m.pc); })},
      {"write safetensors",
       with_tensors(none, [](const std::string& path, auto& t) { write_safetensors(path, t); })},
      {"read safetensors",
       with_tensors([](const std::string& path, auto& t) { write_safetensors(path, t); },
                    [](const std::string& path, auto&) { read_safetensors(path); })},
      {"load safetensors",
       with_model([](const std::string& path, Many& m) { save_safetensors(path, m.pc); },
                  [](const std::string& path, Many& m) { load_safetensors(path, m.pc); })},
      {"a dictionary to a file and back",
       [](std::size_t n, const std::string& folder) -> Work {
         const auto dict = std::make_shared<Dict>();
         for (std::size_t i = 0; i < n; ++i) dict->convert(word(i));
         return [=] {
           save(folder + "/d", *dict);
           load(folder + "/d", *dict);
         };
       }},
      {"load word vectors",
       [](std::size_t n, const std::string& folder) -> Work {
         const auto dict = std::make_shared<Dict>();
         for (std::size_t i = 0; i < n; ++i) dict->convert(word(i));
         const auto pc = std::make_shared<ParameterCollection>();
         const auto table = std::make_shared<LookupParameter>(
             pc->add_lookup_parameters(static_cast<unsigned>(n), {2}, ParameterInitConst(1)));
         save_word_vectors(folder + "/v", *dict, *table);
         return [=] {
           static_cast<void>(pc);
           load_word_vectors(folder + "/v", *dict, *table,
                             {.letters = VectorOptions::Case::fallback});
         };
       }},
      {"one line of so many numbers",
       [](std::size_t n, const std::string& folder) -> Work {
         const auto pc = std::make_shared<ParameterCollection>();
         pc->add_parameters({static_cast<unsigned>(100 * n)}, ParameterInitConst(0.1f));
         TextFileSaver(folder + "/l").save(*pc);
         return [=] { TextFileLoader(folder + "/l").populate(*pc); };
       }},
      {"one checkpoint more, all of them kept",
       [](std::size_t n, const std::string& folder) -> Work {
         const std::string path = folder + "/checkpoints-" + std::to_string(n);
         std::filesystem::create_directories(path);
         for (std::size_t i = 1; i <= n; ++i) {
           std::string digits = std::to_string(i);
           digits.insert(0, 20 - digits.size(), '0');
           const std::ofstream empty(path + "/checkpoint-" + digits + ".dynet");
         }
         return [=] { Checkpoints(path, 1u << 30).save(1); };
       }},
  };
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time of reading and writing n and 2 n small things.");
  std::string folder = std::filesystem::temp_directory_path().string(), only;
  std::size_t n = 20000;
  int rounds = 3;
  double most = 0;
  app.add_option("N", n, "number of things")->capture_default_str();
  app.add_option("--folder", folder, "where files are written")->capture_default_str();
  app.add_option("--rounds", rounds, "of which the fastest counts")->capture_default_str();
  app.add_option("--only", only, "works whose names contain this");
  app.add_option("--most", most, "status 1 if a ratio is above this; 0: none is");
  CLI11_PARSE(app, argc, argv);
  const std::filesystem::path own =
      std::filesystem::path(folder) / ("bench-file-scaling-" + std::to_string(getpid()));
  int status = 0;
  try {
    std::filesystem::create_directories(own);
    std::printf("calibrator %.1f GFLOP/s\n\n%-36s %10s %10s  ratio\n", bench::calibrator(), "",
                (std::to_string(n) + ", ms").c_str(), (std::to_string(2 * n) + ", ms").c_str());
    for (const Task& task : tasks()) {
      if (std::string(task.name).find(only) == std::string::npos) continue;
      double seconds[2];
      for (const std::size_t k : {0u, 1u}) {
        const Work work = task.ready(n << k, own.string());
        seconds[k] = bench::fastest(rounds, work);
      }
      const double ratio = seconds[1] / seconds[0];
      std::printf("%-36s %10.2f %10.2f %6.2f\n", task.name, 1e3 * seconds[0], 1e3 * seconds[1],
                  ratio);
      std::fflush(stdout);
      if (most > 0 && ratio > most) status = 1;
    }
  } catch (const std::exception& e) {
    std::cerr << "bench-file-scaling: " << e.what() << '\n';
    status = 2;
  }
  std::error_code ignored;
  std::filesystem::remove_all(own, ignored);
  return status;
}
