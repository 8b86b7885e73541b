#pragma once

#include <algorithm>
#include <vector>

#include "dynet-like/structures/semi_crf/attributes.h"

namespace dynet::test {

/// Adds all ways to go on from `way` with so many words to come.
inline void add_ways(unsigned labels, unsigned longest, unsigned words, std::vector<Segment>& way,
                     std::vector<std::vector<Segment>>& all) {
  if (words == 0) return all.push_back(way);
  for (unsigned label = 0; label < labels; ++label)
    for (unsigned length = 1; length <= std::min(longest, words); ++length) {
      way.push_back({label, length});
      add_ways(labels, longest, words - length, way, all);
      way.pop_back();
    }
}

/// All ways to cut so many words into labelled segments, in lexicographic order. Segments of one
/// word are a sequence of tags.
inline std::vector<std::vector<Segment>> all_ways(unsigned labels, unsigned longest,
                                                  unsigned words) {
  std::vector<std::vector<Segment>> all;
  std::vector<Segment> way;
  add_ways(labels, longest, words, way, all);
  return all;
}

/// The labels of segments.
inline std::vector<unsigned> labels_of(const std::vector<Segment>& segments) {
  std::vector<unsigned> labels;
  for (const Segment& s : segments) labels.push_back(s.label);
  return labels;
}

}  // namespace dynet::test
