// Tests in the style of DyNet's own: a fixture that writes storages, and cases that read them.

#include <dynet/dynet.h>
#include <dynet/expr.h>
#include <dynet/grad-check.h>
#include <dynet/io.h>
#include <dynet/training.h>

#include <stdexcept>

using namespace dynet;
using namespace std;

struct NodeTest {
  NodeTest() {
    // Without a seed of its own a test is another one every time.
    vector<const char*> words = {"NodeTest", "--dynet-seed", "10", "--dynet-mem", "10"};
    for (const char* word : words) av.push_back(strdup(word));
    vector<char*> left = av;  // without the options that are taken out
    char** argv = &left[0];
    int argc = (int)left.size();
    dynet::initialize(argc, argv);
    param1 = mod.add_parameters({3});
    param2 = mod.add_parameters({3});
    square1 = mod.add_parameters({3, 3});
    table = mod.add_lookup_parameters(4, {3});
    TensorTools::set_elements(param1.get_storage().values, {1.1f, -2.2f, 3.3f});
    TensorTools::set_elements(param2.get_storage().values, {-1.1f, 2.2f, 0.3f});
    TensorTools::set_elements(square1.get_storage().values, {1, 0, 0, 0, 2, 0, 0, 0, 3});
    for (unsigned i = 0; i < 4; ++i) table.initialize(i, {(float)i, 1, -1});
  }
  ~NodeTest() {
    for (char* word : av) free(word);
  }

  template <class T>
  string print_vec(const vector<T>& vec) {
    ostringstream out;
    for (size_t i = 0; i < vec.size(); ++i) out << (i ? " " : "") << vec[i];
    return out.str();
  }

  vector<char*> av;
  ParameterCollection mod;
  Parameter param1, param2, square1;
  LookupParameter table;
};

int failures = 0;
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      cout << __FILE__ << ":" << __LINE__ << ": " #condition << endl; \
    }                                                                 \
  } while (0)
#define CHECK_THROW(statement, type) \
  do {                               \
    bool thrown = false;             \
    try {                            \
      statement;                     \
    } catch (const type&) {          \
      thrown = true;                 \
    }                                \
    CHECK(thrown);                   \
  } while (0)

int main() {
  NodeTest t;
  {
    ComputationGraph cg;
    Expression x = parameter(cg, t.param1), y = parameter(cg, t.param2);
    Expression z = sum_elems(cmult(x, y) + t.table.dim().size() * input(cg, 0.0f));
    CHECK(check_grad(t.mod, z, 0));
  }
  {  // gradients as they stand in the storage
    ComputationGraph cg;
    Expression x = parameter(cg, t.param1), w = parameter(cg, t.square1);
    Expression z = dot_product(w * x, lookup(cg, t.table, 2u));
    t.mod.reset_gradient();
    cg.backward(z);
    CHECK(t.print_vec(as_vector(t.param1.get_storage().g)) == "2 2 -3");
    CHECK(t.print_vec(as_vector(t.table.get_storage().grads[2])) == "1.1 -4.4 9.9");
    CHECK(t.print_vec(as_vector(t.table.get_storage().grads[1])) == "0 0 0");
  }
  {  // a step of a trainer, as its tests make it
    SimpleSGDTrainer trainer(t.mod, 1.0);
    trainer.clipping_enabled = false;
    const vector<float> before = as_vector(t.param2.get_storage().values);
    t.mod.reset_gradient();
    ComputationGraph cg;
    cg.backward(sum_elems(parameter(cg, t.param2)));
    trainer.update();
    const vector<float> after = as_vector(t.param2.get_storage().values);
    for (size_t i = 0; i < after.size(); ++i) CHECK(fabs(before[i] - 1 - after[i]) < 1e-6);
  }
  ComputationGraph cg;
  Expression x = parameter(cg, t.param1);
  CHECK_THROW(x + parameter(cg, t.square1) * input(cg, {2}, {1, 2}), std::invalid_argument);
  CHECK_THROW(pick(x, 7u), std::invalid_argument);
  CHECK_THROW(concatenate({x, parameter(cg, t.square1)}), std::invalid_argument);
  CHECK_THROW(TextFileLoader("no/such/file").populate(t.mod), std::runtime_error);
  CHECK_THROW(pick(x, 7u), std::exception);
  CHECK_THROW(TextFileLoader("no/such/file").populate(t.mod), std::exception);
  CHECK_THROW(t.mod.add_parameters({2}, "a/b"), std::exception);
  cout << failures << " failures" << endl;
  return failures;
}
