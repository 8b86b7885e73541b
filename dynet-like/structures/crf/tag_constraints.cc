#include "dynet-like/structures/crf/tag_constraints.h"

#include <string_view>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

/// A parsed tag; `letter` is one of B, I, E, S and O.
struct Tag {
  char letter;
  std::string_view kind;

  bool continues() const { return letter == 'B' || letter == 'I'; }  // in BIOES and BMES
  bool is_inside() const { return letter == 'I' || letter == 'E'; }  // of a span with several words
};

Tag read(TagScheme scheme, std::string_view name) {
  const std::size_t hyphen = name.find('-');
  const std::string_view letters = name.substr(0, hyphen);
  const std::string_view kind = hyphen == name.npos ? "" : name.substr(hyphen + 1);
  char letter = letters.size() == 1 ? letters[0] : '?';
  std::string_view known = "BIO";
  if (scheme == TagScheme::bioes) {
    known = "BIOESLU";
    letter = letter == 'L' ? 'E' : letter == 'U' ? 'S' : letter;
  } else if (scheme == TagScheme::bmes) {
    known = "BMES";
  }
  if (known.find(letter) == known.npos || (letter == 'O' && hyphen != name.npos))
    throw ArgumentError("tag_constraints: \"" + std::string(name) + "\" is not a tag of " +
                        std::string(known) + ", such as B-X");
  return {letter == 'M' ? 'I' : letter, kind};
}

bool may_follow(TagScheme scheme, const Tag& before, const Tag& now) {
  const bool same = before.kind == now.kind;
  switch (scheme) {
    case TagScheme::bio:
      return now.letter != 'I' || (before.letter != 'O' && same);
    case TagScheme::iob1:
      return now.letter != 'B' || (before.letter != 'O' && same);
    case TagScheme::bioes:
    case TagScheme::bmes:
      return before.continues() ? now.is_inside() && same : !now.is_inside();
  }
  return true;
}

bool may_begin(TagScheme scheme, const Tag& tag) {
  return scheme == TagScheme::iob1 ? tag.letter != 'B' : !tag.is_inside();
}
bool may_end(TagScheme scheme, const Tag& tag) {
  return scheme == TagScheme::bio || scheme == TagScheme::iob1 || !tag.continues();
}

}  // namespace

TagConstraints tag_constraints(TagScheme scheme, const std::vector<std::string>& tags) {
  TagConstraints c;
  c.tags = static_cast<unsigned>(tags.size());
  std::vector<Tag> read_tags;
  for (const std::string& name : tags) read_tags.push_back(read(scheme, name));
  for (const Tag& now : read_tags) {
    c.begins.push_back(may_begin(scheme, now));
    c.ends.push_back(may_end(scheme, now));
    for (const Tag& before : read_tags) c.follows.push_back(may_follow(scheme, before, now));
  }
  return c;
}

}  // namespace dynet
