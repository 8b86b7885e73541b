// Compares two files written by bench-training --json: every figure of both, and its ratio.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

nlohmann::json read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(file).flatten();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Prints every figure of two JSON files of bench-training, and the ratio B / A.");
  std::string before, after;
  app.add_option("A", before, "a file of figures")->required();
  app.add_option("B", after, "another")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const nlohmann::json a = read(before), b = read(after);
    std::printf("%-60s %12s %12s %8s\n", "", "A", "B", "B / A");
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key)) {
        std::printf("%-60s only in A\n", key.c_str());
      } else if (value.is_number() && b[key].is_number()) {
        const double x = value.get<double>(), y = b[key].get<double>();
        std::printf("%-60s %12.5g %12.5g %8.3f\n", key.c_str(), x, y, y / x);
      } else if (value != b[key]) {
        std::printf("%-60s %s | %s\n", key.c_str(), value.dump().c_str(), b[key].dump().c_str());
      }
    }
    for (const auto& [key, value] : b.items())
      if (!a.contains(key)) std::printf("%-60s only in B\n", key.c_str());
  } catch (const std::exception& e) {
    std::cerr << "bench-compare: " << e.what() << "\n";
    return 1;
  }
}
