#include "examples/nlp/serve/messages.h"

#include <algorithm>
#include <optional>

#include "examples/nlp/common/text.h"

namespace nlp {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::optional<unsigned> hexadecimal(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && nlp::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && nlp::is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Value of a header up to its first `;`, in lower case: "text/plain".
std::string main_value(std::string_view header) {
  return lower_cased(trimmed(header.substr(0, header.find(';'))));
}

/// Value of `name=value` or `name="value"` behind a `;` of a header.
std::optional<std::string> attribute(std::string_view header, const std::string& name) {
  std::size_t at = header.find(';');
  while (at < header.size()) {
    const std::size_t equals = header.find('=', at);
    if (equals == header.npos) return std::nullopt;
    const bool is_wanted =
        lower_cased(trimmed(header.substr(at + 1, equals - at - 1))) == lower_cased(name);
    std::string value;
    at = equals + 1;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        value += header[at];
      }
      at = header.find(';', at);
    } else {
      const std::size_t end = std::min(header.find(';', at), header.size());
      value = trimmed(header.substr(at, end - at));
      at = end;
    }
    if (is_wanted) return value;
  }
  return std::nullopt;
}

/// Reads the headers of a part of a multipart body; returns the name of its parameter.
std::string part_name(std::string_view headers) {
  std::optional<std::string> name;
  while (!headers.empty()) {
    const std::size_t end = std::min(headers.find(kLineEnd), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + kLineEnd.size(), headers.size()));
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string field = lower_cased(trimmed(line.substr(0, colon)));
    const std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (field == "content-disposition" && main_value(value) == "form-data")
      name = attribute(value, "name");
    const std::string encoding = main_value(value);
    if (field == "content-transfer-encoding" && encoding != "7bit" && encoding != "8bit" &&
        encoding != "binary")
      throw HttpError(415, "The transfer encoding " + in_quotes(encoding) +
                               " is not supported, only 7bit, 8bit and binary are.");
  }
  if (!name) throw HttpError(400, "A part of the multipart body has no name.");
  return *name;
}

/// Percent-decodes; `+` is a space. Other than hexadecimal escapes stay as they are.
std::string url_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = hexadecimal(text[i + 1]), low = hexadecimal(text[i + 2]);
      if (high && low) {
        decoded += static_cast<char>(16 * *high + *low);
        i += 2;
        continue;
      }
    }
    decoded += text[i] == '+' ? ' ' : text[i];
  }
  return decoded;
}

/// Parameters of a body in multipart/form-data.
Parameters multipart_parameters(std::string_view body, const std::string& content_type) {
  const std::optional<std::string> boundary = attribute(content_type, "boundary");
  if (!boundary || boundary->empty())
    throw HttpError(400, "The content type multipart/form-data has no boundary.");
  const auto malformed = [] { return HttpError(400, "The multipart body is malformed."); };
  const std::string first = "--" + *boundary, next = "\r\n" + first;
  // Text before the first boundary is ignored.
  std::size_t at = body.starts_with(first) ? first.size() : body.find(next);
  if (at == body.npos) throw malformed();
  if (!body.starts_with(first)) at += next.size();
  Parameters parameters;
  while (!body.substr(at).starts_with("--")) {
    const std::size_t line_end = body.find(kLineEnd, at);
    if (line_end == body.npos || !trimmed(body.substr(at, line_end - at)).empty())
      throw malformed();
    const std::size_t headers = line_end + kLineEnd.size();
    const std::size_t headers_end = body.find("\r\n\r\n", line_end);
    if (headers_end == body.npos) throw malformed();
    const std::size_t value = headers_end + 2 * kLineEnd.size();
    const std::size_t end = body.find(next, value - kLineEnd.size());
    if (end == body.npos) throw malformed();
    const std::string name =
        part_name(headers_end < headers ? "" : body.substr(headers, headers_end - headers));
    parameters[name].emplace_back(end < value ? "" : body.substr(value, end - value));
    at = end + next.size();
  }
  return parameters;
}

}  // namespace

HttpAnswer text_answer(unsigned status, const std::string& sentence) {
  return {status, "text/plain; charset=utf-8", sentence + "\n"};
}

HttpAnswer json_answer(const Json& object) {
  return {200, "application/json", json_line(object) + "\n"};
}

HttpAnswer health_answer(std::size_t queued) {
  return json_answer({{"status", "ok"}, {"queued", queued}});
}

HttpAnswer method_answer(const std::string& allowed) {
  HttpAnswer answer = text_answer(405, "The method is not allowed.");
  answer.headers = {{"Allow", allowed}};
  return answer;
}

Parameters query_parameters(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    parameters[url_decoded(pair.substr(0, equals))].push_back(
        url_decoded(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return parameters;
}

std::map<std::string, std::string> query_options(const HttpRequest& request,
                                                 const std::vector<std::string>& known) {
  std::map<std::string, std::string> options;
  for (const auto& [name, values] : query_parameters(request.query)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw HttpError(
          400, "Unknown parameter " + in_quotes(name) + ": expected " + join(known, ", ") + ".");
    options[name] = values.back();
  }
  return options;
}

bool is_set(const std::map<std::string, std::string>& options, const std::string& name) {
  const auto found = options.find(name);
  if (found == options.end() || found->second == "0") return false;
  if (found->second == "1") return true;
  throw HttpError(400, "The parameter " + in_quotes(name) + " is " + in_quotes(found->second) +
                           ": expected 0 or 1.");
}

Parameters parameters_of(const HttpRequest& request) {
  Parameters parameters = query_parameters(request.query);
  if (request.body.empty()) return parameters;
  const std::string type = main_value(request.content_type);
  Parameters of_body;
  if (type == "multipart/form-data")
    of_body = multipart_parameters(request.body, request.content_type);
  else if (type == "application/x-www-form-urlencoded")
    of_body = query_parameters(request.body);
  else
    throw HttpError(415, "The content type " + in_quotes(request.content_type) +
                             " is not supported, only application/x-www-form-urlencoded and "
                             "multipart/form-data are.");
  for (auto& [name, values] : of_body) parameters[name] = std::move(values);
  return parameters;
}

}  // namespace nlp
