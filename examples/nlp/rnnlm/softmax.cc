#include "softmax.h"

#include <algorithm>
#include <cmath>

#include "examples/nlp/common/text.h"

namespace rnnlm {
namespace {

constexpr float kImpossible = -1e9f;

}  // namespace

const char* loss_name(Loss loss) { return loss == Loss::kFull ? "full" : "sampled"; }

Loss loss_from_name(const std::string& name) {
  if (name == "full") return Loss::kFull;
  if (name == "sampled") return Loss::kSampled;
  throw nlp::UserError("unknown loss " + nlp::quoted(name) + ": expected full or sampled");
}

LogUniform::LogUniform(unsigned n) : n_(n), log_range_(std::log(n + 1.0)) {}

unsigned LogUniform::draw(nlp::Random& random) const {
  const double place = std::exp(random.uniform() * log_range_) - 1.0;
  return std::min(n_ - 1, static_cast<unsigned>(place));
}

double LogUniform::log_probability(unsigned k) const {
  return std::log(std::log1p(1.0 / (k + 1.0)) / log_range_);
}

Softmax::Softmax(Loss loss, unsigned hidden, unsigned tokens,
                 dynet::ParameterCollection& parameters)
    : hidden_(hidden), tokens_(tokens), proposal_(tokens), loss_(loss) {
  if (loss_ == Loss::kFull) {
    weight_ = parameters.add_parameters({tokens, hidden}, "softmax-weight");
    bias_ = parameters.add_parameters({tokens}, dynet::ParameterInitConst(0), "softmax-bias");
  } else {
    weight_rows_ = parameters.add_lookup_parameters(tokens, {hidden}, "softmax-weight");
    bias_rows_ = parameters.add_lookup_parameters(tokens, {1u}, dynet::ParameterInitConst(0),
                                                  "softmax-bias");
  }
}

void Softmax::new_graph(dynet::ComputationGraph& graph) {
  graph_ = &graph;
  ready_ = false;
}

dynet::Expression Softmax::scores(const dynet::Expression& h) {
  if (!ready_) {
    if (loss_ == Loss::kFull) {
      weight_node_ = parameter(*graph_, weight_);
      bias_node_ = parameter(*graph_, bias_);
    } else {
      weight_node_ = transpose(parameter(*graph_, weight_rows_));
      bias_node_ = reshape(parameter(*graph_, bias_rows_), {tokens_});
    }
    ready_ = true;
  }
  return dynet::affine_transform({bias_node_, weight_node_, h});
}

dynet::Expression Softmax::losses(const dynet::Expression& h,
                                  const std::vector<unsigned>& targets) {
  return pickneglogsoftmax(scores(h), targets);
}

dynet::Expression Softmax::sampled_losses(const dynet::Expression& h,
                                          const std::vector<unsigned>& targets, unsigned samples,
                                          nlp::Random& random) {
  const auto count = static_cast<unsigned>(targets.size());
  std::vector<unsigned> drawn(samples);
  std::vector<float> shifts(samples), repeats;
  for (unsigned k = 0; k < samples; ++k) {
    drawn[k] = proposal_.draw(random);
    const double expected =
        std::log(static_cast<double>(samples)) + proposal_.log_probability(drawn[k]);
    shifts[k] = static_cast<float>(-expected);
  }
  repeats.reserve(std::size_t{count} * samples);
  for (unsigned target : targets) {
    for (unsigned token : drawn) repeats.push_back(token == target ? kImpossible : 0.0f);
  }

  const dynet::Expression rows =
      transpose(reshape(lookup(*graph_, weight_rows_, drawn), {hidden_, samples}));
  const dynet::Expression biases =
      reshape(lookup(*graph_, bias_rows_, drawn), {samples}) + input(*graph_, {samples}, shifts);
  const dynet::Expression others = dynet::affine_transform({biases, rows, h}) +
                                   input(*graph_, dynet::Dim({samples}, count), repeats);
  const dynet::Expression right =
      dot_product(lookup(*graph_, weight_rows_, targets), h) + lookup(*graph_, bias_rows_, targets);
  return pickneglogsoftmax(dynet::concatenate({right, others}), std::vector<unsigned>(count, 0));
}

}  // namespace rnnlm
