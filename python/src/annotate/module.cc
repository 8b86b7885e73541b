// dynet._annotate: the pipeline of the program examples/nlp/annotate, for dynet/annotate.py.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/workers.h"
#include "examples/nlp/annotate/document.h"
#include "examples/nlp/annotate/lexicon.h"
#include "examples/nlp/annotate/rows.h"
#include "examples/nlp/common/model_file.h"

namespace nb = nanobind;

namespace {

using namespace nb::literals;

/// Raises a class of dynet.errors. The text may hold a path in any encoding.
[[noreturn]] void raise(const char* name, const char* text) {
  const nb::object message = nb::steal(PyUnicode_DecodeFSDefault(text));
  PyErr_SetObject(nb::module_::import_("dynet.errors").attr(name).ptr(), message.ptr());
  throw nb::python_error();
}

/// Result of `work`, which runs without the interpreter lock. A UserError is raised as the class
/// `name`.
template <class Work>
auto unlocked(const char* name, Work work) {
  try {
    const nb::gil_scoped_release release;
    return work();
  } catch (const nlp::UserError& e) {
    raise(name, e.what());
  } catch (const dynet::FileError& e) {
    raise("FileError", e.what());
  } catch (const dynet::OutOfMemoryError& e) {
    raise("OutOfMemoryError", e.what());
  } catch (const dynet::Error& e) {
    raise("Error", e.what());
  }
}

/// Model with a lexicon. One call computes at a time.
class Pipeline {
 public:
  /// A text, and its name in messages.
  using Text = std::pair<std::string, std::string>;

  /// An empty path is no lexicon.
  Pipeline(const std::string& path, const std::string& lexicon, unsigned threads)
      : model_(nlp::load_model<annotate::Model>(path)), threads_(threads) {
    if (lexicon.empty()) return;
    lexicon_ = annotate::Lexicon::read(lexicon);
    model_->set_lexicon(&lexicon_);
  }

  const std::string& name() const { return model_->description().treebank; }

  /// CoNLL-U of each text, and how many sentences were cut. `check` is called between pieces.
  template <class Check>
  std::pair<std::vector<std::string>, std::size_t> annotate(const std::vector<Text>& texts,
                                                            const annotate::Task& task,
                                                            Check check) {
    const std::lock_guard lock(mutex_);
    dynet::Workers workers(threads_);  // of this call, since threads do not survive a fork
    model_->set_workers(&workers);
    std::vector<std::string> found(texts.size());
    std::vector<annotate::SentenceWriter> writers;
    for (std::string& own : found)
      writers.emplace_back([&own](const std::string& line) { own += line + '\n'; }, name());

    std::vector<annotate::Document> documents;
    std::vector<std::size_t> places;  // of their texts
    std::size_t weight = 0, cut = 0;
    const auto annotate_documents = [&] {
      cut += annotate::annotate(*model_, documents);
      for (std::size_t i = 0; i < documents.size(); ++i)
        for (const annotate::AnnotatedSentence& sentence : documents[i].sentences)
          writers[places[i]].write(sentence);
      documents.clear();
      places.clear();
      weight = 0;
      check();
    };
    const std::size_t most = annotate::kMostWeight * threads_;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto source = nlp::TextSource::in_memory(texts[i].second, texts[i].first);
      annotate::for_documents(source, task, most, [&](annotate::Document document) {
        weight += document.weight();
        documents.push_back(std::move(document));
        places.push_back(i);
        if (weight > most) annotate_documents();
      });
    }
    annotate_documents();
    return {std::move(found), cut};
  }

 private:
  annotate::Lexicon lexicon_;
  const std::unique_ptr<annotate::Model> model_;
  const unsigned threads_;
  std::mutex mutex_;
};

std::pair<std::vector<std::string>, std::size_t> annotate_texts(
    Pipeline& pipeline, const std::vector<Pipeline::Text>& texts, const std::string& format,
    bool multiwords) {
  return unlocked("ArgumentError", [&] {
    const annotate::Format read_as = nlp::value_of(annotate::kFormats, format, "format");
    const annotate::Task task = {.format = read_as,
                                 .multiwords = multiwords,
                                 .ranges = read_as != annotate::Format::kConllu};
    return pipeline.annotate(texts, task, [] {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
  });
}

std::string json(const std::string& text) {
  return unlocked("ArgumentError", [&] {
    std::string lines;
    for (const nlp::conllu::Sentence& sentence :
         nlp::conllu::read(nlp::TextSource::in_memory(text, "document")))
      lines += nlp::json_line(annotate::json_of(sentence)) + '\n';
    return lines;
  });
}

}  // namespace

NB_MODULE(_annotate, m) {
  m.doc() = "What dynet.annotate is made of.";
  nb::class_<Pipeline>(m, "Pipeline", "A trained model and a lexicon.")
      .def(
          "__init__",
          [](Pipeline* self, const nb::bytes& path, const nb::bytes& lexicon, unsigned threads) {
            const std::string file(path.c_str(), path.size());
            const std::string words(lexicon.c_str(), lexicon.size());
            unlocked("FileError", [&] { new (self) Pipeline(file, words, threads); });
          },
          "path"_a, "lexicon"_a, "threads"_a)
      .def_prop_ro("name", &Pipeline::name, "The treebank of the model.")
      .def("annotate", annotate_texts, "texts"_a, "format"_a, "multiwords"_a,
           "CoNLL-U of each text, which has a name for messages, with the ranges of tokens; and "
           "how\n"
           "many sentences were cut.");
  m.def("json", json, "conllu"_a, "The sentences as `annotate run --json` prints them.");
}
