#include "examples/nlp/common/vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "dynet-like/io/contents.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/text_input.h"
#include "examples/nlp/common/vocabulary.h"

namespace nlp {

WordVectors read_vectors(const std::string& path) {
  WordVectors vectors;
  for (const dynet::NamedTensor& tensor : dynet::read_tensors(path)) {
    if (tensor.name == "words") {
      vectors.words = split_fields(tensor.bytes, '\n');
      if (!vectors.words.empty() && vectors.words.back().empty()) vectors.words.pop_back();
    }
    if (tensor.name != "vectors" || tensor.type != dynet::NamedTensor::Type::F32 ||
        tensor.shape.size() != 2)
      continue;
    vectors.size = static_cast<unsigned>(tensor.shape[1]);
    vectors.numbers.resize(tensor.count());
    std::memcpy(vectors.numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  }
  if (vectors.size == 0 || vectors.words.size() * vectors.size != vectors.numbers.size())
    throw UserError(path + " holds no word vectors");
  for (std::size_t i = 0; i < vectors.numbers.size(); ++i)  // files may contain NaN
    if (!std::isfinite(vectors.numbers[i]))
      throw UserError(path + ": a number of the word " +
                      in_quotes(vectors.words[i / vectors.size]) + " is not finite");
  return vectors;
}

std::vector<std::string> with_words_of(const WordVectors& vectors, std::vector<std::string> known) {
  std::unordered_set<std::string> seen(known.begin(), known.end());
  for (const std::string& word : vectors.words)
    if (seen.insert(word).second) known.push_back(word);
  return known;
}

void use_vectors(const WordVectors& vectors, const std::vector<std::string>& words,
                 std::size_t trained, dynet::LookupParameter& table, std::ostream& out) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < vectors.words.size(); ++i) places.try_emplace(vectors.words[i], i);
  Ratio found;
  for (std::size_t row = 0; row < words.size(); ++row) {
    auto place = places.find(words[row]);
    if (place == places.end()) place = places.find(lower_cased(words[row]));
    const bool has_one = place != places.end();
    if (row < trained && words[row] != kUnknown) found.count(has_one);
    if (!has_one) continue;
    const auto begin =
        vectors.numbers.begin() + static_cast<std::ptrdiff_t>(place->second * vectors.size);
    table.initialize(static_cast<unsigned>(row), {begin, begin + vectors.size});
  }
  out << "vectors: " << with_commas(places.size()) << " words of " << vectors.size
      << " numbers, for " << percent(found.value()) << " of the " << with_commas(found.total)
      << " words of the training data" << std::endl;
  if (found.right == 0) warn("no word of the training data has a vector in that file");
}

}  // namespace nlp
