#pragma once

#include <string>
#include <vector>

namespace dynet {

/// Encodings of spans as tags of words.
enum class TagScheme {
  bio,    ///< B-X begins a span of kind X, I-X continues it, O is outside (also IOB2)
  iob1,   ///< I-X begins or continues; B-X begins directly after a span of the same kind
  bioes,  ///< as BIO; E-X ends a span of several words, S-X is a span of one word (also BILOU)
  bmes,   ///< B, M, E and S, with or without kinds; every word is in a span
};

/// Allowed successions of tags.
struct TagConstraints {
  unsigned tags = 0;
  std::vector<bool> follows;       ///< whether tag j may follow tag i, at i + tags * j
  std::vector<bool> begins, ends;  ///< by tag: whether a sequence may begin or end with it

  /// Compares all members.
  bool operator==(const TagConstraints&) const = default;
};

/// Constraints of a scheme for tags with these names: a letter, and usually a hyphen and a kind. In
/// BIOES, L and U are synonyms of E and S. Throws ArgumentError for a name outside the scheme.
TagConstraints tag_constraints(TagScheme scheme, const std::vector<std::string>& tags);

}  // namespace dynet
