#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "examples/nlp/common/text.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

using dynet::ComputationGraph;
using dynet::Expression;
using dynet::read_file;
using dynet::TemporaryFolder;
using nlp::join;
using nlp::split_fields;
using nlp::split_words;
using Strings = std::vector<std::string>;

/// Draws for test data: the same everywhere.
class Dice {
 public:
  explicit Dice(unsigned seed) : state_(seed) {}
  unsigned below(std::size_t limit) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<unsigned>((state_ >> 16) % limit);
  }
  template <typename T>
  const T& one_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

 private:
  unsigned state_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The message of the exception that `action` throws.
template <typename Action>
std::string error_from(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

/// Name of the folder with data sets; empty, after `skip`, where DYNET_DATA names none.
inline std::string data_folder(const std::string& sets) {
  const char* const data = std::getenv("DYNET_DATA");
  if (data == nullptr) skip("DYNET_DATA names no folder with " + sets);
  return data == nullptr ? "" : data;
}

/// Output of the program of the Debian package bible-kjv; empty, after `skip`, where there is none.
inline std::string king_james_text() {
  FILE* const pipe = popen("bible -f Gen1:1-Rev22:21 2>/dev/null", "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[65536];
  for (std::size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    text.append(buffer, got);
  }
  if (pclose(pipe) == 0) return text;
  skip("the program of the Debian package bible-kjv is not installed");
  return "";
}
