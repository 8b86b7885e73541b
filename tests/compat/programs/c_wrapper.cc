// A C interface around DyNet: opaque pointers to copies on the heap, errors as codes. The program
// at the end knows only the interface.

#include <dynet/devices.h>
#include <dynet/dynet.h>
#include <dynet/except.h>
#include <dynet/expr.h>
#include <dynet/init.h>
#include <dynet/io.h>
#include <dynet/model.h>
#include <dynet/param-init.h>
#include <dynet/rnn.h>
#include <dynet/tensor.h>
#include <dynet/training.h>

#define EXPORT extern "C"

EXPORT {
  typedef int DN_STATUS;
  enum { DN_OK = 0, DN_ERROR = -1 };
  struct dnShape_t;
  struct dnTensor_t;
  struct dnParameter_t;
  struct dnModel_t;
  struct dnTrainer_t;
  struct dnGraph_t;
  struct dnExpression_t;
}

namespace {

std::string last_error;

template <class Cpp, class C>
Cpp* to_cpp(C* p) {
  return reinterpret_cast<Cpp*>(p);
}
template <class Cpp, class C>
const Cpp* to_cpp(const C* p) {
  return reinterpret_cast<const Cpp*>(p);
}
template <class C, class Cpp>
C* to_c(const Cpp& value) {
  return reinterpret_cast<C*>(new Cpp(value));
}

DN_STATUS failed(const std::exception& error) {
  last_error = error.what();
  return DN_ERROR;
}

}  // namespace

#define TRY(...)                     \
  try {                              \
    __VA_ARGS__;                     \
  } catch (std::exception & error) { \
    return failed(error);            \
  }                                  \
  return DN_OK

EXPORT DN_STATUS dnCreateShape(const unsigned* sizes, unsigned n, unsigned batch, dnShape_t** out) {
  TRY(const std::vector<long> d(sizes, sizes + n); *out = to_c<dnShape_t>(dynet::Dim(d, batch)));
}
EXPORT DN_STATUS dnDeleteShape(dnShape_t* s) { TRY(delete to_cpp<dynet::Dim>(s)); }
EXPORT DN_STATUS dnInitialize(unsigned seed) {
  TRY(dynet::DynetParams params; params.random_seed = seed;
      params.gpu_mask = std::vector<int>(256, 0); dynet::initialize(params));
}
EXPORT DN_STATUS dnCreateModel(dnModel_t** out) {
  TRY(*out = to_c<dnModel_t>(dynet::ParameterCollection()));
}
EXPORT DN_STATUS dnDeleteModel(dnModel_t* m) { TRY(delete to_cpp<dynet::ParameterCollection>(m)); }
EXPORT DN_STATUS dnAddParameters(dnModel_t* m, const dnShape_t* s, const char* name,
                                 dnParameter_t** out) {
  TRY(*out = to_c<dnParameter_t>(to_cpp<dynet::ParameterCollection>(m)->add_parameters(
          *to_cpp<dynet::Dim>(s), dynet::ParameterInitGlorot(), std::string(name))));
}
// A pointer into the model: DyNet's `values` is one.
EXPORT DN_STATUS dnGetParameterValues(dnParameter_t* p, dnTensor_t** out) {
  TRY(*out = reinterpret_cast<dnTensor_t*>(
          static_cast<dynet::Tensor*>(to_cpp<dynet::Parameter>(p)->values())));
}
EXPORT DN_STATUS dnCopyTensor(const dnTensor_t* t, float* out, unsigned* n) {
  TRY(const auto v = dynet::as_vector(*to_cpp<dynet::Tensor>(t));
      if (out) std::copy(v.begin(), v.end(), out); *n = static_cast<unsigned>(v.size()));
}
EXPORT DN_STATUS dnDeleteParameter(dnParameter_t* p) { TRY(delete to_cpp<dynet::Parameter>(p)); }
EXPORT DN_STATUS dnCreateMomentumTrainer(dnModel_t* m, float lr, dnTrainer_t** out) {
  TRY(dynet::MomentumSGDTrainer trainer(*to_cpp<dynet::ParameterCollection>(m), lr);
      *out = reinterpret_cast<dnTrainer_t*>(
          static_cast<dynet::Trainer*>(new dynet::MomentumSGDTrainer(trainer))));
}
EXPORT DN_STATUS dnUpdate(dnTrainer_t* t) { TRY(to_cpp<dynet::Trainer>(t)->update()); }
EXPORT DN_STATUS dnDeleteTrainer(dnTrainer_t* t) { TRY(delete to_cpp<dynet::Trainer>(t)); }
EXPORT DN_STATUS dnCreateGraph(dnGraph_t** out) {
  TRY(*out = reinterpret_cast<dnGraph_t*>(new dynet::ComputationGraph));
}
EXPORT DN_STATUS dnDeleteGraph(dnGraph_t* g) { TRY(delete to_cpp<dynet::ComputationGraph>(g)); }
EXPORT DN_STATUS dnInput(dnGraph_t* g, const dnShape_t* s, const float* x, unsigned n,
                         dnExpression_t** out) {
  TRY(dynet::Device* const device = dynet::get_device_manager()->get_global_device("CPU");
      *out = to_c<dnExpression_t>(dynet::input(*to_cpp<dynet::ComputationGraph>(g),
                                               *to_cpp<dynet::Dim>(s), std::vector<float>(x, x + n),
                                               device)));
}
EXPORT DN_STATUS dnParameter(dnGraph_t* g, dnParameter_t* p, dnExpression_t** out) {
  TRY(*out = to_c<dnExpression_t>(
          dynet::parameter(*to_cpp<dynet::ComputationGraph>(g), *to_cpp<dynet::Parameter>(p))));
}
EXPORT DN_STATUS dnMultiply(const dnExpression_t* x, const dnExpression_t* y,
                            dnExpression_t** out) {
  TRY(*out = to_c<dnExpression_t>(*to_cpp<dynet::Expression>(x) * *to_cpp<dynet::Expression>(y)));
}
EXPORT DN_STATUS dnSquaredDistance(const dnExpression_t* x, const dnExpression_t* y,
                                   dnExpression_t** out) {
  TRY(*out = to_c<dnExpression_t>(
          dynet::squared_distance(*to_cpp<dynet::Expression>(x), *to_cpp<dynet::Expression>(y))));
}
EXPORT DN_STATUS dnForward(dnGraph_t* g, const dnExpression_t* e, dnTensor_t** out) {
  TRY(*out = to_c<dnTensor_t>(
          to_cpp<dynet::ComputationGraph>(g)->forward(*to_cpp<dynet::Expression>(e))));
}
EXPORT DN_STATUS dnBackward(dnGraph_t* g, const dnExpression_t* e) {
  TRY(to_cpp<dynet::ComputationGraph>(g)->backward(*to_cpp<dynet::Expression>(e)));
}
EXPORT DN_STATUS dnDeleteTensor(dnTensor_t* t) { TRY(delete to_cpp<dynet::Tensor>(t)); }
EXPORT DN_STATUS dnDeleteExpression(dnExpression_t* e) { TRY(delete to_cpp<dynet::Expression>(e)); }

#define CHECKED(call)                                     \
  do {                                                    \
    if ((call) != DN_OK) {                                \
      std::cout << "failed: " << last_error << std::endl; \
      return 1;                                           \
    }                                                     \
  } while (0)

int main() {
  dnShape_t *matrix = nullptr, *vector = nullptr;
  const unsigned sizes[] = {2, 2};
  CHECKED(dnInitialize(5));
  CHECKED(dnCreateShape(sizes, 2, 1, &matrix));
  CHECKED(dnCreateShape(sizes, 1, 1, &vector));
  dnModel_t* model = nullptr;
  CHECKED(dnCreateModel(&model));
  dnParameter_t* w = nullptr;
  CHECKED(dnAddParameters(model, matrix, "W", &w));
  dnTrainer_t* trainer = nullptr;
  CHECKED(dnCreateMomentumTrainer(model, 0.05f, &trainer));
  const float xs[][2] = {{1, 0}, {0, 1}, {1, 1}}, ys[][2] = {{2, -1}, {0.5f, 3}, {2.5f, 2}};
  float loss = 0;
  for (int step = 0; step < 300; ++step) {
    dnGraph_t* g = nullptr;
    dnExpression_t *x = nullptr, *y = nullptr, *p = nullptr, *product = nullptr, *e = nullptr;
    CHECKED(dnCreateGraph(&g));
    CHECKED(dnInput(g, vector, xs[step % 3], 2, &x));
    CHECKED(dnInput(g, vector, ys[step % 3], 2, &y));
    CHECKED(dnParameter(g, w, &p));
    CHECKED(dnMultiply(p, x, &product));
    CHECKED(dnSquaredDistance(product, y, &e));
    dnTensor_t* value = nullptr;
    unsigned n = 0;
    CHECKED(dnForward(g, e, &value));
    CHECKED(dnCopyTensor(value, &loss, &n));
    CHECKED(dnBackward(g, e));
    CHECKED(dnUpdate(trainer));
    if (step == 0) {  // a mistake is a code and a text
      dnExpression_t* wrong = nullptr;
      if (dnMultiply(x, p, &wrong) == DN_OK || last_error.empty()) return 1;
    }
    CHECKED(dnDeleteTensor(value));
    for (dnExpression_t* each : {x, y, p, product, e}) CHECKED(dnDeleteExpression(each));
    CHECKED(dnDeleteGraph(g));
  }
  dnTensor_t* values = nullptr;
  float numbers[4];
  unsigned n = 0;
  CHECKED(dnGetParameterValues(w, &values));
  CHECKED(dnCopyTensor(values, numbers, &n));
  std::cout << "W =";
  for (unsigned i = 0; i < n; ++i) std::cout << ' ' << std::round(numbers[i] * 100) / 100;
  std::cout << "\nloss = " << loss << std::endl;
  CHECKED(dnDeleteTrainer(trainer));
  CHECKED(dnDeleteParameter(w));
  CHECKED(dnDeleteModel(model));
  CHECKED(dnDeleteShape(matrix));
  CHECKED(dnDeleteShape(vector));
  return 0;
}
