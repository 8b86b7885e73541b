#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/serve/messages.h"

namespace nlp {

/// Types of answers.
inline constexpr const char* kText = "text/plain; charset=utf-8";
inline constexpr const char* kConllu = "application/conllu";
inline constexpr const char* kJsonLines = "application/x-ndjson";

/// Base of services (see ModelServer) of models that answer each sentence with lines: the body of a
/// request is a text, its settings are in the query, and the answer is what the command line
/// program prints. A derived class has
///
///     static constexpr const char* kPath;                  // "/tag"
///     static constexpr std::size_t kMostWords;             // of a sentence
///     Settings settings(const HttpRequest& http) const;    // throws UserError, HttpError
///     static InputFormat input(const Settings& settings);
///     static std::string type(const Settings& settings);   // of the answer
///     static Sentence sentence(const InputSentence& given);  // throws UserError
///     void check(const std::vector<Piece>& pieces) const;  // throws UserError
///     static void process(Model& model, std::span<Piece> pieces, dynet::Interrupt& interrupt);
template <class Derived, class M, class Sentence, class Settings>
struct SentenceService {
  using Model = M;
  /// Sentences, and the lines of their answers.
  struct Piece {
    Settings settings;
    std::vector<Sentence> sentences = {};
    std::size_t words = 0;
    std::string lines = {};

    void add(const std::vector<std::string>& more) {
      for (const std::string& line : more) (lines += line) += '\n';
    }
  };
  struct Request {
    std::vector<Piece> pieces;
    std::string type;
  };

  /// Words that are processed together, for each thread.
  static constexpr std::size_t kMostWeight = 4096;

  std::variant<Request, HttpAnswer> read(const HttpRequest& http, std::size_t most) const {
    if (http.path != Derived::kPath)
      return text_answer(
          404, "Requested URL was not found: expected " + std::string(Derived::kPath) + ".");
    if (http.method != "POST" && http.method != "PUT") return method_answer("POST, PUT");
    const auto& self = static_cast<const Derived&>(*this);
    try {
      const Settings settings = self.settings(http);
      Request request{{}, Derived::type(settings)};
      const InputFormat input = Derived::input(settings);
      if (input == InputFormat::kWords || input == InputFormat::kText)
        require_plain(http.body.substr(0, http.body.find('\n')), 1, "the text");
      for_sentences(
          TextSource::in_memory(http.body, "the text"), input, [&](const InputSentence& given) {
            const std::size_t words = given.rows.size();
            if (words > Derived::kMostWords)
              throw UserError("A sentence has " + std::to_string(words) + " words: expected " +
                              std::to_string(Derived::kMostWords) + " at most.");
            std::vector<Piece>& pieces = request.pieces;
            if (pieces.empty() || pieces.back().words + words > most) pieces.push_back({settings});
            pieces.back().sentences.push_back(Derived::sentence(given));
            pieces.back().words += words;
          });
      self.check(request.pieces);
      return request;
    } catch (const UserError& error) {
      return text_answer(400, error.what());
    }
  }
  static std::size_t weight(const Piece& piece) { return piece.words; }
  HttpAnswer answer(const Request& request) const {
    HttpAnswer answer{200, request.type, ""};
    for (const Piece& piece : request.pieces) answer.body += piece.lines;
    return answer;
  }
};

}  // namespace nlp
