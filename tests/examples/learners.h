#pragma once

#include "tests/examples/digits_data.h"
#include "tests/examples/programs.h"
#ifdef EMOJI_BINARY
#include "examples/mixed/emoji/gather.h"
#endif

/// A program, or a kind of model of one, with varied data from which a small model learns
/// something.
struct Learner {
  std::string name;
  Program program;
  std::string commands;  ///< as an error lists them
  /// Writes data and returns their name on a command line. The seed is 1 for training data.
  std::function<std::string(const ProgramFolder& folder, const std::string& name, unsigned seed)>
      data;
  std::string small;  ///< options of a small model
  std::string plain;  ///< options of one whose other options are the usual ones
  Strings others;     ///< options that make another run of it
  Strings resumed;    ///< options of runs that are resumed
  /// Options of the last of these runs: name, value, another value.
  std::vector<std::array<std::string, 3>> fixed;
  /// Shell commands that change one thing each of the training data, which resumed runs notice.
  Strings changes;
  bool splits = true;  ///< has --split and --part
};

/// Sentences of a small language: "the cat that the dog saw sleeps ." The last verb must agree with
/// the first noun, across a clause with a noun of its own, which three tokens do not show.
inline std::string sentences(unsigned count, unsigned seed) {
  Dice dice(seed);
  const auto below = [&](unsigned limit) { return dice.below(limit); };
  const Strings nouns = {"cat", "dog", "cow", "hen"};
  const Strings verbs = {"sleep", "eat", "sing"};
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const bool many = below(2) == 1;
    text += "the " + nouns[below(4)] + (many ? "s" : "");
    if (below(4) > 0) text += " that the " + nouns[below(4)] + (below(2) ? "s" : "") + " saw";
    text += " " + verbs[below(3)] + (many ? "" : "s") + " .\n";
  }
  return text;
}

namespace learners_detail {

/// "the big dog sees a small cat ." and so on: tags that follow from the words, with one word that
/// needs its neighbours, and words that appear in other parts than that of training alone.
inline std::string tagged(unsigned count, unsigned seed) {
  const Strings adjectives = {"big", "small", "red", "old"};
  const Strings nouns = {"dog", "cat", "house", "tree", "watch"};
  const Strings verbs = {"sees", "likes", "watch", "takes"};
  Dice dice(seed);
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const bool is_new = seed > 1 && i % 4 == 0;
    const std::string noun = is_new ? "zebra" + std::to_string(i) : dice.one_of(nouns);
    text += "the|DET " + dice.one_of(adjectives) + "|ADJ " + noun + "|NOUN " + dice.one_of(verbs);
    text +=
        "|VERB a|DET " + dice.one_of(adjectives) + "|ADJ " + dice.one_of(nouns) + "|NOUN .|PUNCT\n";
  }
  return text;
}

/// Sentences of a small language in CoNLL-U. Tags do not tell all: what "of" brings belongs to the
/// noun before it, what "with" brings to the verb.
class Sentences : Dice {
 public:
  explicit Sentences(unsigned seed) : Dice(seed) {}

  std::string next() {
    words_.clear();
    const std::size_t subject = noun_phrase("nsubj", 1);
    const std::size_t verb = add(one_of<std::string>({"sees", "likes", "hits"}), "VERB", "root");
    hang(subject, verb);
    hang(noun_phrase("obj", 2), verb);
    if (below(2) == 0) {
      const std::size_t with = add("with", "ADP", "case");
      const std::size_t tool = noun_phrase("obl", 1);
      hang(with, tool);
      hang(tool, verb);
    }
    hang(add(".", "PUNCT", "punct"), verb);
    std::string text;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const Word& word = words_[i];
      text += std::to_string(i + 1) + "\t" + word.form + "\t_\t" + word.tag + "\t_\t_\t" +
              std::to_string(word.head) + "\t" + word.label + "\t_\t_\n";
    }
    return text + "\n";
  }

 private:
  struct Word {
    std::string form, tag, label;
    std::size_t head = 0;
  };

  std::size_t add(const std::string& form, const std::string& tag, const std::string& label) {
    words_.push_back({form, tag, label, 0});
    return words_.size();
  }
  void hang(std::size_t word, std::size_t head) { words_[word - 1].head = head; }

  /// Returns its noun.
  std::size_t noun_phrase(const std::string& label, unsigned depth) {
    const std::size_t first = words_.size() + 1;
    add(one_of<std::string>({"the", "a"}), "DET", "det");
    if (below(3) == 0) add(one_of<std::string>({"big", "old", "red"}), "ADJ", "amod");
    const std::size_t noun = add(one_of<std::string>({"cat", "dog", "king", "hat"}), "NOUN", label);
    for (std::size_t word = first; word < noun; ++word) hang(word, noun);
    if (depth > 0 && below(3) == 0) {
      const std::size_t of = add("of", "ADP", "case");
      const std::size_t owner = noun_phrase("nmod", depth - 1);
      hang(of, owner);
      hang(owner, noun);
    }
    return noun;
  }

  std::vector<Word> words_;
};

inline std::string parsed(unsigned count, unsigned seed) {
  Sentences sentences(seed);
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += sentences.next();
  return text;
}

/// A phrase as a tree with its sentiment: "not" turns what it stands before into its opposite,
/// "very" makes it stronger, and of two other phrases the second one counts, unless it is neutral.
struct Phrase {
  unsigned label;
  std::string text;

  static Phrase joined(unsigned label, const std::string& left, const std::string& right) {
    return {label, "(" + std::to_string(label) + " " + left + " " + right + ")"};
  }
  static Phrase drawn(Dice& dice, unsigned depth) {
    static const std::vector<Phrase> kWords = {{4, "(4 great)"}, {3, "(3 good)"}, {3, "(3 nice)"},
                                               {1, "(1 bad)"},   {1, "(1 dull)"}, {0, "(0 awful)"},
                                               {2, "(2 film)"},  {2, "(2 the)"}};
    if (depth == 0) return dice.one_of(kWords);
    const unsigned kind = dice.below(4);
    const Phrase first = drawn(dice, depth - 1);
    if (kind == 0) return joined(4 - first.label, "(2 not)", first.text);
    if (kind == 1)
      return joined(first.label > 2 ? 4 : first.label < 2 ? 0 : 2, "(2 very)", first.text);
    const Phrase second = drawn(dice, dice.below(depth));
    return joined(second.label == 2 ? first.label : second.label, first.text, second.text);
  }
};

inline std::string trees(unsigned count, unsigned seed) {
  Dice dice(seed);
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += Phrase::drawn(dice, 4).text + "\n";
  return text;
}

/// Texts of which only the order of two words tells the label: "do you" asks, "you do" says.
inline std::string labelled(unsigned count, unsigned seed) {
  static const Strings kOthers = {"now", "then", "here", "there", "well", "so"};
  Dice dice(seed);
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    const bool asks = dice.below(5) < 3;
    Strings words;
    for (unsigned k = dice.below(4); k > 0; --k) words.push_back(dice.one_of(kOthers));
    words.push_back(asks ? "Do you" : "you do");
    for (unsigned k = dice.below(4); k > 0; --k) words.push_back(dice.one_of(kOthers));
    all += (asks ? "question\t" : "plain statement\t") + join(words, " ") + "\n";
  }
  return all;
}

/// Digits and their names, of which the last comes first.
inline std::string pairs(unsigned count, unsigned seed) {
  static const Strings kNames = {"zero", "one", "two", "three", "four"};
  Dice dice(seed);
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    std::string digits, names;
    for (unsigned k = 1 + dice.below(4); k > 0; --k) {
      const unsigned digit = dice.below(kNames.size());
      digits += std::to_string(digit) + (k > 1 ? " " : "");
      names = kNames[digit] + (names.empty() ? "" : " ") + names;
    }
    all += digits + '\t' + names + '\n';
  }
  return all;
}

const std::array<unsigned, 3> kDigits = {0, 1, 3};

/// Shades of a picture of 8x8 with a line somewhere: 0 is upright, 1 lies, 3 is oblique.
inline std::vector<unsigned> shades(unsigned label, Dice& dice) {
  std::vector<unsigned> all(64);
  for (unsigned& shade : all) shade = dice.below(60);
  const unsigned at = 2 + dice.below(4);
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned row = label == 1 ? at : k;
    const unsigned column = label == 0 ? at : label == 1 ? k : (k + at) % 8;
    all[row * 8 + column] = 180 + dice.below(70);
  }
  return all;
}

/// A pair of IDX files, as --train has them.
inline std::string pictures(const ProgramFolder& folder, const std::string& name, unsigned seed) {
  const unsigned count = seed == 1 ? 240 : 60;
  Dice dice(seed);
  std::vector<unsigned> all, labels;
  for (unsigned i = 0; i < count; ++i) {
    labels.push_back(kDigits[i % 3]);
    for (const unsigned shade : shades(labels.back(), dice)) all.push_back(shade);
  }
  folder.write(name + "-images", idx({count, 8, 8}, all));
  folder.write(name + "-labels", idx({count}, labels));
  return name + "-images:" + name + "-labels";
}

#ifdef EMOJI_BINARY
/// A picture of 8 x 8 that is bright on the left, or on the right.
inline std::string picture(bool left, Dice& dice) {
  emoji::Sample sample;
  sample.image = emoji::Picture{8, {}};
  for (unsigned i = 0; i < 64 * emoji::Picture::kChannels; ++i) {
    const bool bright = (i / emoji::Picture::kChannels % 8 < 4) == left;
    sample.image->points.push_back(
        static_cast<std::uint8_t>(dice.below(60) + (bright ? 190u : 0u)));
  }
  const std::string line = emoji::line_of(sample);
  return line.substr(1, line.size() - 2);  // "image": "..." alone
}

/// Things of two groups with two subgroups each. The group is in the words, the subgroup in the
/// row; a third of them lacks words, a third the row, and all have a picture that says nothing.
inline std::string things(unsigned count, unsigned seed) {
  Dice dice(seed);
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    const bool animal = dice.below(2) == 0, old = dice.below(5) < 2;
    const std::string group = animal ? "Animals" : "Tools";
    std::string line = "{\"emoji\":\"" + std::to_string(seed * 1000 + i) + "\",\"group\":\"" +
                       group + "\",\"subgroup\":\"" + group + (old ? "-old" : "-new") + "\"";
    const unsigned lacks = dice.below(3);
    if (lacks != 0) {
      const Strings words = animal ? Strings{"cat", "dog", "fox"} : Strings{"saw", "axe", "awl"};
      line += ",\"words\":[\"" + dice.one_of(words) + "\",\"" + dice.one_of(words) + "\"]";
    }
    if (lacks != 1)
      line += std::string(",\"row\":{\"age\":") + (old ? "9" : "2") + ",\"colour\":\"" +
              (dice.below(2) ? "red" : "blue") + "\"}";
    all += line + "," + picture(dice.below(2) == 0, dice) + "}\n";
  }
  return all;
}
#endif

}  // namespace learners_detail

inline const std::vector<Learner>& learners() {
  namespace make = learners_detail;
  const auto texts = [](std::string (*text)(unsigned, unsigned), unsigned train, unsigned others) {
    return [=](const ProgramFolder& folder, const std::string& name, unsigned seed) {
      folder.write(name, text(seed == 1 ? train : others, seed));
      return name;
    };
  };
  const Program rnnlm{"rnnlm", RNNLM_BINARY};
  const std::string rotary = "--samples 8 --warmup 150 --context 5 --parts 2 --positions rotary";
  static const std::vector<Learner> all = {
      {"tagger",
       {"tagger", TAGGER_BINARY},
       "train, eval, tag or serve",
       texts(make::tagged, 150, 30),
       "--features word:16,suffix3:8 --hidden 16 --learning-rate 0.01",
       "--hidden 16",
       {"--seed 2", "--features charlstm:8,lower:8", "--features charcnn:8", "--layers 2",
        "--mlp 8", "--crf", "--batch 4 --parts 3", "--clip 0.01", "--dropout 0.2", "--decay 0.5",
        "--unknown 10", "--learning-rate 0.01"},
       {"--decay 0.9"},
       {{"--seed", "1", "9"}},
       {"sed -i '1s/the|/a|/' train", "sed -i '1s/|DET/|ADJ/' train"}},
      {"rnnlm",
       rnnlm,
       "train, eval, score or sample",
       texts(sentences, 400, 60),
       "--word 16 --hidden 24 --learning-rate 0.02 --dropout 0.1 --decay 0.9",
       "--word 16 --hidden 24",
       {"--seed 2", "--optimizer sgd", "--loss sampled --samples 8", "--truncate 3",
        "--batch-tokens 60", "--batch 3 --parts 2", "--warmup 20", "--level char", "--clip 0.01",
        "--min-count 40", "--layers 2"},
       {"--optimizer adam --loss full --truncate 4",
        "--optimizer adam --loss sampled --samples 8 --truncate 4",
        "--optimizer sgd --loss full --truncate 4",
        "--optimizer sgd --loss sampled --samples 8 --truncate 4"},
       {{"--seed", "1", "9"}, {"--optimizer", "sgd", "adam"}},
       {"sed -i '1s/the/a/' train", "sed -i '1{N;s/\\n/ /}' train"}},
      // An epoch has fewer updates than the warm-up, so the rate still grows in a resumed run.
      {"rnnlm transformer",
       rnnlm,
       "train, eval, score or sample",
       texts(sentences, 400, 60),
       "--network transformer --hidden 24 --learning-rate 0.01 --dropout 0.1 --decay 0.9",
       "--network transformer --hidden 24",
       {"--seed 2", "--positions sinusoidal", "--positions learned", "--context 4", "--heads 2",
        "--feed-forward 32", "--warmup 4", "--optimizer sgd"},
       {rotary + " --loss full --threads 2", rotary + " --loss sampled --threads 2"},
       {{"--network", "transformer", "lstm"},
        {"--positions", "rotary", "learned"},
        {"--context", "5", "7"},
        {"--warmup", "150", "7"},
        {"--heads", "4", "2"},
        {"--feed-forward", "96", "7"}},
       {"sed -i '$d' train"}},
      {"treelstm",
       {"treelstm", TREELSTM_BINARY},
       "train, eval or classify",
       texts(make::trees, 300, 60),
       "--word 12 --hidden 16 --dropout 0.1 --learning-rate 0.01 --batch 4",
       "",
       {"--seed 2", "--word 100", "--hidden 100", "--batch 15", "--clip 0.01", "--dropout 0.4",
        "--decay 0.5", "--unknown 10", "--learning-rate 0.002", "--weight-decay 0.01"},
       {"--decay 0.9 --weight-decay 0.001"},
       {{"--weight-decay", "0.001", "0.002"}, {"--keep-case", "off", ""}},
       {"sed -i '1s/^(./(2/' train", "sed -i '1s/ [a-z]*)/ word)/' train"},
       false},
      {"parser",
       {"parser", PARSER_BINARY},
       "train, eval, parse, serve or score",
       texts(make::parsed, 200, 50),
       "--word 12 --hidden 16 --layers 1 --dropout 0.1 --learning-rate 0.01 --batch 4",
       "",
       {"--seed 2", "--word 80", "--tag 10", "--hidden 80", "--layers 1", "--mlp 50", "--batch 7",
        "--clip 0.01", "--dropout 0.4", "--decay 0.5", "--unknown 100", "--learning-rate 0.001"},
       {""},
       {{"--hidden", "16", "17"}},
       {"sed -i '1s/1.[a-z]*/1\\tno/' train", "sed -i '1s/DET/ADJ/' train",
        "sed -i '1s/det/amod/' train", "sed -i '1s/[0-9]*.det/4\\tdet/' train"},
       false},
#ifdef ANNOTATE_BINARY
      {"annotate",
       {"annotate", ANNOTATE_BINARY},
       "train, eval, run or serve",
       texts(make::parsed, 200, 50),
       "--letter 8 --letter-hidden 8 --word 12 --char 8 --hidden 16 --tree-hidden 16 --mlp 8 "
       "--arc 16 --label 8 --dropout 0.1 --learning-rate 0.01 --batch 4",
       "--hidden 100 --tree-hidden 100",
       {"--seed 2", "--word 80", "--char 50", "--arc 80", "--tree-layers 2", "--mlp 50",
        "--batch 7", "--clip 0.01", "--dropout 0.3", "--decay 0.5", "--unknown 100",
        "--learning-rate 0.001", "--letter-hidden 32", "--label 40", "--letter-dropout 0.5",
        "--hide 0.9", "--only segmenter", "--only tagger", "--only parser"},
       {""},
       {{"--hidden", "16", "17"}},
       {"sed -i '1s/DET/ADJ/' train"},
       false},
#endif
      {"classifier",
       {"classifier", CLASSIFIER_BINARY},
       "train, eval or classify",
       texts(make::labelled, 300, 60),
       "--word 8 --hidden 8 --filters 8 --batch 8 --learning-rate 0.01 --dropout 0.1",
       "",
       {"--seed 2", "--word 90", "--hidden 60", "--filters 60", "--batch 15", "--clip 0.01",
        "--dropout 0.4", "--decay 0.5", "--unknown 10", "--keep-case", "--encoder cnn",
        "--encoder lstm", "--split 8/1/1", "--learning-rate 0.001"},
       {"--decay 0.9"},
       {{"--encoder", "both", "cnn"}, {"--filters", "8", "9"}},
       {"sed -i '1s/^[a-z ]*/new/' train", "sed -i '1s/$/ now/' train"}},
      {"translate",
       {"translate", TRANSLATE_BINARY},
       "train, eval or translate",
       texts(make::pairs, 400, 40),
       "--hidden 8 --batch 10 --learning-rate 0.005 --copy",
       "--hidden 8 --batch 10",
       {"--seed 2", "--copy", "--own-tokens 0.5", "--average 0.5", "--attention dot",
        "--attention additive", "--smoothing 0", "--batch-tokens 20", "--source-unit char",
        "--target-unit piece --pieces 3", "--layers 2",
        "--network transformer --heads 2 --feed-forward 16 --warmup 5"},
       {"--average 0.5"},
       {{"--average", "0.5", "0.6"}},
       {"sed -i '1s/^./9/' train", "sed -i '1s/$/ one/' train"}},
#ifdef EMOJI_BINARY
      {"emoji",
       {"emoji", EMOJI_BINARY},
       "gather, train, eval or predict",
       texts(make::things, 240, 80),
       "--filters 2 --word 8 --hidden 16 --batch 8 --dropout 0.1 --learning-rate 0.01",
       "--filters 2",
       {"--seed 2", "--word 90", "--hidden 60", "--batch 15", "--clip 0.01", "--dropout 0.4",
        "--drop-parts 0", "--decay 0.5", "--unknown 10", "--inputs text", "--split 8/1/1",
        "--learning-rate 0.001", "--split-seed 2"},
       {""},
       {{"--drop-parts", "0.5", "0"}, {"--inputs", "image,text,table", "text"}},
       {"sed -i '1,9s/Tools/Animals/g' train"}},
#endif
      {"digits",
       {"digits", DIGITS_BINARY},
       "train, eval or classify",
       make::pictures,
       "--channels 4 --batch 16 --learning-rate 0.01 --dropout 0.1 --shift 1",
       "--channels 4 --batch 8",
       {"--seed 2", "--clip 0.01", "--shift 0", "--dropout 0.5", "--mirror", "--size 9x7",
        "--split 8/1/1", "--learning-rate 0.001", "--decay 0.5"},
       {"--size 9x10"},
       {{"--channels", "4", "5"}},
       {"LC_ALL=C sed -i '1s/\\(.\\{8\\}\\)./\\1\\x03/' train-labels",
        "LC_ALL=C sed -i '1s/\\(.\\{16\\}\\)./\\1\\xff/' train-images"}}};
  return all;
}

#ifdef EMOJI_BINARY
/// Whether the files are there from which emoji are gathered; says so, after `skip`, if not.
inline bool emoji_packages_are_there() {
  const emoji::Sources s;
  const bool there = std::filesystem::exists(s.unicode + "/emoji/emoji-test.txt") &&
                     std::filesystem::exists(s.cldr + "/common/annotations/en.xml") &&
                     std::filesystem::exists(s.font);
  if (!there) skip("needs unicode-data, unicode-cldr-core and fonts-noto-color-emoji");
  return there;
}
#endif

/// Two verses of the Bible, again and again, with references.
inline std::string verses() {
  std::string text;
  for (int i = 1; i <= 200; ++i)
    text += "Ge1:" + std::to_string(i) +
            (i % 2 == 0 ? " And God said, Let there be light: and there was light.\n"
                        : " But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  return text;
}

/// A folder with the data of a learner, whose names scripts have as $train, $dev and $test; in them
/// `train` trains a small model of $train and $dev.
class Workshop : public ProgramFolder {
 public:
  explicit Workshop(const Learner& of) : ProgramFolder(of.program) {
    for (const auto& [name, seed] : {std::pair("train", 1u), {"dev", 2u}, {"test", 3u}})
      functions_ += std::string(name) + "=" + of.data(*this, name, seed) + "; ";
    functions_ += "train() { p train --train $train --dev $dev " + of.small + " \"$@\"; }\n";
  }
  explicit Workshop(const std::string& name) : Workshop(find(name)) {}

 private:
  static const Learner& find(const std::string& name) {
    for (const Learner& each : learners())
      if (each.name == name) return each;
    throw std::logic_error("no learner " + name);
  }
};
