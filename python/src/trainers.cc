#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <sstream>
#include <string_view>
#include <variant>

#include "bindings.h"
#include "dynet-like/base/workers.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

// The first setting, if it is the learning rate, has the names `learning_rate` and `lr`, too.
template <class T, class... Args, class First, class... Rest>
void define(nb::module_& m, const char* name, const char* doc,
            nb::init<ParameterCollection, Args...>, const First& first, const Rest&... rest) {
  nb::class_<T, Trainer> trainer(m, name, nb::dynamic_attr(), doc);
  const auto make = [](T* self, const ParameterCollection& pc, Args... args) {
    new (self) T(pc, args...);
  };
  trainer.def("__init__", make, "m"_a, first, rest...);
  const std::string_view rate = first.name_;
  for (const char* other : {"learning_rate", "lr"})
    if ((rate == "alpha" || rate == "learning_rate") && rate != other)
      trainer.def("__init__", make, "m"_a, nb::kw_only(), nb::arg(other), rest...);
  trainer
      .def(
          "whoami", [name](const T&) { return name; }, "The name of the class.")
      .def("__repr__", [name](const T& t) {
        std::ostringstream text;
        text << '<' << name << ", learning rate " << t.learning_rate << '>';
        return text.str();
      });
}

// Parameters from a list of parameters, or of their indices in the collection's list.
template <class P, class List>
std::vector<P> chosen(const char* who, nb::handle given, const List& all) {
  std::vector<P> result;
  for (const nb::handle h : given) {
    if (nb::isinstance<P>(h)) {
      result.push_back(nb::cast<const P&>(h));
      continue;
    }
    const auto i = nb::cast<std::size_t>(h);
    if (i >= all.size())
      throw IndexError(std::string(who) + ": there are only " + std::to_string(all.size()), here());
    result.push_back(all[i]);
  }
  return result;
}

void update_subset(Trainer& t, nb::handle params, nb::handle tables) {
  const auto p = chosen<Parameter>("update_subset", params, t.collection().parameters_list());
  const auto l =
      chosen<LookupParameter>("update_subset", tables, t.collection().lookup_parameters_list());
  const nb::gil_scoped_release release;
  t.update(p, l);
}

using Schedule = LearningRateSchedule;

void bind_schedules(nb::module_& m) {
  nb::class_<Schedule>(m, "LearningRateSchedule",
                       "The learning rate of each update as a function of its number.")
      .def(nb::init<>(), "No schedule.")
      .def_static("warm_up", &Schedule::warm_up, "rate"_a, "warm_up"_a,
                  "Grows linearly over `warm_up` updates, then stays.")
      .def_static("inverse_square_root", &Schedule::inverse_square_root, "rate"_a, "warm_up"_a,
                  "The same, then rate sqrt(warm_up / t) (Vaswani et al. 2017).")
      .def_static("cosine", &Schedule::cosine, "rate"_a, "updates"_a, "lowest"_a = 0.0,
                  "warm_up"_a = 0,
                  "After a warm-up half a cosine down to `lowest` after `updates` updates\n"
                  "(Loshchilov and Hutter 2017).")
      .def_static("cyclical", &Schedule::cyclical, "lowest"_a, "highest"_a, "step_size"_a,
                  "gamma"_a = 1.0, "Up and down in steps of `step_size` updates (Smith 2017).")
      .def("rate", &Schedule::rate, "done"_a, "The rate of the next update after `done` of them.");
  nb::class_<ReduceOnPlateau>(
      m, "ReduceOnPlateau", "Lowers the learning rate when a loss of held-out data does not fall.")
      .def(nb::init<float, std::uint64_t, float, float>(), "factor"_a = 0.5, "patience"_a = 2,
           "threshold"_a = 1e-4, "lowest"_a = 0.0)
      .def("observe", &ReduceOnPlateau::observe, "loss"_a, "trainer"_a,
           "Looks at a new loss; True if the rate was lowered.");
}

void bind_trainer(nb::module_& m) {
  nb::class_<Trainer>(m, "Trainer", nb::dynamic_attr(),
                      "Turns gradients into new values of parameters.")
      .def(
          "update",
          [](Trainer& t) {
            const Unlocked unlocked;
            t.update();
          },
          "One step with the gradients that were added up, which are dropped. NumericError if\n"
          "their norm is not finite, which changes nothing else.\n\n"
          ">>> w, trainer = pc.add_parameters(2, init=1), dy.SimpleSGDTrainer(pc, lr=0.25)\n"
          ">>> dy.squared_norm(w).backward()\n"
          ">>> trainer.update()\n"
          ">>> w.as_array()\n"
          "array([0.5, 0.5])")
      .def("update_subset", update_subset, "updated_params"_a, "updated_lookups"_a,
           "A step of these alone: parameters and tables, or their places in the lists of the\n"
           "collection.")
      .def(
          "update_epoch", [](Trainer&, float) {}, "r"_a, "Does nothing.")
      .def(
          "status",
          [](Trainer& t) {
            nb::module_::import_("sys").attr("stderr").attr("write")(t.status() + ' ');
          },
          "Writes learning rate, clips and updates since the last call to the standard error.")
      .def("summary", &Trainer::status, "The same as a string.")
      .def_rw("learning_rate", &Trainer::learning_rate)
      .def_rw("lr", &Trainer::learning_rate, "The same as `learning_rate`.")
      .def(
          "set_learning_rate", [](Trainer& t, float value) { t.learning_rate = value; }, "value"_a)
      .def(
          "set_sparse_updates", [](Trainer& t, Flag su) { t.sparse_updates_enabled = su; }, "su"_a,
          "Whether rows of tables that were not used take no step.")
      .def(
          "set_clip_threshold",
          [](Trainer& t, float thr) {
            t.clipping_enabled = thr > 0;
            t.clip_threshold = thr > 0 ? thr : 0;
          },
          "thr"_a,
          "Gradients with a larger norm are scaled down to it; no clipping unless thr > 0.")
      .def(
          "get_clip_threshold", [](Trainer& t) { return t.clip_threshold; },
          "See `set_clip_threshold`.")
      .def(
          "restart",
          [](Trainer& t, std::optional<float> learning_rate) {
            learning_rate ? t.restart(*learning_rate) : t.restart();
          },
          "learning_rate"_a = nb::none(), "Forgets all state, as if it were new.")
      .def("set_schedule", &Trainer::set_schedule, "schedule"_a,
           "The rate of each update is the schedule's from now on.")
      .def("set_workers", &Trainer::set_workers, "workers"_a.none(), nb::keep_alive<1, 2>(),
           "Threads that share in every update.")
      .def_rw("skip_non_finite", &Trainer::skip_non_finite,
              "An update with gradients that are not finite is left out and counted.")
      .def("exponential_moving_average", &Trainer::exponential_moving_average, "beta"_a,
           "every"_a = 1, "Keeps a <- beta a + (1 - beta) w beside each value w.")
      .def("cumulative_moving_average", &Trainer::cumulative_moving_average, "every"_a = 1,
           "Keeps the mean of all values over the updates.")
      .def("swap_params_to_moving_average", &Trainer::swap_params_to_moving_average,
           "save_weights"_a = true, "bias_correction"_a = false,
           "Replaces the values by their averages.")
      .def("swap_params_to_weights", &Trainer::swap_params_to_weights, "Puts the values back.");
}

}  // namespace

void bind_trainers(nb::module_& m) {
  using PC = ParameterCollection;
  bind_schedules(m);
  bind_trainer(m);
  define<SimpleSGDTrainer>(m, "SimpleSGDTrainer",
                           "w <- w - learning_rate g\n\n"
                           ">>> dy.SimpleSGDTrainer(pc, lr=0.5)\n"
                           "<SimpleSGDTrainer, learning rate 0.5>",
                           nb::init<PC, float>(), "learning_rate"_a = 0.1);
  define<CyclicalSGDTrainer>(
      m, "CyclicalSGDTrainer",
      "SGD whose rate goes up and down, from the one to the other in `step_size` updates (Smith\n"
      "2017)",
      nb::init<PC, float, float, float, float>(), "learning_rate_min"_a = 0.01,
      "learning_rate_max"_a = 0.1, "step_size"_a = 2000.0, "gamma"_a = 1.0);
  define<MomentumSGDTrainer>(m, "MomentumSGDTrainer", "v <- mom v - learning_rate g, w <- w + v",
                             nb::init<PC, float, float>(), "learning_rate"_a = 0.1, "mom"_a = 0.9);
  define<AdagradTrainer>(m, "AdagradTrainer",
                         "v <- v + g^2, w <- w - learning_rate g / sqrt(v + eps) (Duchi, Hazan,\n"
                         "Singer 2011)",
                         nb::init<PC, float, float>(), "learning_rate"_a = 0.1, "eps"_a = 1e-20);
  define<AdadeltaTrainer>(m, "AdadeltaTrainer",
                          "v <- rho v + (1 - rho) g^2, d = -g sqrt(u + eps) / sqrt(v + eps),\n"
                          "u <- rho u + (1 - rho) d^2, w <- w + d (Zeiler 2012)",
                          nb::init<PC, float, float>(), "eps"_a = 1e-6, "rho"_a = 0.95);
  define<RMSPropTrainer>(m, "RMSPropTrainer",
                         "v <- rho v + (1 - rho) g^2, w <- w - learning_rate g / sqrt(v + eps)\n"
                         "(Tieleman and Hinton 2012)",
                         nb::init<PC, float, float, float>(), "learning_rate"_a = 0.001,
                         "eps"_a = 1e-8, "rho"_a = 0.9);
  define<AdamTrainer>(m, "AdamTrainer",
                      "m <- beta_1 m + (1 - beta_1) g, v <- beta_2 v + (1 - beta_2) g^2,\n"
                      "w <- w - alpha sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + eps)\n"
                      "after t updates (Kingma and Ba 2015)\n\n"
                      ">>> dy.AdamTrainer(pc, lr=0.01)\n"
                      "<AdamTrainer, learning rate 0.01>",
                      nb::init<PC, float, float, float, float>(), "alpha"_a = 0.001,
                      "beta_1"_a = 0.9, "beta_2"_a = 0.999, "eps"_a = 1e-8);
  define<AmsgradTrainer>(
      m, "AmsgradTrainer",
      "Adam with the largest v so far in the place of v (Reddi, Kale, Kumar 2018)",
      nb::init<PC, float, float, float, float>(), "alpha"_a = 0.001, "beta_1"_a = 0.9,
      "beta_2"_a = 0.999, "eps"_a = 1e-8);
  define<AdamWTrainer>(
      m, "AdamWTrainer",
      "w <- (1 - alpha weight_decay) w - the step of Adam (Loshchilov and Hutter 2019)",
      nb::init<PC, float, float, float, float, float>(), "alpha"_a = 0.001, "beta_1"_a = 0.9,
      "beta_2"_a = 0.999, "eps"_a = 1e-8, "weight_decay"_a = 0.01);
  define<EGTrainer>(m, "EGTrainer",
                    "h <- mom h - learning_rate g, w_i <- w_i e^h_i / sum_j w_j e^h_j, for\n"
                    "parameters that add up to one (Kivinen and Warmuth 1997)",
                    nb::init<PC, float, float, float>(), "learning_rate"_a = 0.1, "mom"_a = 0.9,
                    "ne"_a = 0.0);
}

}  // namespace dynet::python
