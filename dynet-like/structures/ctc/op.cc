#include "dynet-like/structures/ctc/op.h"

#include <array>

#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/shape/broken.h"
#include "dynet-like/shape/rules.h"
#include "kernels/cpu/ctc.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

Dim utterance(const Operands& x) {
  const Dim& d = x[0];
  const auto& a = x.as<CtcAttr>();
  shape::need_rank(d, 2, "the log-probabilities");
  shape::need_below(a.blank, d.rows(), "the blank", "symbols");
  if (a.elements != d.bd)
    shape::broken("needs labels for each of " + std::to_string(d.bd) + " batch elements, got " +
                      (a.elements == 0 ? std::to_string(a.count) + " labels"
                                       : "those of " + std::to_string(a.elements)),
                  shape::Kind::argument);
  const auto* const labels = static_cast<const unsigned*>(x.payload) + a.elements;
  for (std::size_t k = 0; k < a.count; ++k) {
    shape::need_below(labels[k], d.rows(), "label", "symbols");
    if (labels[k] == a.blank)
      shape::broken("label " + std::to_string(labels[k]) + " is the blank", shape::Kind::argument);
  }
  return d;
}
Dim loss_of_utterance(const Operands& x) { return Dim({1}, utterance(x).bd); }

template <std::size_t Tables>
std::size_t ctc_tables(const GraphStore& graph, const Node& n) {
  const auto& a = graph.attr<CtcAttr>(n);
  const std::size_t frames = graph.nodes[graph.args[n.first_arg]].dim.cols();
  return (Tables * frames + 1) *
         (2 * a.count + 3 * a.elements);  // CtcTables::size of all batch elements
}

constexpr Ragged kAnyFrames{.rows = 0, .cols = Ragged::operand(0)};

constexpr OpForm ctc(const char* name, Dim (*shape)(const Operands&), AuxRule aux, Forward forward,
                     Backward backward, const cuda::Kernels* on_cuda, Ragged ragged = kAnyFrames) {
  return {.name = name,
          .shape = shape,
          .batch = BatchRule::sequences(ragged),
          .reads = Reads::inputs,
          .aux = aux,
          .forward = forward,
          .backward = backward,
          .cuda = CudaRule::by(on_cuda)};
}

const OpForm kCtcLoss =
    ctc("ctc_loss", loss_of_utterance, ctc_tables<4>, DYNET_FORWARD(cpu::CtcLoss::forward),
        DYNET_BACKWARD(cpu::CtcLoss::backward), &cuda::kCtcLoss);
const OpForm kCtcAlignment =
    ctc("ctc_alignment", utterance, ctc_tables<6>, DYNET_FORWARD(cpu::CtcAlignment::forward),
        DYNET_BACKWARD(cpu::CtcAlignment::backward), &cuda::kCtcAlignment,
        {.rows = 0, .cols = Ragged::operand(0) | Ragged::kValue});
const OpForm kCtcEntropy =
    ctc("ctc_entropy", loss_of_utterance, ctc_tables<6>, DYNET_FORWARD(cpu::CtcEntropy::forward),
        DYNET_BACKWARD(cpu::CtcEntropy::backward), &cuda::kCtcEntropy);

// `payload`: the number of labels of each batch element, then the labels.
Expression add_ctc(const OpForm& form, const Expression& x, const CtcSettings& settings,
                   const std::vector<unsigned>& payload, std::size_t elements, SourceLocation at) {
  return add_node(form, x,
                  {CtcAttr{elements, payload.size() - elements, settings.blank,
                           std::uint64_t{settings.zero_infinity}},
                   payload.data(), payload.size() * sizeof(unsigned)},
                  at);
}
Expression add_ctc(const OpForm& form, const Expression& x, const CtcSettings& settings,
                   std::span<const unsigned> labels, SourceLocation at) {
  const std::size_t batch = x.dim(at).bd;
  // An uneven number of labels is passed with zero elements; the shape rule rejects it.
  const std::size_t elements = labels.size() % batch == 0 ? batch : 0;
  std::vector<unsigned> payload(elements, static_cast<unsigned>(labels.size() / batch));
  payload.insert(payload.end(), labels.begin(), labels.end());
  return add_ctc(form, x, settings, payload, elements, at);
}
Expression add_ctc(const OpForm& form, const Expression& x, const CtcSettings& settings,
                   std::span<const std::vector<unsigned>> labels, SourceLocation at) {
  std::vector<unsigned> payload;
  for (const auto& each : labels) payload.push_back(static_cast<unsigned>(each.size()));
  for (const auto& each : labels) payload.insert(payload.end(), each.begin(), each.end());
  return add_ctc(form, x, settings, payload, labels.size(), at);
}

}  // namespace

OpFamily ctc_ops() {
  static constexpr const OpForm* kAll[] = {&kCtcLoss, &kCtcAlignment, &kCtcEntropy};
  return kAll;
}

Expression ctc_loss(const Expression& log_probs, std::span<const unsigned> labels,
                    const CtcSettings& settings, SourceLocation at) {
  return add_ctc(kCtcLoss, log_probs, settings, labels, at);
}
Expression ctc_loss(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                    const CtcSettings& settings, SourceLocation at) {
  return add_ctc(kCtcLoss, log_probs, settings, labels, at);
}
Expression ctc_alignment(const Expression& log_probs, std::span<const unsigned> labels,
                         const CtcSettings& settings, SourceLocation at) {
  return add_ctc(kCtcAlignment, log_probs, settings, labels, at);
}
Expression ctc_alignment(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                         const CtcSettings& settings, SourceLocation at) {
  return add_ctc(kCtcAlignment, log_probs, settings, labels, at);
}
Expression ctc_entropy(const Expression& log_probs, std::span<const unsigned> labels,
                       const CtcSettings& settings, SourceLocation at) {
  return add_ctc(kCtcEntropy, log_probs, settings, labels, at);
}
Expression ctc_entropy(const Expression& log_probs, std::span<const std::vector<unsigned>> labels,
                       const CtcSettings& settings, SourceLocation at) {
  return add_ctc(kCtcEntropy, log_probs, settings, labels, at);
}

}  // namespace dynet
