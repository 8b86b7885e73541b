#pragma once

/// C interface (C99) for programs in C and for bindings of other languages: parameters, graphs, all
/// operations, recurrent and tree networks, trainers, files.
///
///     dynet_error error = DYNET_NO_ERROR;
///     dynet_model* model = dynet_model_new(&error);
///     const uint32_t sizes[] = {2, 3};
///     dynet_parameter* W = dynet_add_parameters(model, "W", sizes, 2, NULL, &error);
///     dynet_graph* graph = dynet_graph_new(NULL, &error);
///     const float numbers[] = {1, 2, 3};
///     dynet_expression x = DYNET_CALL(graph, &error, "input", dynet_int(3), dynet_nums(numbers,
///     3)); dynet_expression w = DYNET_CALL(graph, &error, "parameter", dynet_param(W));
///     dynet_expression y = DYNET_CALL(graph, &error, "multiply", dynet_expr(w), dynet_expr(x));
///     float result[2];
///     dynet_get_value(y, result, 2, &error);
///     if (error.code != DYNET_OK) fprintf(stderr, "%s\n", error.message);
///
/// **Errors.** A function that can fail takes a `dynet_error*` last. It does nothing, and returns
/// zero, NULL or an empty expression, if that error is set already; so a program may call several
/// functions and look at the error once. It sets `code` to 0 before it goes on. Nothing is thrown,
/// nothing is printed and the process is never ended; after an error all objects remain usable.
/// NULL in the place of an error is allowed: failures then show in the results alone.
///
/// **Objects** are created by `..._new`, freed by `..._free`, which accepts NULL, and may be freed
/// in any order; a `dynet_parameter` lives as long as any collection of its model. The use of a
/// freed object is undefined, as in C. An expression of a graph that was cleared or freed is an
/// error, DYNET_STALE_EXPRESSION.
///
/// **Threads.** The library has no state of its own that a program would have to protect. A graph
/// and its expressions, a network, a trainer and an error belong to one thread at a time; different
/// ones may be used by different threads at once.
///
/// A model, its parameters and files may be used by any number of threads at once, as long as none
/// of them changes the model. These change it, and must be alone: adding parameters,
/// subcollections and networks, `dynet_load`, `dynet_trainer_update`, `dynet_model_set_...`,
/// `dynet_model_reset_gradient`, `dynet_parameter_set` and `dynet_parameter_set_updated`;
/// `dynet_parameter_get_gradient` must not run during a `dynet_backward`. Networks of several
/// threads over the same parameters are made by `dynet_rnn_copy` and `dynet_tree_copy`, which
/// threads may call for one network at once.
///
/// Gradients are added in a buffer of the thread that calls `dynet_backward`, or in a numbered one
/// (dynet_graph_options): with numbers, their sum has the same bits for any number of threads. A
/// process may load a model and then fork: parent and child compute independently. No graph may be
/// in use by another thread at the fork.
///
/// **Stability.** Programs that were compiled with this header work with every later library of the
/// same DYNET_C_VERSION; functions and operations may be added. A struct whose first member is
/// `size` may grow at its end: programs set `size` to the sizeof that they know, as the macros do.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Version of this interface; the library's is dynet_c_version().
#define DYNET_C_VERSION 1

/// Kinds of errors.
enum dynet_code {
  DYNET_OK = 0,
  DYNET_ARGUMENT_ERROR = 1,    ///< an invalid argument
  DYNET_SHAPE_ERROR = 2,       ///< shapes that do not fit
  DYNET_INDEX_ERROR = 3,       ///< an index outside its range
  DYNET_STALE_EXPRESSION = 4,  ///< an expression that is empty, or whose graph is gone
  DYNET_GRADIENT_ERROR = 5,    ///< a gradient that was not computed
  DYNET_NUMERIC_ERROR = 6,     ///< a NaN or an infinity
  DYNET_FILE_ERROR = 7,        ///< a file that cannot be read or written
  DYNET_OUT_OF_MEMORY = 8,
  DYNET_DEVICE_ERROR = 9,    ///< a device that does not exist or has failed
  DYNET_INTERNAL_ERROR = 10  ///< an error that no other code names
};

/// An error, set by the function that fails first.
typedef struct dynet_error {
  size_t size;         ///< sizeof(dynet_error)
  int32_t code;        ///< a dynet_code
  uint32_t line;       ///< with `file`: the place of the next call, for messages; see DYNET_HERE
  const char* file;    ///< must live as long as the nodes that are made; may be NULL
  char message[1024];  ///< one sentence or several lines, cut to this size
} dynet_error;

/// Initializes an error: `dynet_error error = DYNET_NO_ERROR;`. Assign 0 to `code` to use it again.
#define DYNET_NO_ERROR \
  { sizeof(dynet_error), DYNET_OK, 0, NULL, "" }
/// The error at this address, or NULL, which knows this line of the program: messages name the line
/// of the last DYNET_HERE.
#define DYNET_HERE(error) dynet_error_here(error, __FILE__, __LINE__)
static inline dynet_error* dynet_error_here(dynet_error* error, const char* file, uint32_t line) {
  if (error) {
    error->file = file;
    error->line = line;
  }
  return error;
}

/// A shape: sizes and a separate batch size. Data are column-major, one batch element after
/// another.
typedef struct dynet_shape {
  uint32_t dimensions;  ///< at most 7
  uint32_t sizes[7];    ///< of the dimensions
  uint32_t batch;       ///< 1 without a batch; 0 is read as 1
} dynet_shape;

typedef struct dynet_model dynet_model;          ///< a collection of parameters
typedef struct dynet_parameter dynet_parameter;  ///< a trained tensor, or a table of them
typedef struct dynet_graph dynet_graph;          ///< a graph of one sample or minibatch
typedef struct dynet_rnn dynet_rnn;              ///< a recurrent network over a sequence
typedef struct dynet_tree dynet_tree;            ///< a recurrent network over a tree
typedef struct dynet_trainer dynet_trainer;      ///< an optimizer

/// A result of a node of a graph. Zeros are the empty expression.
typedef struct dynet_expression {
  uint64_t reserved[4];  ///< of the library
} dynet_expression;

/// Which member of a dynet_value counts.
enum dynet_type {
  DYNET_EXPRESSION = 1,
  DYNET_EXPRESSIONS = 2,  ///< `count` of them
  DYNET_INTEGER = 3,
  DYNET_INTEGERS = 4,
  DYNET_NUMBER = 5,
  DYNET_NUMBERS = 6,
  DYNET_SHAPE = 7,
  DYNET_PARAMETER = 8,
  DYNET_TEXT = 9,
  DYNET_LISTS = 10  ///< `count` values, each of type DYNET_INTEGERS
};

/// An argument. What it points to must live until the call returns.
typedef struct dynet_value {
  int32_t type;    ///< a dynet_type
  uint32_t count;  ///< of the elements behind a pointer
  union {
    dynet_expression expression;
    const dynet_expression* expressions;
    int64_t integer;
    const int64_t* integers;
    double number;
    const float* numbers;
    const dynet_shape* shape;
    const dynet_parameter* parameter;
    const char* text;
    const struct dynet_value* lists;
  } as;  ///< the member that `type` names
} dynet_value;

/// The version of this interface that the library has, and the version of the library as text.
uint32_t dynet_c_version(void);
const char* dynet_version(void);

/// Families of names that DYNET_CALL and the functions ending in `_new` know.
enum dynet_family {
  DYNET_OPERATIONS = 1,
  DYNET_RNNS = 2,
  DYNET_TREES = 3,
  DYNET_TRAINERS = 4,
  DYNET_INITIALIZERS = 5
};
/// Name number i of a family with its arguments and their defaults, as in "softmax(x, d = 0)"; NULL
/// from the last one on.
const char* dynet_signature(int32_t family, size_t i);

// Models.

/// An empty collection of parameters.
dynet_model* dynet_model_new(dynet_error* error);
/// A collection inside this one; "" as a name is allowed.
dynet_model* dynet_model_add_subcollection(dynet_model* model, const char* name,
                                           dynet_error* error);
void dynet_model_free(dynet_model* model);
/// The seed of the initial values of parameters added afterwards; 1 at the start.
void dynet_model_set_seed(dynet_model* model, uint64_t seed, dynet_error* error);
/// After every update w <- (1 - lambda) w, for 0 <= lambda < 1.
void dynet_model_set_weight_decay(dynet_model* model, double lambda, dynet_error* error);
/// Drops the gradients of all parameters.
void dynet_model_reset_gradient(dynet_model* model, dynet_error* error);

/// Adds a parameter of this shape. `initializer` is a name of DYNET_INITIALIZERS with its
/// arguments, such as "normal(0, 0.01)"; NULL is "glorot". A name has neither
/// `/` nor `_`; further ones of the same name become "W_1", "W_2", those without one "_0", "_1".
dynet_parameter* dynet_add_parameters(dynet_model* model, const char* name, const uint32_t* sizes,
                                      size_t dimensions, const char* initializer,
                                      dynet_error* error);
/// Adds a table of `rows` rows of this shape.
dynet_parameter* dynet_add_lookup_parameters(dynet_model* model, const char* name, uint32_t rows,
                                             const uint32_t* sizes, size_t dimensions,
                                             const char* initializer, dynet_error* error);
/// Number of parameters and tables of the model and its subcollections; parameter i, parameters
/// first, then tables, in order of creation; the parameter with this full name, such as "/sub/W",
/// or NULL without an error.
size_t dynet_model_size(const dynet_model* model);
dynet_parameter* dynet_model_parameter(dynet_model* model, size_t i, dynet_error* error);
dynet_parameter* dynet_model_find(dynet_model* model, const char* full_name, dynet_error* error);

/// The full name; valid as long as the model.
const char* dynet_parameter_name(const dynet_parameter* parameter);
/// The shape; of a table with its rows along the last dimension.
void dynet_parameter_shape(const dynet_parameter* parameter, dynet_shape* shape,
                           dynet_error* error);
/// Reads or sets all values, or reads the accumulated gradient; `count` is the number of all
/// values.
void dynet_parameter_get(const dynet_parameter* parameter, float* values, size_t count,
                         dynet_error* error);
void dynet_parameter_set(const dynet_parameter* parameter, const float* values, size_t count,
                         dynet_error* error);
void dynet_parameter_get_gradient(const dynet_parameter* parameter, float* values, size_t count,
                                  dynet_error* error);
/// Freezes a parameter (0) or lets trainers update it.
void dynet_parameter_set_updated(const dynet_parameter* parameter, int32_t updated,
                                 dynet_error* error);

/// Writes the values of a model, the state of a trainer of it unless it is NULL, and a text unless
/// it is NULL, such as a vocabulary: all of it, or the old file stays. `save_model` of Python
/// writes the same without the text.
void dynet_save(const char* path, const dynet_model* model, const dynet_trainer* trainer,
                const char* text, dynet_error* error);
/// How a file is loaded, as bits.
enum dynet_load_flags {
  /// Parameters are used where they lie in the mapped file, whose pages all processes share. No
  /// program may change the file in place as long as the model lives: if it is truncated, the
  /// system
  /// ends the process. `dynet_save` never does, it renames a new file.
  DYNET_LOAD_MAP = 1,
  /// With DYNET_LOAD_MAP: pages are read when they are first used, without comparing checksums.
  DYNET_LOAD_UNVERIFIED = 2
};
/// Reads such a file into a model with the same names and shapes, and, unless it is
/// NULL, the state of the trainer in the file into a trainer of its kind. `flags` are
/// dynet_load_flags, or 0. After an error nothing has changed.
void dynet_load(const char* path, dynet_model* model, dynet_trainer* trainer, uint32_t flags,
                dynet_error* error);
/// The length of the text of a file without its final zero, 0 if it has none. Copies it, with the
/// final zero, if it fits into `room` bytes.
size_t dynet_read_text(const char* path, char* text, size_t room, dynet_error* error);

// Graphs.

/// Options of a graph; zeros are the defaults.
typedef struct dynet_graph_options {
  size_t size;             ///< sizeof(dynet_graph_options)
  int32_t has_seed;        ///< nonzero: random draws depend on `seed`
  int32_t has_buffer;      ///< nonzero: gradients are added in the buffer `buffer`
  uint64_t seed;           ///< see has_seed
  uint32_t buffer;         ///< see has_buffer
  int32_t inference;       ///< only forward; memory of values that are not read any more is freed
  int32_t immediate;       ///< computes each node when it is made
  int32_t check_validity;  ///< a NaN or an infinity is an error
  int32_t unbatched;       ///< every node runs alone
  const char* device;      ///< "CPU", "GPU:0"; NULL: the default
  const char* precision;   ///< of products: "float32", "tf32" or "bf16"; NULL: "float32"
} dynet_graph_options;
/// Initializes options.
#define DYNET_GRAPH_OPTIONS \
  { sizeof(dynet_graph_options), 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL }

/// An empty graph; NULL are the default options. Without a seed each graph of the process has
/// other draws. "dropout" and the like do the same in inference: a program leaves them out there.
dynet_graph* dynet_graph_new(const dynet_graph_options* options, dynet_error* error);
void dynet_graph_free(dynet_graph* graph);
/// Makes a new, empty graph of this one: cheaper than to free it and to create another.
void dynet_graph_renew(dynet_graph* graph, const dynet_graph_options* options, dynet_error* error);
/// The number of nodes.
size_t dynet_graph_size(const dynet_graph* graph);
/// Marks the present end of the graph; removes all nodes made since the last mark, and the mark. A
/// node whose value cannot be computed is an error for those made after it, until it is removed or
/// the graph renewed.
void dynet_graph_checkpoint(dynet_graph* graph, dynet_error* error);
void dynet_graph_revert(dynet_graph* graph, dynet_error* error);

/// Applies an operation. docs/operations.md has what they compute; dynet_signature lists their
/// names and arguments. Arguments at the end that have defaults may be left out; `none` is an
/// empty list, or no expression. A list of one may be a single value. `graph` is the graph of the
/// operands.
///
/// The operators of C++ are "add", "subtract", "multiply" (the product of matrices), "divide"
/// (elementwise) and "negate"; with a number "add_number", "subtract_from" and "scale". "input"
/// takes numbers, "number" a single one, "sparse_input" those at some indices. In "crf_log_prob"
/// and "span_log_prob" -1 is a tag or a label that is not known.
dynet_expression dynet_apply(dynet_graph* graph, const char* operation,
                             const dynet_value* arguments, size_t count, dynet_error* error);
/// The second result of an operation that has two: c of "lstm_cell" and "lstm_step".
dynet_expression dynet_second_result(dynet_expression e, dynet_error* error);

/// The shape; the value, computed if it is needed; the gradient of the last dynet_backward. `count`
/// is the number of all elements.
void dynet_get_shape(dynet_expression e, dynet_shape* shape, dynet_error* error);
void dynet_get_value(dynet_expression e, float* values, size_t count, dynet_error* error);
void dynet_get_gradient(dynet_expression e, float* values, size_t count, dynet_error* error);
/// The value of an expression that is one number.
float dynet_get_scalar(dynet_expression e, dynet_error* error);
/// Adds the gradients of a scalar to those of all parameters that it depends on. Expressions that
/// depend on no parameter have a gradient of zero, unless `full`.
void dynet_backward(dynet_expression e, int32_t full, dynet_error* error);

// Networks.

/// A network of DYNET_RNNS with parameters in the model: its arguments are those of the signature.
dynet_rnn* dynet_rnn_new(dynet_model* model, const char* kind, const dynet_value* arguments,
                         size_t count, dynet_error* error);
/// Another network with the same parameters, for another thread.
dynet_rnn* dynet_rnn_copy(const dynet_rnn* rnn, dynet_error* error);
void dynet_rnn_free(dynet_rnn* rnn);
/// Rates of dropout of the input of each layer and of its previous output, from the next sequence
/// on.
void dynet_rnn_set_dropout(dynet_rnn* rnn, double input, double recurrent, dynet_error* error);
/// Begins to use a graph; parameters get no gradient unless `update`.
void dynet_rnn_new_graph(dynet_rnn* rnn, dynet_graph* graph, int32_t update, dynet_error* error);
/// Begins a sequence at a state, or at zeros if `count` is 0.
void dynet_rnn_start(dynet_rnn* rnn, const dynet_expression* state, size_t count,
                     dynet_error* error);
/// Adds a step, after the last one or after step `previous` (-1: the initial state), and returns
/// the output of the top layer.
dynet_expression dynet_rnn_add_input(dynet_rnn* rnn, dynet_expression x, dynet_error* error);
dynet_expression dynet_rnn_add_input_after(dynet_rnn* rnn, int32_t previous, dynet_expression x,
                                           dynet_error* error);
/// The number of the last step.
int32_t dynet_rnn_last_step(const dynet_rnn* rnn);
/// The state at a step: cells, then outputs, of all layers. Returns their number and copies them if
/// they fit into `room`.
size_t dynet_rnn_get_state(const dynet_rnn* rnn, int32_t step, dynet_expression* state, size_t room,
                           dynet_error* error);

/// The same for the networks of DYNET_TREES: nodes have numbers, children are added before their
/// parents, and `x` may be empty for a node with children. Returns the output of the node.
dynet_tree* dynet_tree_new(dynet_model* model, const char* kind, const dynet_value* arguments,
                           size_t count, dynet_error* error);
dynet_tree* dynet_tree_copy(const dynet_tree* tree, dynet_error* error);
void dynet_tree_free(dynet_tree* tree);
void dynet_tree_new_graph(dynet_tree* tree, dynet_graph* graph, int32_t update, dynet_error* error);
void dynet_tree_start(dynet_tree* tree, dynet_error* error);
dynet_expression dynet_tree_add_input(dynet_tree* tree, int32_t node, const int32_t* children,
                                      size_t count, dynet_expression x, dynet_error* error);

// Trainers.

/// A trainer of DYNET_TRAINERS for the parameters of a model.
dynet_trainer* dynet_trainer_new(dynet_model* model, const char* kind, const dynet_value* arguments,
                                 size_t count, dynet_error* error);
void dynet_trainer_free(dynet_trainer* trainer);
/// One step with `scale` times the accumulated gradients, which are then dropped.
void dynet_trainer_update(dynet_trainer* trainer, double scale, dynet_error* error);
/// A setting by its name: "learning_rate"; "clip_threshold", at first 5, 0 for no clipping;
/// "sparse_updates" and "skip_non_finite", 0 or 1.
void dynet_trainer_set(dynet_trainer* trainer, const char* setting, double value,
                       dynet_error* error);
double dynet_trainer_get(const dynet_trainer* trainer, const char* setting, dynet_error* error);

// Arguments.

static inline dynet_value dynet_value_of_type(int32_t type, size_t count) {
  dynet_value value;
  value.type = type;
  value.count = (uint32_t)count;
  value.as.expression.reserved[0] = value.as.expression.reserved[1] = 0;
  value.as.expression.reserved[2] = value.as.expression.reserved[3] = 0;
  return value;
}
/// One expression; several.
static inline dynet_value dynet_expr(dynet_expression e) {
  dynet_value value = dynet_value_of_type(DYNET_EXPRESSION, 1);
  value.as.expression = e;
  return value;
}
static inline dynet_value dynet_exprs(const dynet_expression* list, size_t count) {
  dynet_value value = dynet_value_of_type(DYNET_EXPRESSIONS, count);
  value.as.expressions = list;
  return value;
}
/// An integer, an index, a size, 0 or 1 for no or yes; several.
static inline dynet_value dynet_int(int64_t integer) {
  dynet_value value = dynet_value_of_type(DYNET_INTEGER, 1);
  value.as.integer = integer;
  return value;
}
static inline dynet_value dynet_ints(const int64_t* list, size_t count) {
  dynet_value value = dynet_value_of_type(DYNET_INTEGERS, count);
  value.as.integers = list;
  return value;
}
/// Lists of integers, each made by `dynet_ints`.
static inline dynet_value dynet_lists(const dynet_value* lists, size_t count) {
  dynet_value value = dynet_value_of_type(DYNET_LISTS, count);
  value.as.lists = lists;
  return value;
}
/// A number; several.
static inline dynet_value dynet_num(double number) {
  dynet_value value = dynet_value_of_type(DYNET_NUMBER, 1);
  value.as.number = number;
  return value;
}
static inline dynet_value dynet_nums(const float* list, size_t count) {
  dynet_value value = dynet_value_of_type(DYNET_NUMBERS, count);
  value.as.numbers = list;
  return value;
}
/// A shape. Without a batch, `dynet_int` or `dynet_ints` of the sizes does as well.
static inline dynet_value dynet_dims(const dynet_shape* shape) {
  dynet_value value = dynet_value_of_type(DYNET_SHAPE, 1);
  value.as.shape = shape;
  return value;
}
/// A parameter or a table.
static inline dynet_value dynet_param(const dynet_parameter* parameter) {
  dynet_value value = dynet_value_of_type(DYNET_PARAMETER, 1);
  value.as.parameter = parameter;
  return value;
}
static inline dynet_value dynet_text(const char* text) {
  dynet_value value = dynet_value_of_type(DYNET_TEXT, 1);
  value.as.text = text;
  return value;
}

#ifdef __cplusplus
}
#else
/// `dynet_apply` with the arguments of the operation behind its name. Not in C++.
#define DYNET_CALL(graph, error, operation, ...)                    \
  dynet_apply(graph, operation, (const dynet_value[]){__VA_ARGS__}, \
              sizeof((const dynet_value[]){__VA_ARGS__}) / sizeof(dynet_value), DYNET_HERE(error))
#endif
