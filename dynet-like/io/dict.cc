#include "dynet-like/io/dict.h"

#include <algorithm>
#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"

namespace dynet {
namespace {

template <class Visit>
void for_each_word(std::string_view line, Visit visit) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  for (std::size_t at = line.find_first_not_of(kSpace); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    visit(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
}

}  // namespace

Dict::Dict(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (contains(word))
      throw ArgumentError("Dict: the word " + quoted_printable(word) + " comes twice");
    add(word);
  }
}

int Dict::find(std::string_view word) const {
  const auto i = d_.find(word);
  return i == d_.end() ? -1 : i->second;
}

int Dict::add(std::string_view word) {
  if (words_.size() >= static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw ArgumentError("Dict: there are more words than an int can number");
  const int id = static_cast<int>(words_.size());
  words_.emplace_back(word);
  try {
    d_.emplace(word, id);
  } catch (...) {
    words_.pop_back();
    throw;
  }
  return id;
}

int Dict::convert(std::string_view word) {
  const int id = find(word);
  if (id >= 0) return id;
  return frozen ? unknown(word) : add(word);
}

int Dict::convert(std::string_view word) const {
  const int id = find(word);
  return id >= 0 ? id : unknown(word);
}

int Dict::unknown(std::string_view word) const {
  if (map_unk) return unk_id;
  throw ArgumentError("Dict: the word " + quoted_printable(word) + " is unknown" +
                      (frozen ? " and the dictionary is frozen" : ""));
}

const std::string& Dict::convert(int id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= words_.size())
    throw IndexError("Dict: there is no word number " + std::to_string(id) + " among " +
                     std::to_string(words_.size()));
  return words_[static_cast<std::size_t>(id)];
}

void Dict::set_unk(std::string_view word) {
  if (!frozen) throw ArgumentError("Dict: set_unk comes after freeze");
  if (map_unk) throw ArgumentError("Dict: the unknown word is set already");
  const int id = find(word);
  unk_id = id >= 0 ? id : add(word);
  map_unk = true;
}

void Dict::clear() { *this = Dict(); }

std::vector<int> read_sentence(std::string_view line, Dict& dict) {
  std::vector<int> ids;
  for_each_word(line, [&](std::string_view word) { ids.push_back(dict.convert(word)); });
  return ids;
}

void read_sentence_pair(std::string_view line, std::vector<int>& source, Dict& source_dict,
                        std::vector<int>& target, Dict& target_dict) {
  constexpr std::string_view kSeparator = "|||";
  int separators = 0;
  for_each_word(line, [&](std::string_view word) { separators += word == kSeparator; });
  if (separators != 1)
    throw ArgumentError("read_sentence_pair: the line needs one \"|||\", got " +
                        std::to_string(separators) + ": " + printable(line));
  // Converts all words first: an unknown word leaves both lists unchanged.
  std::vector<int> first, second;
  bool behind = false;
  for_each_word(line, [&](std::string_view word) {
    if (word == kSeparator)
      behind = true;
    else if (behind)
      second.push_back(target_dict.convert(word));
    else
      first.push_back(source_dict.convert(word));
  });
  // Reserves before the first insertion, which then cannot fail; doubles for amortized growth.
  if (const std::size_t size = source.size() + first.size(); source.capacity() < size)
    source.reserve(2 * size);
  target.insert(target.end(), second.begin(), second.end());
  source.insert(source.end(), first.begin(), first.end());
}

}  // namespace dynet
