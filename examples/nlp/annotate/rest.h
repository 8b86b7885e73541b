#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "examples/nlp/annotate/document.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/serve/messages.h"

// UDPipe's REST interface as functions of requests, without sockets.

namespace annotate {

/// Model as clients see it.
struct ServedModel {
  std::string id;        ///< clients may name a part of it that ends before a hyphen
  std::string treebank;  ///< name of its training data
  bool tagger = true, parser = true;
};
/// Describes a model; the id is the name of its file without folder and extension.
ServedModel served_model(const Model& model, const std::string& file);

/// Format of a result.
enum class OutputFormat { kConllu, kHorizontal, kVertical, kPlainText };
inline const nlp::Names<OutputFormat> kOutputFormats = {{OutputFormat::kConllu, "conllu"},
                                                        {OutputFormat::kHorizontal, "horizontal"},
                                                        {OutputFormat::kVertical, "vertical"},
                                                        {OutputFormat::kPlainText, "plaintext"}};

/// Text to annotate, in parts that are annotated one after the other, and how to answer.
struct AnnotationRequest {
  std::vector<Document> pieces;  ///< documents
  OutputFormat output = OutputFormat::kConllu;
  bool paragraphs = false;         ///< horizontal, vertical: a blank line between paragraphs
  bool normalized_output = false;  ///< plaintext: a sentence a line
  bool normalized_spaces = false;  ///< MISC has no white space but SpaceAfter=No
  bool bare = false;               ///< the result alone, not in JSON
};

/// Reads a request for a result, with documents of about `most` letters, see for_documents; or
/// answers it, also with an error.
std::variant<AnnotationRequest, nlp::HttpAnswer> read_request(const nlp::HttpRequest& request,
                                                              const ServedModel& model,
                                                              std::size_t most);

/// The answer, once the documents are annotated.
nlp::HttpAnswer answer_of(const AnnotationRequest& request, const ServedModel& model);

}  // namespace annotate
