#include "dynet-like/compat/pretrain.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <utility>

#include "dynet-like/base/errors.h"

namespace dynet {

void save_pretrained_embeddings(const std::string& filename, const Dict& words,
                                const LookupParameter& table) {
  if (table.size() < words.size())
    throw ArgumentError("save_pretrained_embeddings: " + std::to_string(words.size()) +
                        " words need as many rows, got " + std::to_string(table.size()));
  std::ofstream out(filename);
  out.precision(std::numeric_limits<float>::max_digits10);
  for (std::size_t i = 0; i < words.size(); ++i) {
    out << words.get_words()[i];
    for (const float x : as_vector(table.row(static_cast<unsigned>(i)))) out << ' ' << x;
    out << '\n';
  }
  out.close();
  if (!out) throw FileError(filename + ": cannot be written");
}

void read_pretrained_embeddings(const std::string& filename, Dict& words,
                                std::unordered_map<int, std::vector<float>>& vectors) {
  std::ifstream in(filename);
  if (!in) throw FileError(filename + ": cannot be opened");
  std::vector<std::pair<std::string, std::vector<float>>> all;
  std::size_t number = 0;
  const auto fail = [&](const std::string& why) {
    throw FileError(filename + ":" + std::to_string(number) + ": " + why);
  };
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::vector<std::string_view> fields;
    for (std::size_t at = line.find_first_not_of(" \t\r"); at != line.npos;) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      fields.push_back(std::string_view(line).substr(at, end - at));
      at = line.find_first_not_of(" \t\r", end);
    }
    if (fields.empty() || (number == 1 && fields.size() == 2)) continue;
    std::vector<float> vector;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      float x = 0;
      const auto [end, error] =
          std::from_chars(fields[i].data(), fields[i].data() + fields[i].size(), x);
      if (error != std::errc() || end != fields[i].data() + fields[i].size())
        fail('"' + std::string(fields[i]) + "\" is no number");
      vector.push_back(x);
    }
    if (!all.empty() && vector.size() != all.front().second.size())
      fail("needs " + std::to_string(all.front().second.size()) + " numbers, got " +
           std::to_string(vector.size()));
    all.emplace_back(fields[0], std::move(vector));
  }
  if (in.bad()) fail("cannot be read");
  for (auto& [word, vector] : all)
    if (!words.is_frozen() || words.contains(word))
      vectors[words.convert(word)] = std::move(vector);
}

}  // namespace dynet
