// DyNet's ways to look at a model change no bit of training; its ways to write gradients count.

#include <functional>
#include <sstream>
#include <vector>

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/io.h"
#include "dynet/tensor.h"
#include "dynet/training.h"
#include "tests/io/folder.h"
#include "tests/param/plant.h"
#include "tests/support/all_values.h"
#include "tests/support/catch.h"

namespace looking_test {

using namespace dynet;

namespace {

struct Small {
  ParameterCollection m;
  Parameter w = m.add_parameters({2, 3}, ParameterInitConst(0.5f), "w");
  Parameter never = m.add_parameters({3}, ParameterInitConst(1), "never");
  LookupParameter e = m.add_lookup_parameters(4, {3}, ParameterInitConst(0.25f), "e");
  AdamWTrainer trainer{m, 0.1f};

  void backward(unsigned t, unsigned buffer) {
    ComputationGraph g;
    const Expression y = parameter(g, w) * lookup(g, e, t % 3);
    g.backward(squared_norm(y) * (1.0f + static_cast<float>(buffer)) + sum_elems(y));
  }
  std::vector<float> train(const std::function<void(Small&)>& look) {
    for (unsigned t = 0; t < 12; ++t) {
      for (unsigned buffer = 0; buffer < 4; ++buffer) {
        backward(t + buffer, buffer);
        look(*this);
      }
      trainer.update();
      look(*this);
    }
    return test::all_values(m);
  }
};

}  // namespace

TEST_CASE("looking in DyNet's ways changes no bit of training") {
  const TemporaryFolder folder;
  const std::vector<std::function<void(Small&)>> looks{
      [](Small& s) {
        for (const Parameter* p : {&s.w, &s.never}) {
          const Tensor g = *p->gradients();
          TensorTools::argmax(g, 0);
          TensorTools::topk(g, 0, 2);
          TensorTools::access_element(g, 1);
          as_scale_vector(g, 2);
          Tensor copy = make_tensor(g.d);
          TensorTools::copy_elements(copy, g);
          TensorTools::accumulate(copy, g);
          CHECK(g.is_valid());
        }
      },
      [](Small& s) {
        std::ostringstream out;
        out << *s.w.values() << *s.never.gradients() << s.e.values()[1];
      },
      [&](Small& s) {
        TextFileSaver saver(folder / "text");
        saver.save(s.m);
      },
      [&](Small& s) {
        TextFileSaver saver(folder / "one");
        saver.save(s.never);
        saver.save(s.e);
      },
      [](Small& s) { s.m.gradient_l2_norm(); },
      [](Small& s) { s.e.get_storage(); },
      [](Small& s) { s.e.p->grads[0].v[0] += 0.0f; },
  };
  const std::vector<float> plain = Small().train([](Small&) {});
  for (std::size_t k = 0; k < looks.size(); ++k) {
    CAPTURE(k);
    CHECK(same_bits(Small().train(looks[k]), plain));
  }
}

TEST_CASE("gradients that a program writes are those of the update") {
  ParameterCollection m;
  Parameter p = m.add_parameters({2}, ParameterInitConst(1)),
            q = m.add_parameters({2}, ParameterInitConst(1));
  SimpleSGDTrainer trainer(m, 1);
  {
    ComputationGraph g;
    g.backward(squared_norm(parameter(g, p)));
  }
  TensorTools::set_element(*p.gradients(), 1, 0.5f);
  TensorTools::constant(*q.gradients(), 0.25f);
  q.gradients()->v[0] *= 2;
  trainer.update();
  CHECK(as_vector(*p.values()) == std::vector<float>{-1, 0.5f});
  CHECK(as_vector(*q.values()) == std::vector<float>{0.5f, 0.75f});
  trainer.update();  // once
  CHECK(as_vector(*p.values()) == std::vector<float>{-1, 0.5f});
  TensorTools::zero(*p.gradients());
  trainer.update();
  CHECK(as_vector(*p.values()) == std::vector<float>{-1, 0.5f});
}

}  // namespace looking_test
