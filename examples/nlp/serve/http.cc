#include "examples/nlp/serve/http.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "examples/nlp/common/text.h"

namespace nlp {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using net::ip::tcp;
using Error = boost::system::error_code;

namespace {

constexpr std::size_t kMostConnections = 1000;    ///< further ones wait to be accepted
constexpr std::uint32_t kMostHeader = 65535;      ///< bytes; Beast throws for longer fields
constexpr std::chrono::seconds kMostIdle{5};      ///< between the requests of a connection
constexpr std::chrono::seconds kMostDraining{2};  ///< for a request that was refused unread
constexpr std::chrono::milliseconds kPause{100};  ///< after a connection that cannot be accepted

// Signals ignored at the start remain ignored.
void add_unless_ignored(net::signal_set& signals, int signal) {
  struct sigaction before = {};
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) signals.add(signal);
}

}  // namespace

struct HttpServer::State {
  State(const HttpSettings& how, Handler handle) : settings(how), handler(std::move(handle)) {}
  ~State() { stopping = true; }

  void listen();
  void accept();
  void stop_at_signal(const std::function<void()>& stop);
  void reload_at_signal(const std::function<void()>& reload);

  const HttpSettings settings;
  const Handler handler;
  std::set<Session*> sessions;
  bool accepting = false, stopping = false;
  // Destroyed first, with the sessions in their handlers.
  net::io_context context{1};
  tcp::acceptor acceptor{context};
  net::signal_set signals{context}, hangups{context};
  net::steady_timer pause{context};
};

/// Connection, kept alive by the operation that it waits for.
class HttpServer::Session : public std::enable_shared_from_this<HttpServer::Session> {
 public:
  Session(tcp::socket socket, State& server) : stream_(std::move(socket)), server_(server) {
    server_.sessions.insert(this);
    Error ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
  }
  ~Session() {
    server_.sessions.erase(this);
    server_.accept();
  }

  /// Reads a request. The connection ends if it does not arrive in time.
  void read(std::chrono::seconds timeout) {
    reading_ = true;
    parser_.emplace();
    parser_->body_limit(server_.settings.most_bytes);
    parser_->header_limit(kMostHeader);
    stream_.expires_after(timeout);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](Error error, std::size_t /*size*/) { self->read_on(error); });
  }
  /// Ends a connection that waits for a request.
  void end_reading() {
    if (reading_) stream_.close();
  }

 private:
  void read_on(Error error) {
    if (error) return refuse(error);
    if (!beast::iequals(parser_->get()[http::field::expect], "100-continue")) return read_body();
    write("HTTP/1.1 100 Continue\r\n\r\n", &Session::read_body);
  }
  void read_body() {
    stream_.expires_after(server_.settings.timeout);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Error error, std::size_t /*size*/) {
                       if (error) return self->refuse(error);
                       self->handle();
                     });
  }

  /// Answers a request that cannot be read, unless the connection has ended.
  void refuse(Error error) {
    const bool is_large = error == http::error::body_limit || error == http::error::header_limit;
    const bool has_ended =
        error == http::error::end_of_stream || error == http::error::partial_message ||
        error.category() != http::make_error_code(http::error::bad_method).category();
    if (has_ended && !is_large) return;
    keep_alive_ = head_only_ = false;
    drain_ = true;
    send(is_large ? text_answer(413, "Request was too large.")
                  : text_answer(400, "The request is not valid HTTP."));
  }

  void handle() {
    reading_ = false;
    stream_.expires_never();
    http::request<http::string_body>& message = parser_->get();
    keep_alive_ = message.keep_alive();
    head_only_ = message.method() == http::verb::head;
    const std::string target(message.target());
    const std::size_t path = std::min(target.find('?'), target.size());
    HttpRequest request = {std::string(message.method_string()), target.substr(0, path),
                           target.substr(std::min(path + 1, target.size())),
                           std::string(message[http::field::content_type]),
                           std::move(message.body())};
    busy_.emplace(server_.context.get_executor());
    try {
      server_.handler(std::move(request), [self = shared_from_this()](HttpAnswer answer) {
        self->send(std::move(answer));
      });
    } catch (const std::exception& error) {
      send(text_answer(500, "The request failed: " + std::string(error.what())));
    }
  }

  void send(HttpAnswer answer) {
    busy_.reset();
    keep_alive_ = keep_alive_ && !server_.stopping;
    http::response_header<> header;
    header.result(answer.status);
    header.version(11);
    header.set(http::field::connection, keep_alive_ ? "keep-alive" : "close");
    header.set(http::field::content_type, answer.type);
    header.set(http::field::access_control_allow_origin, "*");
    for (const auto& [name, value] : answer.headers) header.set(name, value);
    header.set(http::field::content_length, std::to_string(answer.body.size()));
    std::ostringstream text;
    text << header;
    if (!head_only_) text << answer.body;
    stream_.expires_after(server_.settings.timeout);
    write(std::move(text).str(), &Session::go_on);
  }

  /// Writes a text, and calls a member if it could be written.
  void write(std::string text, void (Session::*next)()) {
    text_ = std::move(text);
    net::async_write(stream_, net::buffer(text_),
                     [self = shared_from_this(), next](Error error, std::size_t /*size*/) {
                       if (!error) ((*self).*next)();
                     });
  }

  void go_on() {
    if (keep_alive_ && !server_.stopping)
      return read(std::min(kMostIdle, server_.settings.timeout));
    Error ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    if (!drain_) return;
    reading_ = true;
    stream_.expires_after(kMostDraining);
    drain();
  }
  /// Reads what is left of a refused request: a client that still sends it would miss the answer.
  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(std::size_t{1} << 16),
                            [self = shared_from_this()](Error error, std::size_t /*size*/) {
                              if (!error) self->drain();
                            });
  }

  beast::tcp_stream stream_;
  State& server_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string text_;  ///< that is being written
  /// Keeps `run` running while a request is processed.
  std::optional<net::executor_work_guard<net::io_context::executor_type>> busy_;
  bool reading_ = false, keep_alive_ = false, head_only_ = false, drain_ = false;
};

void HttpServer::State::listen() {
  try {
    const auto found = tcp::resolver(context).resolve(settings.host, std::to_string(settings.port),
                                                      tcp::resolver::passive);
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol());
    acceptor.set_option(net::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
  } catch (const boost::system::system_error& error) {
    throw nlp::UserError("cannot listen at " + settings.host + ", port " +
                         std::to_string(settings.port) + ": " + error.code().message());
  }
}

void HttpServer::State::accept() {
  if (accepting || stopping || sessions.size() >= kMostConnections) return;
  accepting = true;
  acceptor.async_accept([this](Error error, tcp::socket socket) {
    accepting = false;
    if (stopping) return;
    if (!error) {
      std::make_shared<Session>(std::move(socket), *this)->read(settings.timeout);
      return accept();
    }
    pause.expires_after(kPause);
    pause.async_wait([this](Error /*error*/) { accept(); });
  });
}

void HttpServer::State::stop_at_signal(const std::function<void()>& stop) {
  for (const int signal : {SIGINT, SIGTERM}) add_unless_ignored(signals, signal);
  signals.async_wait([this, stop](Error error, int /*signal*/) {
    if (error) return;
    stopping = true;
    signals.clear();
    hangups.cancel();
    acceptor.close();
    pause.cancel();
    for (Session* const session : sessions) session->end_reading();
    stop();
  });
}

void HttpServer::State::reload_at_signal(const std::function<void()>& reload) {
  hangups.async_wait([this, reload](Error error, int /*signal*/) {
    if (error) return;
    reload();
    reload_at_signal(reload);
  });
}

HttpServer::HttpServer(const HttpSettings& settings, Handler handler)
    : state_(std::make_unique<State>(settings, std::move(handler))) {
  state_->listen();
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

void HttpServer::run(const std::function<void()>& stop, const std::function<void()>& reload) {
  state_->stop_at_signal(stop);
  add_unless_ignored(state_->hangups, SIGHUP);
  state_->reload_at_signal(reload);
  state_->accept();
  for (;;) try {
      return void(state_->context.run());
    } catch (const std::length_error&) {
      // From Beast, for a long field behind a body: that connection has ended.
    }
}

void HttpServer::post(std::function<void()> function) {
  net::post(state_->context, std::move(function));
}

}  // namespace nlp
