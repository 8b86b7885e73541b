// Models that were made to do harm, with right checksums: one sentence that names the file.

#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <tuple>
#include <type_traits>

#include "dynet-like/io/model_file.h"
#include "dynet-like/param/storage.h"
#include "examples/mixed/emoji/model.h"
#include "examples/nlp/annotate/train.h"
#include "examples/nlp/classifier/model.h"
#include "examples/nlp/common/model_file.h"
#include "examples/nlp/parser/model.h"
#include "examples/nlp/rnnlm/model.h"
#include "examples/nlp/rnnlm/train.h"
#include "examples/nlp/tagger/model.h"
#include "examples/nlp/translate/model.h"
#include "examples/nlp/translate/train.h"
#include "examples/nlp/treelstm/model.h"
#include "examples/nlp/treelstm/train.h"
#include "examples/vision/digits/model.h"
#include "tests/examples/helpers.h"

namespace hostile_models_test {

const TemporaryFolder& folder() {
  static const TemporaryFolder all;
  return all;
}

/// A model file whose description need not be one that a model can be made of.
template <class Model>
struct Forged {
  const std::string kind = nlp::model_kind(Model::kProgram);
  const typename Model::Description& description;
  const dynet::ParameterCollection& weights;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive << kind << description << weights;
  }
};

/// The file `to`, as `from` but for its first archive.
void forge_archive(const std::string& from, const std::string& to,
                   const std::function<void(std::string&)>& change) {
  const dynet::ModelFile file(from);
  Strings sections;
  for (const dynet::SavedThing& thing : file.index().things)
    sections.push_back(file.read(thing.data));
  for (const dynet::SavedGroup& group : file.index().groups)
    for (const dynet::SavedTensor& tensor : group.tensors)
      sections.push_back(file.read(tensor.data));
  change(sections[0]);
  dynet::write_model_file(to, file.index(), {sections.begin(), sections.end()});
}

/// A good description is one, and each of the changes makes it one that is refused.
template <class Model>
void check_changes(const typename Model::Description& good,
                   const std::vector<std::function<void(typename Model::Description&)>>& changes) {
  const std::string path = folder().path(Model::kProgram);
  const Model model(good, 1);
  nlp::save_model(path, model);
  REQUIRE(error_from([&] { nlp::load_model<Model>(path); }) == "no error");
  for (std::size_t i = 0; i < changes.size(); ++i) {
    typename Model::Description changed = good;
    changes[i](changed);
    dynet::save(path, Forged<Model>{.description = changed, .weights = model.parameters()});
    INFO(Model::kProgram << ", change " << i);
    const std::string error = error_from([&] { nlp::load_model<Model>(path); });
    INFO(error);
    CHECK(error.starts_with(path + " was damaged or altered: "));
  }
}

tagger::Description tagger_description() {
  tagger::Description d;
  d.settings.features = {{"word", 2}};
  d.settings.hidden = 2;
  d.settings.crf = true;
  d.views = {{"<unk>", "a"}};
  d.tags = {"B-X", "I-X", "O"};
  d.allowed = dynet::tag_constraints(dynet::TagScheme::bio, d.tags);
  return d;
}

rnnlm::Description rnnlm_description() {
  rnnlm::Description d;
  d.settings.word = d.settings.hidden = 4;
  d.tokens = {"</s>", "<unk>", "a"};
  d.data.ngram = 2;
  d.ngram = rnnlm::Ngram(2, 3, {{2, 2, 2}});
  return d;
}

template <class T>
bool accepts(const T& checked) {
  return error_from([&] { checked.check(); }) == "no error";
}

/// Each of the fields may have the values from `low` to `high`, and no others.
template <class T, class Low, class High, class... Fields>
void bounds(const T& good, Low low, High high, Fields... fields) {
  REQUIRE(accepts(good));
  const auto check = [&]<class Base, class Value>(Value Base::*field) {
    const auto takes = [&](auto value) {
      T changed = good;
      changed.*field = static_cast<Value>(value);
      return accepts(changed);
    };
    const auto least = static_cast<Value>(low), most = static_cast<Value>(high);
    INFO("a field of up to " << static_cast<double>(high));
    CHECK(takes(least));
    CHECK(takes(most));
    if constexpr (std::is_floating_point_v<Value>) {
      CHECK_FALSE(takes(std::nextafter(least, Value(-1))));
      CHECK_FALSE(takes(std::nextafter(most, Value(1e10))));
    } else {
      if (static_cast<unsigned>(low) > 0) CHECK_FALSE(takes(static_cast<unsigned>(low) - 1));
      CHECK_FALSE(takes(static_cast<unsigned>(high) + 1));
    }
  };
  (check(fields), ...);
}

constexpr unsigned kSize = 65536, kLayers = 64;  // the largest
const float kBelowOne = std::nextafter(1.0f, 0.0f);

/// Bounds of the settings that all programs share.
template <class Settings>
void check_training() {
  using S = nlp::TrainSettings;
  bounds(Settings(), 1, 100000, &S::batch);
  bounds(Settings(), 0, 1000, &S::learning_rate);
  bounds(Settings(), 0, 1, &S::decay);
  bounds(Settings(), 0, 1e9f, &S::clip);
  bounds(Settings(), 0, 1000, &S::unknown);
  bounds(Settings(), 0, 256, &S::parts);
  bounds(Settings(), nlp::Optimizer::kAdam, nlp::Optimizer::kSgd, &S::optimizer);
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Ngram as its archive has it.
struct Grams {
  unsigned order = 2, vocabulary = 3;
  std::vector<std::uint32_t> parents = {0, 0, 1}, tokens = {0, 2, 2}, counts = {0, 2, 2};

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& order& vocabulary& parents& tokens& counts;
  }
};

std::string error_of(const Grams& grams) {
  std::stringstream text;
  boost::archive::text_oarchive(text) << grams;
  return error_from([&] {
    rnnlm::Ngram read;
    boost::archive::text_iarchive(text) >> read;
  });
}

TEST_CASE("Models that were made to do harm: descriptions that do not hold together") {
  using T = tagger::Description;
  check_changes<tagger::Model>(
      tagger_description(),
      {[](T& d) { d.views.clear(); }, [](T& d) { d.views[0] = {"a"}; },
       [](T& d) { d.views[0].push_back("a"); }, [](T& d) { d.views[0][1] = "<unk>"; },
       [](T& d) { d.tags[1] = d.tags[0]; }, [](T& d) { d.tags.clear(), d.allowed = {}; },
       [](T& d) { d.tags.push_back("O"); }, [](T& d) { d.allowed.begins.assign(3, false); },
       [](T& d) { d.allowed.ends.clear(); }, [](T& d) { d.kind = static_cast<tagger::TagKind>(3); },
       [](T& d) { d.settings.features[0].name = "words"; },
       [](T& d) { d.settings.features[0].dim = 0; }, [](T& d) { d.settings.dropout = kNaN; },
       [](T& d) { d.settings.hidden = 60000; },
       [](T& d) {
         d.data.split.parts = {0, 1, 1};
       }});
  using R = rnnlm::Description;
  check_changes<rnnlm::Model>(
      rnnlm_description(),
      {[](R& d) { d.tokens.pop_back(); }, [](R& d) { d.tokens[2] = d.tokens[1]; },
       [](R& d) { d.data.ngram = 10; },
       [](R& d) { d.data.read.level = static_cast<rnnlm::Level>(2); },
       [](R& d) { d.settings.network = static_cast<rnnlm::Network>(7); },
       [](R& d) {
         d.settings.network = rnnlm::Network::kTransformer;
         d.settings.transformer.heads = 3;
       }});
  using S = treelstm::Description;
  treelstm::Description trees;
  trees.settings.word = trees.settings.hidden = 2;
  trees.words = {"<unk>"};
  trees.labels = treelstm::Labels::of_sentiment();
  trees.majority = treelstm::Majority({}, 5);
  check_changes<treelstm::Model>(
      trees,
      {[](S& d) { d.majority = {}; }, [](S& d) { d.labels = {}; }, [](S& d) { d.words.clear(); },
       [](S& d) { d.words[0] = "a"; }, [](S& d) { d.settings.dropout = 1; }});
  using C = classifier::Description;
  classifier::Description texts;
  texts.settings.word = texts.settings.hidden = texts.settings.filters = 2;
  texts.words = {"<unk>"};
  texts.labels = {"a", "b"};
  texts.most_frequent = "b";
  check_changes<classifier::Model>(
      texts, {[](C& d) { d.most_frequent = "c"; }, [](C& d) { d.words.clear(); },
              [](C& d) { d.words[0] = "a"; },
              [](C& d) {
                d.labels = {"b", "b"};
              },
              [](C& d) { d.settings.filters = 1u << 31; }});
  using P = parser::Description;
  parser::Description arcs;
  arcs.settings.word = arcs.settings.tag = arcs.settings.hidden = arcs.settings.mlp = 2;
  arcs.words = arcs.tags = {"<unk>"};
  arcs.labels = {"root"};
  check_changes<parser::Model>(
      arcs, {[](P& d) { d.tags.clear(); }, [](P& d) { d.labels.clear(); },
             [](P& d) { d.words[0] = "a"; }, [](P& d) { d.tags[0] = "a"; },
             [](P& d) { d.settings.character = 2; }, [](P& d) { d.settings.layers = 0; }});
  using X = translate::Description;
  translate::Description pairs;
  pairs.network.size = 2;
  pairs.source = pairs.target = {"<unk>", "</s>"};
  pairs.longest = {0, 1};
  check_changes<translate::Model>(
      pairs, {[](X& d) { d.longest[1] = ~std::size_t{0}; },
              [](X& d) { d.network.layers = 1000000; }, [](X& d) { d.target.pop_back(); },
              [](X& d) { d.source[0] = "a"; }, [](X& d) { d.target[1] = "a"; },
              [](X& d) { d.tokens.source = static_cast<translate::Unit>(3); },
              [](X& d) { d.network.kind = translate::Kind::kTransformer; }});
  using E = emoji::Description;
  emoji::Description signs;
  signs.settings.word = signs.settings.hidden = signs.settings.filters = 2;
  signs.words = {"<unk>", "cat"};
  signs.columns = {{"age", 0, 1, {}}};
  signs.groups = signs.subgroups = {"a", "b"};
  signs.frequent_group = signs.frequent_subgroup = "a";
  check_changes<emoji::Model>(
      signs, {[](E& d) { d.settings.inputs = {}; }, [](E& d) { d.columns[0].deviation = 0; },
              [](E& d) { d.picture = 7; }, [](E& d) { d.words[1] = "<unk>"; },
              [](E& d) { d.groups[1] = "a"; },
              [](E& d) {
                d.groups = {"b", "a"};
              },
              [](E& d) { d.frequent_subgroup = ""; }});
  using D = digits::Description;
  digits::Description pictures;
  pictures.settings.channels = 1;
  pictures.height = pictures.width = 4;
  pictures.labels = {"0", "1"};
  pictures.most_frequent = "1";
  check_changes<digits::Model>(
      pictures, {[](D& d) { d.settings.channels = 0; }, [](D& d) { d.labels.clear(); },
                 [](D& d) { d.labels[0] = "1"; }});
}

TEST_CASE("Models that were made to do harm: n-grams that go on with others that there are not") {
  CHECK(error_of({}) == "no error");
  CHECK(error_of({.parents = {0, 0, 77}}) == "its n-gram 2 goes on with one that comes later");
  CHECK(error_of({.parents = {0, 0}}) != "no error");
  CHECK(error_of({.tokens = {0, 2, 3}}) == "its n-gram 2 has a token that it does not know");
  CHECK(error_of({.counts = {0, ~0u, 2}}) != "no error");
  CHECK(error_of({.order = 0}) != "no error");
  CHECK(error_of({.order = 1}) == "no error");
  CHECK(error_of({.order = 9}) == "no error");
  CHECK(error_of({.order = 10}) != "no error");
}

TEST_CASE("Models that were made to do harm: any byte of an archive") {
  const std::string path = folder().path("good"), bad = folder().path("bad");
  nlp::save_model(path, rnnlm::Model(rnnlm_description(), 1));
  std::size_t size = 0;
  forge_archive(path, bad, [&](std::string& archive) { size = archive.size(); });
  REQUIRE(size > 100);
  using Checkpoint = nlp::Checkpoint<rnnlm::Model, rnnlm::TrainSettings>;
  CHECK(contains(error_from([&] { nlp::load_checkpoint<Checkpoint>(path); }),
                 "holds 'rnnlm model 1', expected 'rnnlm checkpoint 1'"));
  for (std::size_t i = 0; i < size; ++i) {
    forge_archive(path, bad, [&](std::string& archive) { archive[i] ^= '\x7f'; });
    const std::string error = error_from([&] { nlp::load_model<rnnlm::Model>(bad); });
    INFO("byte " << i << ": " << error);
    CHECK((error == "no error" || contains(error, bad)));
  }
}

TEST_CASE("Models that were made to do harm: weights that are not finite") {
  const std::string path = folder().path("weights");
  for (const float bad : {kNaN, std::numeric_limits<float>::infinity()}) {
    tagger::Model model(tagger_description(), 1);
    model.parameters().parameters_list().back().stored().data[1] = bad;
    nlp::save_model(path, model);
    CHECK(contains(error_from([&] { nlp::load_model<tagger::Model>(path); }),
                   path + ": the array /"));
    const auto loaded =
        nlp::load_model<tagger::Model>(nlp::SavedModel{.model = path, .allow_not_finite = true});
    const Strings words = {"a", "b"};
    ComputationGraph graph;
    CHECK_THROWS_AS(loaded->tag(graph, {&words}), dynet::NumericError);
    CHECK_THROWS_AS(loaded->tag_best(graph, {"a", "b"}, 2), dynet::NumericError);
  }
}

TEST_CASE("Models that were made to do harm: sizes and rates at their bounds and beyond") {
  using T = tagger::ModelSettings;
  const T tags{.features = tagger::parse_features("word:4")};
  bounds(tags, 1, kSize, &T::hidden);
  bounds(tags, 0, kSize, &T::mlp);
  bounds(tags, 1, kLayers, &T::layers);
  bounds(tags, 0.0f, kBelowOne, &T::dropout);
  bounds(tagger::DataSettings(), tagger::Format::kAuto, tagger::Format::kParallel,
         &tagger::DataSettings::format);

  using R = rnnlm::ModelSettings;
  bounds(R(), 1, kSize, &R::word, &R::hidden, &R::samples);
  bounds(R(), 1, kLayers, &R::layers);
  bounds(R(), 0.0f, kBelowOne, &R::dropout);
  bounds(R(), rnnlm::Loss::kFull, rnnlm::Loss::kSampled, &R::loss);
  R transformer;
  transformer.word = transformer.hidden = 8;
  transformer.network = rnnlm::Network::kTransformer;
  transformer.transformer.positions = rnnlm::Positions::kRotary;
  bounds(transformer, rnnlm::Network::kLstm, rnnlm::Network::kTransformer, &R::network);
  bounds(transformer, 8, 8, &R::word);
  for (const auto& [heads, rotary, fits] :
       {std::tuple(4u, true, true), {8u, true, false}, {8u, false, true}, {3u, false, false}}) {
    transformer.transformer.heads = heads;
    transformer.transformer.positions =
        rotary ? rnnlm::Positions::kRotary : rnnlm::Positions::kLearned;
    CHECK(accepts(transformer) == fits);
  }
  using F = rnnlm::TransformerShape;
  bounds(F(), 1, 256, &F::heads);
  bounds(F(), 1, kSize, &F::feed_forward);
  bounds(F(), 1, 100000, &F::context);
  bounds(F(), rnnlm::Positions::kSinusoidal, rnnlm::Positions::kRotary, &F::positions);
  bounds(rnnlm::DataSettings(), 0, 9, &rnnlm::DataSettings::ngram);
  using O = rnnlm::ReadOptions;
  bounds(O(), rnnlm::Format::kAuto, rnnlm::Format::kBible, &O::format);
  bounds(O(), rnnlm::Level::kWord, rnnlm::Level::kChar, &O::level);

  using S = treelstm::ModelSettings;
  bounds(S(), 1, kSize, &S::word, &S::hidden);
  bounds(S(), 0.0f, kBelowOne, &S::dropout);

  using P = parser::ModelSettings;
  bounds(P(), 1, kSize, &P::word, &P::tag, &P::hidden, &P::mlp, &P::arc, &P::label);
  bounds(P(), 0, kSize, &P::character);
  bounds(P(), 1, kLayers, &P::layers);
  bounds(P(), 0.0f, kBelowOne, &P::dropout);

  using C = classifier::ModelSettings;
  bounds(C(), 1, kSize, &C::word, &C::hidden, &C::filters);
  bounds(C(), 0.0f, kBelowOne, &C::dropout);
  bounds(C(), classifier::Encoder::kLstm, classifier::Encoder::kBoth, &C::encoder);

  using N = translate::NetworkSettings;
  bounds(N(), 1, kSize, &N::size, &N::feed_forward);
  bounds(N(), 1, kLayers, &N::layers);
  bounds(N(), 1, 256, &N::heads);
  bounds(N(), 0.0f, kBelowOne, &N::dropout);
  bounds(N(), translate::Attention::kDot, translate::Attention::kAdditive, &N::attention);
  using U = translate::TokenSettings;
  const U units{.source = translate::Unit::kWord, .target = translate::Unit::kPiece};
  for (const auto field : {&U::source, &U::target})
    bounds(units, translate::Unit::kWord, translate::Unit::kPiece, field);

  using E = emoji::ModelSettings;
  bounds(E(), 1, kSize, &E::filters, &E::word, &E::hidden);
  bounds(E(), 0.0f, kBelowOne, &E::dropout, &E::drop_parts);
  emoji::Description signs;
  signs.words = {"<unk>"};
  signs.groups = signs.subgroups = {"a"};
  signs.frequent_group = signs.frequent_subgroup = "a";
  bounds(signs, 0, 65536, &emoji::Description::picture);

  using D = digits::ModelSettings;
  bounds(D(), 1, 1024, &D::channels);
  bounds(D(), 0, 64, &D::shift);
  bounds(D(), 0.0f, kBelowOne, &D::dropout);
  digits::Description pictures;
  pictures.height = pictures.width = 4;
  pictures.labels = {pictures.most_frequent = "0"};
  bounds(pictures, 1, 512, &digits::Description::height, &digits::Description::width);

  using A = annotate::ModelSettings;
  bounds(A(), 1, kSize, &A::word, &A::character, &A::hidden, &A::tree_hidden, &A::mlp, &A::arc,
         &A::label);
  bounds(A(), 1, kLayers, &A::layers, &A::tree_layers);
  bounds(A(), 0.0f, kBelowOne, &A::dropout);
  using G = annotate::SegmenterDescription;
  bounds(G(), 1, kSize, &G::letter, &G::hidden);
  bounds(G(), 0.0f, kBelowOne, &G::dropout);
}

TEST_CASE("Models that were made to do harm: settings of training at their bounds and beyond") {
  check_training<nlp::TrainSettings>();
  check_training<rnnlm::TrainSettings>();
  check_training<treelstm::TrainSettings>();
  check_training<translate::TrainSettings>();
  bounds(nlp::TrainState(), 0, 1000000, &nlp::TrainState::epoch);
  using R = rnnlm::TrainSettings;
  bounds(R(), 1, 1000000000, &R::tokens);
  bounds(R(), 1, 1000000, &R::truncate);
  bounds(R(), 0, 1000000000, &R::warmup);
  using S = treelstm::TrainSettings;
  bounds(S(), 0, 0.5f, &S::weight_decay);
  bounds(S(), treelstm::Select::kRoot, treelstm::Select::kNodes, &S::select);
  using X = translate::TrainSettings;
  bounds(X(), 1, 1000000000, &X::tokens);
  bounds(X(), 0, 0.9f, &X::smoothing);
  bounds(X(), 0, 1000000000, &X::warmup);
  bounds(X(), 0, 0.999999f, &X::average);
  bounds(X(), 0, 1, &X::own_tokens);
  check_training<annotate::TrainSettings>();
  using A = annotate::TrainSettings;
  bounds(A(), 0, 0.95f, &A::hide);
  bounds(A(), annotate::Stage::kAll, annotate::Stage::kParser, &A::stage);
}

}  // namespace hostile_models_test
