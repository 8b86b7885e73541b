#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "dynet-like/base/version.h"
#include "dynet-like/c/call.h"
#include "dynet-like/io/contents.h"
#include "dynet-like/io/save.h"
#include "dynet-like/param/storage.h"

namespace dynet::c {
namespace {

std::span<const dynet_value> arguments_of(const dynet_value* arguments, std::size_t count) {
  if (count > 0) need(arguments, "the list of arguments");
  return {arguments, count};
}

ParameterCollection& collection_of(dynet_model* model) { return need(model, "model").collection; }
ComputationGraph& graph_of(dynet_graph* graph) { return need(graph, "graph").graph; }
ParameterStorageBase& stored(const dynet_parameter* parameter) {
  return *need(parameter, "parameter").visit([](const auto& p) { return &p.stored(); });
}
template <class N>
auto& network_of(N* network) {
  return *need(network, "network").network.base;
}

Dim dim_of(const std::uint32_t* sizes, std::size_t dimensions) {
  if (dimensions > kMaxTensorDim)
    throw ArgumentError("a shape has at most 7 dimensions, not " + std::to_string(dimensions));
  if (dimensions > 0) need(sizes, "the list of sizes");
  return Dim(std::vector<long>(sizes, sizes + dimensions));
}

void set_shape(const Dim& dim, dynet_shape& shape) {
  shape = {};
  shape.dimensions = dim.nd;
  std::copy_n(dim.d, dim.nd, shape.sizes);
  shape.batch = dim.bd;
}

// Throws ArgumentError unless a list of the caller has this many numbers.
void need_count(const char* who, const void* list, std::size_t count, std::size_t needed) {
  if (count != needed)
    throw ArgumentError(std::string(who) + ": there are " + std::to_string(needed) +
                        " numbers, not " + std::to_string(count));
  if (count > 0 && !list) throw ArgumentError(std::string(who) + ": the list of numbers is NULL");
}

void copy_numbers(const char* who, const Tensor& t, float* values, std::size_t count) {
  need_count(who, values, count, t.d.size());
  std::copy_n(t.v, count, values);
}

// A handle for C of a parameter of the model.
template <class P>
dynet_parameter* handle_of(dynet_model& model, const P& p) {
  const std::lock_guard lock(model.handles->mutex);
  for (dynet_parameter& known : model.handles->parameters)
    if (const auto* same = std::get_if<P>(&known.handle); same && *same == p) return &known;
  return &model.handles->parameters.emplace_back(dynet_parameter{p});
}

// The initializer of a text such as "normal(0, 0.01)".
std::unique_ptr<ParameterInit> initializer_of(const char* text, bool is_lookup) {
  const Signature given(text ? text : "glorot");
  std::vector<dynet_value> values;
  for (const auto& [number, otherwise] : given.arguments) {
    double value = 0;
    const auto end = std::from_chars(number.begin(), number.end(), value);
    if (end.ec != std::errc() || end.ptr != number.end() || !otherwise.empty())
      throw ArgumentError("initializer " + std::string(text) + ": " + std::string(number) +
                          " is no number");
    values.push_back(dynet_num(value));
  }
  const bool is_of_table = is_lookup && given.name == "glorot";
  const std::string name = is_of_table ? "table_glorot" : std::string(given.name);
  return initializers().call(name.c_str(), values, nullptr, nullptr, {});
}

Precision precision_of(const char* name) {
  if (!name || std::strcmp(name, "float32") == 0) return Precision::float32;
  if (std::strcmp(name, "tf32") == 0) return Precision::tf32;
  if (std::strcmp(name, "bf16") == 0) return Precision::bf16;
  throw ArgumentError("precision is \"float32\", \"tf32\" or \"bf16\", not \"" + std::string(name) +
                      "\"");
}

// Options of a program whose struct may be shorter or longer than ours, checked.
struct Options {
  dynet_graph_options given = DYNET_GRAPH_OPTIONS;
  Device* device = nullptr;
  Precision precision;
  SourceLocation at;

  Options(const dynet_graph_options* options, SourceLocation where) : at(where) {
    if (options) std::memcpy(&given, options, std::min(options->size, sizeof(given)));
    if (given.device) device = get_device_manager()->get_global_device(given.device, at);
    precision = precision_of(given.precision);
  }
  void apply(ComputationGraph& g) const {
    if (device) g.set_device(device, at);
    if (precision != Precision::float32) g.set_precision(precision, at);
    if (given.has_seed) g.set_seed(given.seed);
    if (given.has_buffer) g.set_gradient_buffer(given.buffer);
    if (given.inference) g.set_inference(true);
    if (given.immediate) g.set_immediate_compute(true);
    if (given.check_validity) g.set_check_validity(true);
  }
};

// A trainer of a class, or null.
std::unique_ptr<Trainer> trainer_of_kind(const std::string& kind, ParameterCollection& model) {
  for (std::size_t i = 0; const char* text = trainers().signature(i); ++i) {
    const std::string name(Signature(text).name);
    auto trainer = trainers().call(name.c_str(), {}, nullptr, &model, {});
    if (trainer->kind() == kind) return trainer;
  }
  return nullptr;
}

// A setting of a trainer: its value is read, and replaced by `value` unless that is null.
double setting_of(Trainer& t, const char* name, const double* value) {
  const std::string_view which = &need(name, "setting");
  if (value && !std::isfinite(*value))
    throw ArgumentError("the setting " + std::string(which) + " must be finite");
  const auto number = [&](real& field) {
    if (value) field = static_cast<real>(*value);
    return static_cast<double>(field);
  };
  const auto flag = [&](bool& field) {
    if (value && *value != 0 && *value != 1)
      throw ArgumentError("the setting " + std::string(which) + " must be 0 or 1");
    if (value) field = *value != 0;
    return field ? 1.0 : 0.0;
  };
  if (which == "learning_rate") return number(t.learning_rate);
  if (which == "sparse_updates") return flag(t.sparse_updates_enabled);
  if (which == "skip_non_finite") return flag(t.skip_non_finite);
  if (which != "clip_threshold")
    throw ArgumentError("a trainer has no setting \"" + std::string(which) +
                        "\"; it has learning_rate, clip_threshold, sparse_updates and "
                        "skip_non_finite");
  if (value && *value < 0) throw ArgumentError("the setting clip_threshold must not be negative");
  if (value) t.clipping_enabled = *value != 0;
  return t.clipping_enabled ? number(t.clip_threshold) : 0;
}

}  // namespace
}  // namespace dynet::c

// NOLINTNEXTLINE: of this file
using namespace dynet::c;
using dynet::Expression;
using dynet::Parameter;

extern "C" {

uint32_t dynet_c_version(void) { return DYNET_C_VERSION; }
const char* dynet_version(void) { return dynet::version(); }

const char* dynet_signature(int32_t family, size_t i) {
  return guarded(nullptr, [&]() -> const char* {
    switch (family) {
      case DYNET_OPERATIONS:
        return operations().signature(i);
      case DYNET_RNNS:
        return rnns().signature(i);
      case DYNET_TREES:
        return trees().signature(i);
      case DYNET_TRAINERS:
        return trainers().signature(i);
      case DYNET_INITIALIZERS:
        return initializers().signature(i);
      default:
        return nullptr;
    }
  });
}

// Models.

dynet_model* dynet_model_new(dynet_error* error) {
  return guarded(error, [] { return new dynet_model(); });
}
dynet_model* dynet_model_add_subcollection(dynet_model* model, const char* name,
                                           dynet_error* error) {
  return guarded(error, [&] {
    return new dynet_model{collection_of(model).add_subcollection(name ? name : ""),
                           model->handles};
  });
}
void dynet_model_free(dynet_model* model) { delete model; }
void dynet_model_set_seed(dynet_model* model, uint64_t seed, dynet_error* error) {
  guarded(error, [&] { collection_of(model).set_seed(seed); });
}
void dynet_model_set_weight_decay(dynet_model* model, double lambda, dynet_error* error) {
  guarded(error, [&] { collection_of(model).set_weight_decay_lambda(static_cast<float>(lambda)); });
}
void dynet_model_reset_gradient(dynet_model* model, dynet_error* error) {
  guarded(error, [&] { collection_of(model).reset_gradient(); });
}

dynet_parameter* dynet_add_parameters(dynet_model* model, const char* name, const uint32_t* sizes,
                                      size_t dimensions, const char* initializer,
                                      dynet_error* error) {
  return guarded(error, [&] {
    const Parameter p = collection_of(model).add_parameters(dim_of(sizes, dimensions),
                                                            *initializer_of(initializer, false),
                                                            name ? name : "", {}, location(error));
    return handle_of(*model, p);
  });
}
dynet_parameter* dynet_add_lookup_parameters(dynet_model* model, const char* name, uint32_t rows,
                                             const uint32_t* sizes, size_t dimensions,
                                             const char* initializer, dynet_error* error) {
  return guarded(error, [&] {
    const auto p = collection_of(model).add_lookup_parameters(
        rows, dim_of(sizes, dimensions), *initializer_of(initializer, true), name ? name : "", {},
        location(error));
    return handle_of(*model, p);
  });
}

size_t dynet_model_size(const dynet_model* model) {
  return guarded(nullptr, [&] { return need(model, "model").collection.size(); });
}
dynet_parameter* dynet_model_parameter(dynet_model* model, size_t i, dynet_error* error) {
  return guarded(error, [&] {
    const auto parameters = collection_of(model).parameters_list();
    const auto tables = model->collection.lookup_parameters_list();
    if (i >= parameters.size() + tables.size())
      throw dynet::IndexError("parameter " + std::to_string(i) + ": there are " +
                              std::to_string(parameters.size() + tables.size()));
    return i < parameters.size() ? handle_of(*model, parameters[i])
                                 : handle_of(*model, tables[i - parameters.size()]);
  });
}
dynet_parameter* dynet_model_find(dynet_model* model, const char* full_name, dynet_error* error) {
  return guarded(error, [&]() -> dynet_parameter* {
    const std::string_view name = &need(full_name, "the name");
    for (const auto& p : collection_of(model).parameters_list())
      if (p.get_fullname() == name) return handle_of(*model, p);
    for (const auto& p : model->collection.lookup_parameters_list())
      if (p.get_fullname() == name) return handle_of(*model, p);
    return nullptr;
  });
}

const char* dynet_parameter_name(const dynet_parameter* parameter) {
  if (!parameter) return "";
  return parameter->visit([](const auto& p) { return p.get_fullname().c_str(); });
}
void dynet_parameter_shape(const dynet_parameter* parameter, dynet_shape* shape,
                           dynet_error* error) {
  guarded(error, [&] { set_shape(stored(parameter).full_dim(), need(shape, "shape")); });
}
void dynet_parameter_get(const dynet_parameter* parameter, float* values, size_t count,
                         dynet_error* error) {
  guarded(error, [&] {
    dynet::ParameterStorageBase& p = stored(parameter);
    need_count("dynet_parameter_get", values, count, p.size());
    p.copy_to_host();
    std::copy_n(p.data, count, values);
  });
}
void dynet_parameter_set(const dynet_parameter* parameter, const float* values, size_t count,
                         dynet_error* error) {
  guarded(error, [&] {
    dynet::ParameterStorageBase& p = stored(parameter);
    need_count("dynet_parameter_set", values, count, p.size());
    std::copy_n(values, count, p.data);
    p.changed();
  });
}
void dynet_parameter_get_gradient(const dynet_parameter* parameter, float* values, size_t count,
                                  dynet_error* error) {
  guarded(error, [&] {
    need_count("dynet_parameter_get_gradient", values, count, stored(parameter).size());
    if (const auto* p = std::get_if<Parameter>(&parameter->handle)) {
      std::copy_n(p->gradients().v, count, values);
      return;
    }
    const auto& table = std::get<dynet::LookupParameter>(parameter->handle);
    for (unsigned row = 0; row < table.size(); ++row) {
      const std::vector<float> gradient = table.row_gradient(row);
      values = std::copy(gradient.begin(), gradient.end(), values);
    }
  });
}
void dynet_parameter_set_updated(const dynet_parameter* parameter, int32_t updated,
                                 dynet_error* error) {
  guarded(error, [&] {
    need(parameter, "parameter").visit([&](const auto& p) { p.set_updated(updated != 0); });
  });
}

void dynet_save(const char* path, const dynet_model* model, const dynet_trainer* trainer,
                const char* text, dynet_error* error) {
  guarded(error, [&] {
    const dynet::SaveOptions options{.metadata = text ? text : ""};
    const auto& collection = need(model, "model").collection;
    trainer ? save(&need(path, "path"), options, collection, *trainer->trainer)
            : save(&need(path, "path"), options, collection);
  });
}
void dynet_load(const char* path, dynet_model* model, dynet_trainer* trainer, uint32_t flags,
                dynet_error* error) {
  guarded(error, [&] {
    auto& collection = collection_of(model);
    const dynet::LoadOptions options{.map = (flags & DYNET_LOAD_MAP) != 0,
                                     .verify = (flags & DYNET_LOAD_UNVERIFIED) == 0};
    const std::string file = &need(path, "path");
    const dynet::ModelFile opened(file);
    const auto& things = opened.index().things;
    const std::string kind = opened.index().saved_things() > 1 ? things[1].kind : "";
    if (trainer && kind.empty()) opened.fail("it has no state of a trainer");
    const auto unused = trainer ? nullptr : trainer_of_kind(kind, collection);
    if (trainer)
      load(file, options, collection, *trainer->trainer);
    else if (unused)
      load(file, options, collection, *unused);
    else
      load(file, options, collection);
  });
}
size_t dynet_read_text(const char* path, char* text, size_t room, dynet_error* error) {
  return guarded(error, [&] {
    const std::string all = dynet::read_metadata(&need(path, "path"));
    if (text && all.size() < room) std::memcpy(text, all.c_str(), all.size() + 1);
    return all.size();
  });
}

// Graphs.

dynet_graph* dynet_graph_new(const dynet_graph_options* options, dynet_error* error) {
  return guarded(error, [&] {
    const Options checked(options, location(error));
    auto made = std::make_unique<dynet_graph>(checked.given.unbatched == 0);
    checked.apply(made->graph);
    return made.release();
  });
}
void dynet_graph_free(dynet_graph* graph) { delete graph; }
void dynet_graph_renew(dynet_graph* graph, const dynet_graph_options* options, dynet_error* error) {
  guarded(error, [&] {
    const Options checked(options, location(error));
    graph_of(graph).renew(checked.given.unbatched == 0);
    checked.apply(graph->graph);
  });
}
size_t dynet_graph_size(const dynet_graph* graph) { return graph ? graph->graph.size() : 0; }
void dynet_graph_checkpoint(dynet_graph* graph, dynet_error* error) {
  guarded(error, [&] { graph_of(graph).checkpoint(); });
}
void dynet_graph_revert(dynet_graph* graph, dynet_error* error) {
  guarded(error, [&] { graph_of(graph).revert(location(error)); });
}

dynet_expression dynet_apply(dynet_graph* graph, const char* operation,
                             const dynet_value* arguments, size_t count, dynet_error* error) {
  return guarded(error, [&] {
    return wrapped(operations().call(operation, arguments_of(arguments, count), &graph_of(graph),
                                     nullptr, location(error)));
  });
}
dynet_expression dynet_second_result(dynet_expression e, dynet_error* error) {
  return guarded(error, [&] {
    Expression second = unwrapped(e);
    second.result = 1;
    second.dim(location(error));  // throws for a stale one, and where there is one result
    return wrapped(second);
  });
}

void dynet_get_shape(dynet_expression e, dynet_shape* shape, dynet_error* error) {
  guarded(error, [&] { set_shape(unwrapped(e).dim(location(error)), need(shape, "shape")); });
}
void dynet_get_value(dynet_expression e, float* values, size_t count, dynet_error* error) {
  guarded(error, [&] {
    copy_numbers("dynet_get_value", unwrapped(e).value(location(error)), values, count);
  });
}
void dynet_get_gradient(dynet_expression e, float* values, size_t count, dynet_error* error) {
  guarded(error, [&] {
    copy_numbers("dynet_get_gradient", unwrapped(e).gradient(location(error)), values, count);
  });
}
float dynet_get_scalar(dynet_expression e, dynet_error* error) {
  float value = 0;
  dynet_get_value(e, &value, 1, error);
  return value;
}
void dynet_backward(dynet_expression e, int32_t full, dynet_error* error) {
  guarded(error, [&] {
    const Expression loss = unwrapped(e);
    loss.dim(location(error));  // throws for an empty or stale one
    loss.pg->backward(loss, full != 0, location(error));
  });
}

// Networks.

dynet_rnn* dynet_rnn_new(dynet_model* model, const char* kind, const dynet_value* arguments,
                         size_t count, dynet_error* error) {
  return guarded(error, [&] {
    return new dynet_rnn{rnns().call(kind, arguments_of(arguments, count), nullptr,
                                     &collection_of(model), location(error))};
  });
}
dynet_rnn* dynet_rnn_copy(const dynet_rnn* rnn, dynet_error* error) {
  return guarded(error, [&] { return new dynet_rnn{need(rnn, "network").network.copied()}; });
}
void dynet_rnn_free(dynet_rnn* rnn) { delete rnn; }
void dynet_rnn_set_dropout(dynet_rnn* rnn, double input, double recurrent, dynet_error* error) {
  guarded(error, [&] {
    network_of(rnn).set_dropout(static_cast<float>(input), static_cast<float>(recurrent));
  });
}
void dynet_rnn_new_graph(dynet_rnn* rnn, dynet_graph* graph, int32_t update, dynet_error* error) {
  guarded(error, [&] { network_of(rnn).new_graph(graph_of(graph), update != 0, location(error)); });
}
void dynet_rnn_start(dynet_rnn* rnn, const dynet_expression* state, size_t count,
                     dynet_error* error) {
  guarded(error, [&] {
    auto& network = network_of(rnn);
    if (count > 0 && count != network.num_h0_components())
      throw dynet::ArgumentError("a state has " + std::to_string(network.num_h0_components()) +
                                     " expressions, not " + std::to_string(count),
                                 location(error));
    network.start_new_sequence(unwrapped(state, count), location(error));
  });
}
dynet_expression dynet_rnn_add_input(dynet_rnn* rnn, dynet_expression x, dynet_error* error) {
  return guarded(error,
                 [&] { return wrapped(network_of(rnn).add_input(unwrapped(x), location(error))); });
}
dynet_expression dynet_rnn_add_input_after(dynet_rnn* rnn, int32_t previous, dynet_expression x,
                                           dynet_error* error) {
  return guarded(error, [&] {
    return wrapped(
        network_of(rnn).add_input(dynet::RNNPointer(previous), unwrapped(x), location(error)));
  });
}
int32_t dynet_rnn_last_step(const dynet_rnn* rnn) {
  return rnn ? rnn->network.base->state().t : -1;
}
size_t dynet_rnn_get_state(const dynet_rnn* rnn, int32_t step, dynet_expression* state, size_t room,
                           dynet_error* error) {
  return guarded(error, [&] {
    const auto all =
        need(rnn, "network").network.base->get_s(dynet::RNNPointer(step), location(error));
    if (all.size() <= room && state) std::transform(all.begin(), all.end(), state, wrapped);
    return all.size();
  });
}

dynet_tree* dynet_tree_new(dynet_model* model, const char* kind, const dynet_value* arguments,
                           size_t count, dynet_error* error) {
  return guarded(error, [&] {
    return new dynet_tree{trees().call(kind, arguments_of(arguments, count), nullptr,
                                       &collection_of(model), location(error))};
  });
}
dynet_tree* dynet_tree_copy(const dynet_tree* tree, dynet_error* error) {
  return guarded(error, [&] { return new dynet_tree{need(tree, "network").network.copied()}; });
}
void dynet_tree_free(dynet_tree* tree) { delete tree; }
void dynet_tree_new_graph(dynet_tree* tree, dynet_graph* graph, int32_t update,
                          dynet_error* error) {
  guarded(error,
          [&] { network_of(tree).new_graph(graph_of(graph), update != 0, location(error)); });
}
void dynet_tree_start(dynet_tree* tree, dynet_error* error) {
  guarded(error, [&] { network_of(tree).start_new_sequence(location(error)); });
}
dynet_expression dynet_tree_add_input(dynet_tree* tree, int32_t node, const int32_t* children,
                                      size_t count, dynet_expression x, dynet_error* error) {
  return guarded(error, [&] {
    if (count > 0) need(children, "the list of children");
    const std::vector<int> list(children, children + count);
    return wrapped(network_of(tree).add_input(node, list, unwrapped(x), location(error)));
  });
}

// Trainers.

dynet_trainer* dynet_trainer_new(dynet_model* model, const char* kind, const dynet_value* arguments,
                                 size_t count, dynet_error* error) {
  return guarded(error, [&] {
    return new dynet_trainer{trainers().call(kind, arguments_of(arguments, count), nullptr,
                                             &collection_of(model), location(error))};
  });
}
void dynet_trainer_free(dynet_trainer* trainer) { delete trainer; }
void dynet_trainer_update(dynet_trainer* trainer, double scale, dynet_error* error) {
  guarded(error, [&] { need(trainer, "trainer").trainer->update(static_cast<float>(scale)); });
}
void dynet_trainer_set(dynet_trainer* trainer, const char* setting, double value,
                       dynet_error* error) {
  guarded(error, [&] { setting_of(*need(trainer, "trainer").trainer, setting, &value); });
}
double dynet_trainer_get(const dynet_trainer* trainer, const char* setting, dynet_error* error) {
  return guarded(error,
                 [&] { return setting_of(*need(trainer, "trainer").trainer, setting, nullptr); });
}

}  // extern "C"
