#pragma once

// Requests to `annotate serve` as bytes, for the fuzz target and for the test that replays what is
// in corpus/. Bytes may be anything: the answer is a result that its reader accepts, or a sentence.

#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "examples/nlp/annotate/document.h"
#include "examples/nlp/annotate/rest.h"
#include "examples/nlp/common/conllu.h"

namespace dynet::fuzz {

/// The request of the bytes "METHOD path?query\ncontent type\nbody".
inline nlp::HttpRequest request_of(std::string bytes) {
  const auto cut = [&bytes](char end) {
    const std::size_t at = bytes.find(end);
    std::string piece = bytes.substr(0, at);
    bytes.erase(0, at == bytes.npos ? at : at + 1);
    return piece;
  };
  nlp::HttpRequest request;
  request.method = cut(' ');
  const std::string target = cut('\n');
  const std::size_t path = target.find('?');
  request.path = target.substr(0, path);
  if (path != target.npos) request.query = target.substr(path + 1);
  request.content_type = cut('\n');
  request.body = std::move(bytes);
  return request;
}

/// Answers a request as the server does; returns the status. Throws std::logic_error for an answer
/// that is no good.
inline unsigned answer_request(const std::string& bytes, annotate::Model& model) {
  const annotate::ServedModel served = annotate::served_model(model, "m-ud-2.model");
  auto read = annotate::read_request(request_of(bytes), served, 256);
  if (auto* const answer = std::get_if<nlp::HttpAnswer>(&read)) {
    if (answer->body.empty() || answer->body.back() != '\n')
      throw std::logic_error("an answer is no line");
    return answer->status;
  }
  auto& request = std::get<annotate::AnnotationRequest>(read);
  for (annotate::Document& document : request.pieces) annotate::annotate(model, {&document, 1});
  const nlp::HttpAnswer answer = annotate::answer_of(request, served);
  std::string result = answer.body;
  if (!request.bare) result = nlohmann::json::parse(answer.body).at("result").get<std::string>();
  if (request.output == annotate::OutputFormat::kConllu && !result.empty())
    nlp::conllu::read(nlp::TextSource::in_memory(result, "the result"));
  return answer.status;
}

}  // namespace dynet::fuzz
