#pragma once

#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annotate {

/// Request as HTTP carries it.
struct HttpRequest {
  std::string method, path, query, content_type, body;
};

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

/// Percent-decodes; `+` is a space. Other than hexadecimal escapes stay as they are.
std::string url_decoded(std::string_view text);

/// Parameters `name=value` between `&`.
Parameters query_parameters(std::string_view query);

/// Parameters of a body in multipart/form-data. Throws HttpError 400 if it is malformed, and 415
/// for a Content-Transfer-Encoding other than 7bit, 8bit and binary.
Parameters multipart_parameters(std::string_view body, const std::string& content_type);

/// Parameters of the query and of a body of the type application/x-www-form-urlencoded or
/// multipart/form-data, which overrides the query. Throws HttpError, 415 for a body of another
/// type.
Parameters parameters_of(const HttpRequest& request);

}  // namespace annotate
