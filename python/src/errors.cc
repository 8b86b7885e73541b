#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "bindings.h"

// Function of the interpreter that loads this module; null in 3.10. The stable ABI only has an
// attribute, which is ten times slower.
extern "C" [[gnu::weak]] int PyFrame_GetLasti(PyFrameObject* frame);

namespace dynet::python {
namespace {

// Exception classes; never freed.
struct ErrorClasses {
  PyObject *error, *shape, *argument, *index, *stale, *gradient, *numeric, *file, *memory, *device;
};
ErrorClasses error_classes;

// Folder of the package's Python files.
std::string_view package_folder;

PyObject* class_of(const Error& e) {
  if (dynamic_cast<const ShapeError*>(&e)) return error_classes.shape;
  if (dynamic_cast<const IndexError*>(&e)) return error_classes.index;
  if (dynamic_cast<const ArgumentError*>(&e)) return error_classes.argument;
  if (dynamic_cast<const StaleExpressionError*>(&e)) return error_classes.stale;
  if (dynamic_cast<const GradientError*>(&e)) return error_classes.gradient;
  if (dynamic_cast<const NumericError*>(&e)) return error_classes.numeric;
  if (dynamic_cast<const FileError*>(&e)) return error_classes.file;
  if (dynamic_cast<const OutOfMemoryError*>(&e)) return error_classes.memory;
  if (dynamic_cast<const DeviceError*>(&e)) return error_classes.device;
  return error_classes.error;
}

void set(const Error& e) {
  std::string text = e.what();
  if (const SourceLocation& at = e.where(); *at.file) {
    const std::string place = std::string(at.file) + ':' + std::to_string(at.line);
    if (text.find(place) == text.npos) text += "\n  at " + place;
  }
  PyErr_SetString(class_of(e), text.c_str());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const Error& e) {
    set(e);
  } catch (const std::bad_cast&) {  // thrown by conversions inside a function
    PyErr_SetString(PyExc_TypeError, "an argument, or a part of one, is of a wrong type");
  }
}

// Interns file names: nodes and errors point to them without reference counting, so they are never
// freed.
const char* kept(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  if (const auto found = names.find(name); found != names.end()) return found->c_str();
  return names.emplace(name).first->c_str();
}

// Notebook cells have generated file names; tracebacks call them `Cell In[3]`.
std::string shown_name(std::string_view file) {
  if (file.find("ipykernel_") == file.npos && file.find("ipython-input") == file.npos)
    return std::string(file);
  return nb::cast<std::string>(nb::module_::import_("dynet.errors").attr("cell_name")(file));
}

bool is_of_package(std::string_view file) {
  const std::size_t folder = file.find_last_of("/\\");
  return folder != file.npos && file.substr(0, folder) == package_folder;
}

// Instruction in compiled code with its source line. Finding the line takes longer than creating a
// node, so it is cached. Requires the interpreter lock.
struct Place {
  PyObject* code = nullptr;  // owned, so that its address is not reused
  long instruction = -1;
  SourceLocation line;
  bool is_ours = false;
};

constexpr std::size_t kPlaces = 4096;
Place places[kPlaces];

// Index of a frame's current instruction.
long instruction_of(PyFrameObject* frame) {
  if (PyFrame_GetLasti) return PyFrame_GetLasti(frame);
  static PyObject* const lasti = PyUnicode_InternFromString("f_lasti");
  const nb::object number = nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(frame), lasti));
  return PyLong_AsLong(number.ptr());
}

// Finds the line of a frame and caches it in `known`.
Place find_place(PyFrameObject* frame, PyObject* code, long instruction, Place& known) {
  const nb::object name = nb::steal(PyObject_GetAttrString(code, "co_filename"));
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  if (!text) PyErr_Clear();
  const std::string_view file =
      text ? std::string_view(text, static_cast<std::size_t>(size)) : "<python>";
  const auto line = static_cast<unsigned>(PyFrame_GetLineNumber(frame));
  // All calls of Python come before the update: other threads may run during them.
  const Place place{code, instruction, {kept(shown_name(file)), line}, is_of_package(file)};
  PyObject* const before = std::exchange(known, place).code;
  Py_XDECREF(before);
  return place;
}

Place place_of(PyFrameObject* frame) {
  auto* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  const long instruction = instruction_of(frame);
  Place& known = places[(reinterpret_cast<std::uintptr_t>(code) / 32 +
                         static_cast<std::size_t>(instruction) / 2) %
                        kPlaces];
  if (known.code != code || known.instruction != instruction) [[unlikely]]
    return find_place(frame, code, instruction, known);
  Py_DECREF(code);
  return known;
}

}  // namespace

SourceLocation here() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (!frame) return {"<python>", 0};
  if (const Place place = place_of(frame); !place.is_ours) return place.line;
  // Called by Python code of the package: uses the caller's line.
  nb::object outer = nb::borrow(reinterpret_cast<PyObject*>(frame));
  while (!outer.is_none()) {
    const Place place = place_of(reinterpret_cast<PyFrameObject*>(outer.ptr()));
    if (!place.is_ours) return place.line;
    outer = outer.attr("f_back");
  }
  return {"<python>", 0};
}

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    set(e);
  } catch (const nb::builtin_exception& e) {  // the only one that operators throw
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void bind_errors(nb::module_& m) {
  const nb::module_ errors = nb::module_::import_("dynet.errors");
  const auto file = nb::cast<std::string>(errors.attr("__file__"));
  package_folder = kept(file.substr(0, file.find_last_of("/\\")));
  const auto find = [&](const char* name) {
    nb::object found = errors.attr(name);
    m.attr(name) = found;
    return found.release().ptr();
  };
  error_classes = {find("Error"),
                   find("ShapeError"),
                   find("ArgumentError"),
                   find("OutOfRangeError"),
                   find("StaleExpressionError"),
                   find("GradientError"),
                   find("NumericError"),
                   find("FileError"),
                   find("OutOfMemoryError"),
                   find("DeviceError")};
  nb::register_exception_translator(translate);
}

}  // namespace dynet::python
