#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <string_view>

#include "bindings.h"

namespace dynet::python {
namespace {

// Classes of errors, which live as long as the process.
struct ErrorClasses {
  PyObject *error, *shape, *argument, *index, *stale, *numeric, *file, *memory, *device;
};
ErrorClasses error_classes;

PyObject* class_of(const Error& e) {
  if (dynamic_cast<const ShapeError*>(&e)) return error_classes.shape;
  if (dynamic_cast<const IndexError*>(&e)) return error_classes.index;
  if (dynamic_cast<const ArgumentError*>(&e)) return error_classes.argument;
  if (dynamic_cast<const StaleExpressionError*>(&e)) return error_classes.stale;
  if (dynamic_cast<const NumericError*>(&e)) return error_classes.numeric;
  if (dynamic_cast<const FileError*>(&e)) return error_classes.file;
  if (dynamic_cast<const OutOfMemoryError*>(&e)) return error_classes.memory;
  if (dynamic_cast<const DeviceError*>(&e)) return error_classes.device;
  return error_classes.error;
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    PyErr_SetString(class_of(e), e.what());
  }
}

// File names live as long as the nodes and errors that point to them, which nobody counts: each is
// kept once.
const char* kept(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(name); found != names.end()) return found->c_str();
  return names.emplace(name).first->c_str();
}

bool is_of_package(std::string_view file) {
  const std::size_t folder = file.find_last_of("/\\");
  if (folder == file.npos || !file.substr(0, folder).ends_with("dynet")) return false;
  static const std::string package = [] {
    const nb::object core = nb::module_::import_("dynet._core").attr("__file__");
    const std::string path = nb::cast<std::string>(nb::str(core));
    return path.substr(0, path.find_last_of("/\\"));
  }();
  return file.substr(0, folder) == package;
}

// A place in compiled code, and the line that it is of. To find that takes longer than to make a
// node, so it is remembered. Used with the interpreter's lock held.
struct Place {
  PyObject* code = nullptr;  // kept alive, so that its address stays its own
  long instruction = -1;
  SourceLocation line;
  bool is_ours = false;
};

constexpr std::size_t kPlaces = 4096;

const Place& place_of(PyFrameObject* frame) {
  static auto& places = *new std::array<Place, kPlaces>;
  static PyObject* const lasti = PyUnicode_InternFromString("f_lasti");
  PyObject* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  const nb::object number = nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(frame), lasti));
  const long instruction = PyLong_AsLong(number.ptr());
  const auto hash =
      reinterpret_cast<std::uintptr_t>(code) / 32 + static_cast<std::size_t>(instruction) / 2;
  Place& place = places[hash % kPlaces];
  if (place.code == code && place.instruction == instruction) {
    Py_DECREF(code);
    return place;
  }
  Py_XDECREF(place.code);
  place = {code, instruction, {}, false};
  const nb::object name = nb::steal(PyObject_GetAttrString(code, "co_filename"));
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  if (!text) PyErr_Clear();
  const std::string_view file =
      text ? std::string_view(text, static_cast<std::size_t>(size)) : "<python>";
  place.line = {kept(file), static_cast<unsigned>(PyFrame_GetLineNumber(frame))};
  place.is_ours = is_of_package(file);
  return place;
}

}  // namespace

SourceLocation here() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (!frame) return {"<python>", 0};
  if (const Place& place = place_of(frame); !place.is_ours) return place.line;
  // Called by Python code of the package: the line that calls that.
  nb::object outer = nb::borrow(reinterpret_cast<PyObject*>(frame));
  while (!outer.is_none()) {
    const Place& place = place_of(reinterpret_cast<PyFrameObject*>(outer.ptr()));
    if (!place.is_ours) return place.line;
    outer = outer.attr("f_back");
  }
  return {"<python>", 0};
}

void bind_errors(nb::module_& m) {
  const nb::module_ errors = nb::module_::import_("dynet.errors");
  const auto find = [&](const char* name) {
    nb::object found = errors.attr(name);
    m.attr(name) = found;
    return found.release().ptr();
  };
  error_classes = {find("Error"),           find("ShapeError"),           find("ArgumentError"),
                   find("OutOfRangeError"), find("StaleExpressionError"), find("NumericError"),
                   find("FileError"),       find("OutOfMemoryError"),     find("DeviceError")};
  nb::register_exception_translator(translate);
}

}  // namespace dynet::python
