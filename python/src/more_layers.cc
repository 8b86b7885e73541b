#include "layers.h"

// Softmax for many classes, layers for images, and coverage.

namespace dynet::python {
namespace {

using namespace nb::literals;
using List = std::vector<std::int64_t>;

/// Adds the methods of DyNet's softmax layers.
template <class L>
void def_softmax(nb::class_<Layer<L>>& c) {
  using Class = Layer<L>;
  c.def(
       "neg_log_softmax",
       [](Class& l, const Expression& x, std::int64_t v) {
         const unsigned word = indices_of("neg_log_softmax", {v})[0];
         return l.in_graph().neg_log_softmax(x, word, here());
       },
       "x"_a, "c"_a, "-log p(c): {1}. ValueError or IndexError for a class that there is not.")
      .def(
          "neg_log_softmax_batch",
          [](Class& l, const Expression& x, const List& words) {
            const auto classes = indices_of("neg_log_softmax_batch", words);
            return l.in_graph().neg_log_softmax(x, classes, here());
          },
          "x"_a, "c"_a, "The same with a class for each batch element.")
      .def(
          "sample", [](Class& l, const Expression& x) { return l.in_graph().sample(x, here()); },
          "x"_a, "A class drawn with its probability.")
      .def(
          "full_log_distribution",
          [](Class& l, const Expression& x) {
            return l.in_graph().full_log_distribution(x, here());
          },
          "x"_a, "log p of every class: {classes}.")
      .def(
          "full_logits",
          [](Class& l, const Expression& x) { return l.in_graph().full_logits(x, here()); }, "x"_a,
          "Scores of which `full_log_distribution` is the log_softmax: {classes}.");
}

void bind_adaptive_softmax(nb::module_& m) {
  using S = AdaptiveSoftmaxBuilder::Settings;
  auto c = add_layer<AdaptiveSoftmaxBuilder>(
      m, "AdaptiveSoftmaxBuilder",
      "Softmax over words numbered by frequency, the most frequent one 0 (Grave et al. 2017). The\n"
      "head chooses a word below cutoffs[0] or a cluster, the tail of cluster i a word from\n"
      "cutoffs[i] on: p(w) = softmax(H x)_w or softmax(H x)_cluster softmax(O_i P_i x)_w, with\n"
      "rep_dim / shrink^(i+1) numbers P_i x.",
      "ValueError for a size of 0, for cutoffs that do not rise from 1 to below `num_classes`,\n"
      "and for a `shrink` below 1.",
      needed("rep_dim", &S::rep_dim), needed("num_classes", &S::num_classes),
      optional("cutoffs", &S::cutoffs), optional("shrink", &S::shrink), optional("bias", &S::bias));
  def_softmax(c);
}

void bind_sampled_softmax(nb::module_& m) {
  using S = SampledSoftmaxBuilder::Settings;
  using Class = Layer<SampledSoftmaxBuilder>;
  auto c = add_layer<SampledSoftmaxBuilder>(
      m, "SampledSoftmaxBuilder",
      "softmax(E x + b) with losses for training whose cost does not depend on the number of\n"
      "classes: they draw `samples` negatives in proportion to `weights`, or log-uniformly for\n"
      "classes numbered by frequency, the most frequent one 0.",
      "ValueError for a size of 0, for another number of weights than classes, and for a weight\n"
      "that is not above 0 or not finite.",
      needed("rep_dim", &S::rep_dim), needed("num_classes", &S::num_classes),
      optional("samples", &S::samples), optional("weights", &S::weights),
      optional("bias", &S::bias));
  def_softmax(c);
  c.def(
       "sampled_loss",
       [](Class& l, const Expression& x, const List& words) {
         const auto classes = indices_of("sampled_loss", words);
         return l.in_graph().sampled_loss(x, classes, here());
       },
       "x"_a, "c"_a,
       "The loss of a softmax over the class and the negatives, corrected by how often each is\n"
       "expected (Jean et al. 2015), of a class for each batch element: {1}.")
      .def(
          "nce_loss",
          [](Class& l, const Expression& x, const List& words) {
            const auto classes = indices_of("nce_loss", words);
            return l.in_graph().nce_loss(x, classes, here());
          },
          "x"_a, "c"_a, "Noise-contrastive estimation (Gutmann, Hyvarinen 2010), likewise: {1}.");
}

void bind_images(nb::module_& m) {
  using N = ImageNorm::Settings;
  auto norm = add_layer<ImageNorm>(
      m, "ImageNorm",
      "An image x {H,W,channels} brought to mean 0 and variance 1, then to a gain and a bias of\n"
      "each channel (Wu, He 2018): y = g (x - mean) / sqrt(variance + epsilon) + b.",
      "g begins with `gain`, b with 0. ValueError without channels, and for an epsilon that is\n"
      "negative or not finite.",
      needed("channels", &N::channels), optional("epsilon", &N::epsilon),
      optional("gain", &N::gain));
  const char* const same =
      "y {H,W,channels}, with the batch of x. ShapeError for another number of channels.";
  def_apply(norm, same);
  using R = ResidualConvolution::Settings;
  auto residual = add_layer<ResidualConvolution>(
      m, "ResidualConvolution",
      "Two convolutions and a way around them (He et al. 2016), with ImageNorm:\n"
      "y = relu(x + norm2(f2 * relu(norm1(f1 * x)))), with zeros around the image.",
      "`window`: height and width of the filters. ValueError for a size of 0.",
      needed("channels", &R::channels), optional("window", &R::window),
      optional("epsilon", &R::epsilon));
  def_apply(residual, same);
  def_dropout(residual,
              "Dropout of what the second convolution reads, with a new mask in each call.\n"
              "ValueError unless 0 <= rate < 1.");
}

void bind_coverage(nb::module_& m) {
  nb::class_<Coverage>(m, "Coverage",
                       "How much each position of a source was attended to so far (See et al.\n"
                       "2017): c_t = a_1 + ... + a_(t-1), loss_t = sum_i min(a_t,i, c_t,i).")
      .def(
          "__init__",
          [](Coverage* self, unsigned positions) {
            new (self) Coverage(current_graph(), positions, here());
          },
          "positions"_a, "In the current graph, at 0. ValueError for no positions.")
      .def("vector", &Coverage::vector, "c_t {positions}.")
      .def(
          "add", [](Coverage& c, const Expression& weights) { return c.add(weights, here()); },
          "weights"_a,
          "loss_t {1} of the weights a_t {positions}, which are added. ShapeError for another\n"
          "size.")
      .def("__copy__", [](const Coverage& c) { return Coverage(c); });
}

}  // namespace

void bind_more_layers(nb::module_& m) {
  bind_adaptive_softmax(m);
  bind_sampled_softmax(m);
  bind_images(m);
  bind_coverage(m);
}

}  // namespace dynet::python
