#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annotate {

/// Rule that turns a word into another, such as a form into its lemma. Words that change alike have
/// the same rule, so that a classifier can choose one for an unseen word: "cats" to "cat" and
/// "dogs" to "dog" remove the last letter. Straka (2018), "UDPipe 2.0 prototype at CoNLL 2018 UD
/// shared task", section 4.3, describes lemmatization by such rules.
///
/// A rule keeps the longest substring that both words share, and says how its two sides change:
/// `l0,0,0,0,1:` is "lower-case the word; before the substring, after 0 letters, remove 0 and
/// insert the first 0 letters that follow the colon; behind it, before the last 0 letters, remove 1
/// and insert the rest". The first letter is that of the case: `l` lower, `u` upper, `t` the first
/// letter upper and the rest lower, `k` as it is. Words that share nothing have the rule `=` and
/// the new word. Both are valid UTF-8.
std::string edit_script(std::string_view from, std::string_view to);

/// The word that a rule makes of another, or nothing if the word is too short for it, or the text
/// is no rule.
std::optional<std::string> apply_edit_script(std::string_view script, std::string_view word);

/// Changes that a rule makes to case, beginning and end of a word, each as a text that is
/// the same for rules that do the same there. Empty for a rule that inserts a whole word.
std::vector<std::string> parts_of_edit_script(std::string_view script);

/// Rule that cuts a token into the words that it is made of. Where these are its letters, as in
/// "don't" = "do" + "n't", it is `c` and the distances of the cuts from the end, `c3`; else, as in
/// French "du" = "de" + "le", `e` and the edit script to the words with spaces between them.
std::string split_script(std::string_view token, const std::vector<std::string>& words);

/// The words that a rule makes of a token, at least two and none of them empty, or nothing if it
/// cannot.
std::vector<std::string> apply_split_script(std::string_view script, std::string_view token);

}  // namespace annotate
