#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>

#include "bindings.h"
#include "dynet-like/graph/observer.h"
#include "dynet-like/profile/profiler.h"
#include "dynet-like/profile/tensorboard.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

std::atomic<Profiler*>& active() {
  static auto& profiler = *new std::atomic<Profiler*>(nullptr);
  return profiler;
}

// Those that were entered, the innermost last: it alone records. Never shorter, since other threads
// may still be telling the last one something.
std::vector<std::shared_ptr<Profiler>>& entered() {
  static auto& all = *new std::vector<std::shared_ptr<Profiler>>;
  return all;
}

std::shared_ptr<Profiler> enter(const std::shared_ptr<Profiler>& profiler) {
  if (profiler->is_complete())
    throw ArgumentError("Profiler: has recorded all that it was made for; make another one",
                        here());
  entered().push_back(profiler);
  active() = profiler.get();
  profiler->watch(*current());
  return profiler;
}

// The one around it goes on with the graphs that are made next.
void leave(Profiler& profiler) {
  profiler.stop();
  if (active() != &profiler) return;
  Profiler* outer = nullptr;
  for (const std::shared_ptr<Profiler>& p : entered())
    if (!p->is_complete()) outer = p.get();
  active() = outer;
}

}  // namespace

void bind_profiler(nb::module_& m) {
  nb::class_<Profiler>(
      m, "Profiler",
      "Records where the time goes: what was batched and what not, in a table and a timeline.\n\n"
      "    with dy.Profiler() as profiler:\n"
      "        train()\n"
      "    print(profiler.table())\n"
      "    profiler.write_trace(\"run.json.gz\")  # for https://ui.perfetto.dev\n\n"
      "All graphs that are made within the block are watched, of all threads. Recorded are the "
      "first\n"
      "`record` updates after `skip` others, which are dropped if there are more; where no trainer "
      "is\n"
      "used, graphs count.")
      .def(
          "__init__",
          [](Profiler* self, unsigned skip, unsigned record, std::size_t most_calls) {
            new (self) Profiler({skip, record, most_calls});
          },
          "skip"_a = 5, "record"_a = 20, "most_calls"_a = ProfileSchedule().most_calls)
      .def("__enter__", &enter)
      .def(
          "__exit__", [](Profiler& p, const nb::args&) { leave(p); },
          nb::sig("def __exit__(self, *args: object) -> None"))
      .def("step", &Profiler::step, "Ends an update, where no trainer does.")
      .def("add_samples", &Profiler::add_samples, "n"_a, "Counts training samples, for the table.")
      .def("is_complete", &Profiler::is_complete, "Whether all updates were recorded.")
      .def("table", &Profiler::table, nb::call_guard<nb::gil_scoped_release>(),
           "Times by operation and line, what was not batched and why, what was read too early.")
      .def("write_table", &Profiler::write_table, "path"_a,
           nb::call_guard<nb::gil_scoped_release>(), "Writes the table to a file.")
      .def("write_trace", &Profiler::write_trace, "path"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Writes the timeline in Chrome's trace format, compressed if the name ends in `.gz`.");
}

void bind_tensorboard(nb::module_& m) {
  nb::class_<TensorBoardWriter>(
      m, "TensorBoardWriter",
      "Writes training curves and histograms for TensorBoard into a folder, which is made.\n\n"
      "    with dy.TensorBoardWriter(\"runs/1\") as board:\n"
      "        board.add_scalar(\"loss/train\", loss, update)\n"
      "        board.add_parameters(pc, epoch)\n\n"
      "`resumed_at` is the first step of a run that goes on: later steps of earlier files are not\n"
      "shown. Records are written at least every 30 seconds and at the end of the block.")
      .def(
          "__init__",
          [](TensorBoardWriter* self, const std::string& folder,
             std::optional<std::int64_t> resumed_at) {
            new (self) TensorBoardWriter(folder, resumed_at);
          },
          "folder"_a, "resumed_at"_a = nb::none())
      .def("add_scalar", &TensorBoardWriter::add_scalar, "tag"_a, "value"_a, "step"_a,
           "Adds a point to the curve `tag`, such as \"loss/dev\".")
      .def(
          "add_histogram",
          [](TensorBoardWriter& self, const std::string& tag, nb::object numbers,
             std::int64_t step) {
            if (nb::hasattr(numbers, "ravel")) numbers = numbers.attr("ravel")();
            self.add_histogram(tag, nb::cast<std::vector<float>>(numbers), step);
          },
          "tag"_a, "numbers"_a, "step"_a,
          nb::sig("def add_histogram(self, tag: str, numbers: Sequence[float], step: int) -> None"),
          "Adds a histogram of numbers, or of an array, without those that are not finite.")
      .def("add_parameters", &TensorBoardWriter::add_parameters, "model"_a, "step"_a,
           "Adds a histogram of the values of each parameter and table.")
      .def("add_gradients", &TensorBoardWriter::add_gradients, "model"_a, "step"_a,
           "Adds a histogram of each gradient. Call it between `backward` and `update`.")
      .def("flush", &TensorBoardWriter::flush, "Writes everything.")
      .def(
          "__enter__", [](TensorBoardWriter& self) -> TensorBoardWriter& { return self; },
          nb::rv_policy::reference)
      .def(
          "__exit__", [](TensorBoardWriter& self, const nb::args&) { self.flush(); },
          nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace dynet::python

namespace dynet {

Observer* process_observer() { return python::active(); }

}  // namespace dynet
