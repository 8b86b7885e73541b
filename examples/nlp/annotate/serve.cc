#include "examples/nlp/annotate/commands.h"
#include "examples/nlp/annotate/document.h"
#include "examples/nlp/annotate/rest.h"
#include "examples/nlp/serve/serve_command.h"

namespace annotate {

namespace {

/// UDPipe's REST interface, see ModelServer.
struct Service {
  using Model = annotate::Model;
  using Piece = Document;
  using Request = AnnotationRequest;

  Service(const Model& model, const std::string& file) : about(served_model(model, file)) {}

  std::variant<Request, nlp::HttpAnswer> read(const nlp::HttpRequest& http,
                                              std::size_t most) const {
    return read_request(http, about, most);
  }
  static std::size_t weight(const Document& document) { return document.weight(); }
  static void process(Model& model, std::span<Document> documents, dynet::Interrupt& interrupt) {
    model.set_interrupt(&interrupt);
    annotate(model, documents);
  }
  nlp::HttpAnswer answer(const Request& request) const { return answer_of(request, about); }

  const ServedModel about;
};

}  // namespace

std::unique_ptr<nlp::Command> serve_command() {
  return std::make_unique<nlp::ServeCommand<Service>>(kMostWeight, 8001);
}

}  // namespace annotate
