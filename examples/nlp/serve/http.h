#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "examples/nlp/serve/messages.h"

namespace nlp {

/// Address and limits of a server.
struct HttpSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;            ///< 0: any that is free
  std::size_t most_bytes = 1 << 20;  ///< of the head of a request, and of its body
  std::chrono::seconds timeout{60};  ///< for reading a request, and for writing an answer
};

/// Server of HTTP/1.1 on one thread. A connection needs no thread of its own: a request may be
/// answered later.
class HttpServer {
 public:
  /// Sends an answer; to be called once, by the thread of `run`.
  using Reply = std::function<void(HttpAnswer)>;
  using Handler = std::function<void(HttpRequest, Reply)>;

  /// Listens, but accepts no connection yet. Throws UserError.
  HttpServer(const HttpSettings& settings, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// Handles requests until SIGINT or SIGTERM, then calls `stop`, and returns when all of them are
  /// answered. A second signal ends the program. Calls `reload` at each SIGHUP.
  void run(const std::function<void()>& stop, const std::function<void()>& reload);
  /// Lets the thread of `run` call a function; may be called by any thread.
  void post(std::function<void()> function);

 private:
  class Session;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nlp
