#include "dynet-like/layers/layer_base.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/inputs.h"

namespace dynet {

namespace {

// The class of a collection's name: FeedForward for feed-forward.
std::string class_of(const char* name) {
  std::string all;
  for (bool starts = true; *name; ++name) {
    if (*name != '-') all += starts ? static_cast<char>(std::toupper(*name)) : *name;
    starts = *name == '-';
  }
  return all;
}

}  // namespace

LayerBase::LayerBase(ParameterCollection& model, const char* name,
                     std::initializer_list<unsigned> sizes) {
  std::string got;
  for (const unsigned size : sizes) got += (got.empty() ? "" : ", ") + std::to_string(size);
  if (std::count(sizes.begin(), sizes.end(), 0u) > 0)
    throw ArgumentError(class_of(name) + ": sizes must be above zero, got " + got);
  collection_ = model.add_subcollection(name);
}

void LayerBase::Parts::insert(Weight& weight) {
  if (weight) weights_.push_back(&weight);
}

void LayerBase::Parts::insert(LayerBase& layer) {
  layers_.push_back(&layer);
  layer.list_parts(*this);
}

void LayerBase::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  Parts parts;
  parts.add(*this);
  if (parts.weights_.empty()) nn_detail::fail("new_graph", "the layer is empty", at);
  std::vector<Expression> nodes;
  for (const Weight* w : parts.weights_)
    nodes.push_back(w->parameter_ ? nn_detail::put(cg, w->parameter_, update, at)
                                  : zeros(cg, w->zeros_, {}, at));
  for (std::size_t k = 0; k < nodes.size(); ++k) parts.weights_[k]->node_ = nodes[k];
  for (LayerBase* layer : parts.layers_) layer->in_graph_ = nodes[0], layer->update_ = update;
}

void LayerBase::need_graph(const char* who, SourceLocation at) const {
  if (!in_graph_.pg) nn_detail::fail(who, "call new_graph first", at);
  in_graph_.dim(at);
}

}  // namespace dynet
