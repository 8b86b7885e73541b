#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/nlp/common/json.h"

namespace nlp {

/// Request as HTTP carries it.
struct HttpRequest {
  std::string method, path, query, content_type, body;
};

/// Answer as HTTP carries it.
struct HttpAnswer {
  unsigned status = 200;
  std::string type, body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};
/// A sentence as an answer.
HttpAnswer text_answer(unsigned status, const std::string& sentence);
/// A JSON object as an answer.
HttpAnswer json_answer(const Json& object);
/// Answer of a server with so many requests that wait.
HttpAnswer health_answer(std::size_t queued);
/// Refusal of a request by its method: 405 with the allowed ones.
HttpAnswer method_answer(const std::string& allowed);

/// Refusal of a request with a status of HTTP and a sentence.
class HttpError : public std::exception {
 public:
  HttpError(unsigned status, std::string what) : status_(status), what_(std::move(what)) {}
  unsigned status() const { return status_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  unsigned status_;
  std::string what_;
};

/// Values of the parameters of a request, by name; a parameter may be repeated.
using Parameters = std::map<std::string, std::vector<std::string>>;

/// Parameters `name=value` between `&`.
Parameters query_parameters(std::string_view query);

/// Last value of each parameter of the query. Throws HttpError 400 for others than `known`.
std::map<std::string, std::string> query_options(const HttpRequest& request,
                                                 const std::vector<std::string>& known);

/// Whether an option is 1; throws HttpError 400 unless it is 0, 1 or missing.
bool is_set(const std::map<std::string, std::string>& options, const std::string& name);

/// Parameters of the query and of a body of the type application/x-www-form-urlencoded or
/// multipart/form-data, which overrides the query. Throws HttpError, 400 for a malformed body, and
/// 415 for one of another type or with a Content-Transfer-Encoding other than 7bit, 8bit and
/// binary.
Parameters parameters_of(const HttpRequest& request);

}  // namespace nlp
