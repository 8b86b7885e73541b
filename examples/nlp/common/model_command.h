#pragma once

#include <memory>
#include <string>
#include <vector>

#include "examples/nlp/common/command_line.h"
#include "examples/nlp/common/files.h"
#include "examples/nlp/common/model_file.h"
#include "examples/nlp/common/run_files.h"
#include "examples/nlp/common/text_input.h"

namespace nlp {

/// Base of commands with a saved model: --model, --device and --threads.
template <class Model>
class ModelCommand : public Command {
 public:
  /// `map`: whether the weights may be used where they lie in the file, see LoadOptions::map.
  explicit ModelCommand(bool map = true) { saved_.map = map; }
  void add_options(CLI::App& app) override {
    begin_group(app, kModelOptions);
    app.add_option("--model,-m", saved_.model, "A model file")->type_name("FILE")->required();
    add_device(app, saved_.device);
    add_threads(app, saved_.threads);
    add_profile(app);
    begin_group(app, kModelOptions);
    app.add_flag("--allow-not-finite", saved_.allow_not_finite,
                 "Use a model even if some of its weights are infinite or no numbers");
    if (saved_.map)
      app.add_flag_callback(
          "--no-mmap", [this] { saved_.map = false; },
          "Read the model instead of mapping its file into memory, which nobody may then change in "
          "place");
  }
  /// Computation errors name the file of the model.
  void start() final {
    compute_with(saved_.model, [this] { run(); });
  }

 protected:
  std::unique_ptr<Model> load() {
    std::unique_ptr<Model> model = load_model<Model>(saved_);
    workers_ = std::make_unique<dynet::Workers>(saved_.threads);
    model->set_workers(workers_.get());
    return model;
  }

  SavedModel saved_;

 private:
  std::unique_ptr<dynet::Workers> workers_;
};

/// The command `eval`: prints scores of a model on `data_`.
template <class Model>
class EvalCommand : public ModelCommand<Model> {
 public:
  void run() final {
    prepare_eval(this->saved_, data_);
    evaluate(*this->load());
  }

 protected:
  /// Adds --data, --encoding and --skip-bad.
  void add_data(CLI::App& app, const std::string& help) {
    begin_group(app, kDataOptions);
    app.add_option("--data,-d", data_, help)->type_name("FILE")->required();
    add_encoding(app, text_);
    add_skip_bad(app, text_, "samples");
  }
  virtual void evaluate(Model& model) = 0;
  TextSource source() const { return {data_, text_}; }

  std::string data_;
  TextOptions text_;
};

/// Base of commands that write lines, with or without input lines.
template <class Model>
class LinesCommand : public ModelCommand<Model> {
 public:
  void run() final {
    std::vector<program::NamedFile> read = files_read(this->saved_, {"--input", input_});
    for (const std::string& file : files_) read.push_back({"", file});
    OutputFile out({"--output", output_}, read);
    if (html_) out.show_as_page(std::string(Model::kProgram) + ": " + source().name());
    write_lines(*this->load(), out);
    out.finish();
  }

 protected:
  /// Adds --input, also as a positional argument, by default standard input, and --encoding.
  void add_input(CLI::App& app, const std::string& help) {
    add_input(app, help, input_, "The same as --input FILE");
  }
  /// The same with any number of positional arguments.
  void add_input_files(CLI::App& app, const std::string& help) {
    add_input(app, help, files_, "Files in place of --input");
  }
  /// Adds --output, by default standard output.
  void add_output(CLI::App& app, const std::string& help) {
    begin_group(app, kOutputOptions);
    app.add_option("--output,-o", output_, help)->type_name("FILE");
  }
  /// Adds --html: `write_lines` then writes CoNLL-U, which is shown as a page.
  CLI::Option* add_html(CLI::App& app) {
    return app.add_flag("--html", html_, "Write a page that shows the words, tags and trees");
  }
  virtual void write_lines(Model& model, OutputFile& out) = 0;

  TextSource source() const { return {input_, text_}; }

  bool html_ = false;
  std::string input_, output_ = "-";
  std::vector<std::string> files_;
  TextOptions text_;

 private:
  template <class Positional>
  void add_input(CLI::App& app, const std::string& help, Positional& positional,
                 const std::string& positional_help) {
    begin_group(app, kDataOptions);
    input_ = "-";
    CLI::Option* const named = app.add_option("--input,-i", input_, help)->type_name("FILE");
    app.add_option("FILE", positional, positional_help)->excludes(named);
    add_encoding(app, text_);
  }
};

}  // namespace nlp
