#include "evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/share_out.h"

namespace rnnlm {

using namespace nlp;

namespace {

constexpr BatchLimits kLimits{32, 1000};
constexpr std::size_t kSteps = 100;  ///< per graph

/// Losses of the sentences of a minibatch.
std::vector<double> losses_of(Model& model, dynet::ComputationGraph& graph, const Minibatch& batch,
                              std::size_t sentences) {
  std::vector<double> losses(sentences, 0.0);
  Memory memory;
  const std::size_t most = model.steps_together(kSteps);
  for (std::size_t begin = 0; begin < batch.steps(); begin += most) {
    const std::size_t end = std::min(batch.steps(), begin + most);
    graph.clear();
    model.begin_graph(graph, false);
    model.begin_sentences(memory);
    const dynet::Expression result = model.losses(batch, begin, end);
    graph.forward(result);
    const std::vector<float> values = as_vector(result.value());
    for (std::size_t i = 0; i < values.size(); ++i) {
      losses[i % sentences] += static_cast<double>(values[i]);
    }
    if (end < batch.steps()) memory = model.memory();
  }
  return losses;
}

}  // namespace

std::vector<double> sentence_losses(Model& model, const std::vector<Ids>& sentences,
                                    const std::string& progress) {
  std::size_t total = 0;
  for (const Ids& sentence : sentences) total += sentence.size() + 1;
  Progress::Output output;
  if (!progress.empty()) output = standard_error_output();
  Progress shown(output, progress, "tokens", total, 0, 0);
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> losses(sentences.size(), 0.0);
  const std::vector<std::vector<std::size_t>> batches = batches_of(sentences, order, kLimits);
  std::size_t done = 0;
  const auto found = compute_shared(
      model, batches.size(),
      [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
        std::vector<const Ids*> batch;
        for (const std::size_t place : batches[i]) batch.push_back(&sentences[place]);
        return losses_of(mine, graph, Minibatch(batch), batch.size());
      },
      [&](std::size_t i) {
        for (const std::size_t place : batches[i]) done += sentences[place].size() + 1;
        shown.update(done);
      });
  for (std::size_t i = 0; i < batches.size(); ++i)
    for (std::size_t k = 0; k < batches[i].size(); ++k) losses[batches[i][k]] = found[i][k];
  return losses;
}

double Report::perplexity() const { return std::exp(loss / static_cast<double>(tokens)); }
double Report::ngram_perplexity() const {
  return std::exp(ngram_loss / static_cast<double>(tokens));
}

Figures Report::figures() const {
  const auto figure = [this](const char* of, std::size_t count) {
    const auto perplexity = [&](double nats) {
      return std::exp(nats / static_cast<double>(count));
    };
    return Figure{std::string("perplexity per ") + of, perplexity(loss),
                  ngram > 0 ? perplexity(ngram_loss) : std::nan("")};
  };
  return {figure("token", tokens), figure("word", words), figure("character", characters)};
}

Counts Report::counts() const {
  return {{"sentences", sentences},
          {"words", words},
          {"characters", characters},
          {"tokens", tokens},
          {"unknown tokens", unknown}};
}

void Report::print(std::ostream& out) const {
  out << name << ": " << with_commas(sentences) << " sentences, " << with_commas(words)
      << " words, " << with_commas(characters) << " characters; "
      << percent(Ratio{unknown, tokens}.value()) << " of the tokens unknown\n"
      << "  perplexity    per word  per character  bits/character\n";
  const auto row = [&](const std::string& label, double nats) {
    const double per_character = nats / static_cast<double>(characters);
    out << "  " << label << std::string(12 - std::min<std::size_t>(12, label.size()), ' ')
        << padded(fixed(std::exp(nats / static_cast<double>(words)), 2), 10) << "  "
        << padded(fixed(std::exp(per_character), 4), 13) << "  "
        << padded(fixed(per_character / std::log(2.0), 4), 14) << '\n';
  };
  row("rnnlm", loss);
  if (ngram > 0) row(std::to_string(ngram) + "-gram", ngram_loss);
  out.flush();
}

Report evaluate(Model& model, const Corpus& corpus, const std::string& name) {
  Report report;
  report.name = name;
  report.sentences = corpus.size();
  const Ngram& ngram = model.description().ngram;
  report.ngram = ngram.order();
  std::vector<Ids> sentences;
  for (const Sentence& sentence : corpus) {
    report.words += sentence.words;
    report.characters += sentence.characters;
    sentences.push_back(model.vocabulary().encode(sentence));
    const Ids& ids = sentences.back();
    report.tokens += ids.size() + 1;
    report.unknown +=
        static_cast<std::size_t>(std::count(ids.begin(), ids.end(), Vocabulary::kUnknown));
    if (ngram.order() > 0) report.ngram_loss += ngram.loss(ids);
  }
  const std::vector<double> losses = sentence_losses(model, sentences, name);
  report.loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  return report;
}

}  // namespace rnnlm
