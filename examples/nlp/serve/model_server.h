#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/serve/batcher.h"
#include "examples/nlp/serve/http.h"
#include "examples/nlp/serve/metrics.h"

// A server of any model, as a template over its service:
//
//     struct Service {
//       using Model = ...;
//       using Piece = ...;                               // of a request, such as a document
//       struct Request { std::vector<Piece> pieces; ... };
//
//       Service(const Model& model, const std::string& file);
//       // Reads a request, in pieces of about the weight `most`; or answers it, also with an
//       error. std::variant<Request, HttpAnswer> read(const HttpRequest& http, std::size_t most)
//       const; static std::size_t weight(const Piece& piece);
//       // Processes the pieces of any requests together; each gets the same as alone. To be called
//       // before each graph, `interrupt.look()` throws when all their deadlines have passed.
//       static void process(Model& model, std::span<Piece> pieces, dynet::Interrupt& interrupt);
//       HttpAnswer answer(const Request& request) const;  // its pieces are processed
//     };

namespace nlp {

/// Pieces of requests that are processed together, on a thread of their own.
template <class Service>
class Lane {
 public:
  using Model = typename Service::Model;
  using Piece = typename Service::Piece;
  using Clock = std::chrono::steady_clock;
  /// Piece with the time until which it must be processed.
  struct Timed {
    Piece piece;
    Clock::time_point deadline;
  };

  Lane(const Model& model, const dynet::serve::BatchLimits& limits, Metrics& metrics)
      : workers_(model.threads()),
        model_(model),
        metrics_(metrics),
        batcher_([this](std::span<const Timed> requests) { return process(requests); }, limits) {
    model_.set_workers(&workers_);
  }

  dynet::serve::Batcher<Timed, Piece>& batcher() { return batcher_; }

 private:
  std::vector<Piece> process(std::span<const Timed> requests) {
    std::vector<Piece> pieces;
    Clock::time_point last = Clock::time_point::min();
    for (const Timed& request : requests) {
      pieces.push_back(request.piece);
      last = std::max(last, request.deadline);
    }
    const auto check = [last] {
      if (Clock::now() > last)
        throw dynet::serve::DeadlineExceeded("the deadline passed while a text was processed");
    };
    dynet::Interrupt interrupt(check, std::chrono::milliseconds(0));  // before each graph
    metrics_.add_batch(pieces.size());
    Service::process(model_, pieces, interrupt);
    return pieces;
  }

  dynet::Workers workers_;
  Model model_;  ///< shares the weights
  Metrics& metrics_;
  dynet::serve::Batcher<Timed, Piece> batcher_;
};

/// A model that answers requests. Long ones have a lane of their own, so that short ones do not
/// wait for them.
template <class Service>
struct Served {
  Served(const typename Service::Model& model, const std::string& file,
         const dynet::serve::BatchLimits& limits, Metrics& metrics)
      : service(model, file), brief(model, limits, metrics), lengthy(model, limits, metrics) {}
  std::size_t queued() { return brief.batcher().queued() + lengthy.batcher().queued(); }

  const Service service;
  Lane<Service> brief, lengthy;
};

/// Processes the pieces of all requests, and answers /health and /metrics.
template <class Service>
class ModelServer {
 public:
  using Clock = std::chrono::steady_clock;
  using Model = typename Service::Model;
  struct Limits {
    Clock::duration timeout;
    dynet::serve::BatchLimits batches;  ///< weights are those of pieces
  };
  /// Loads the model again. Called by any thread, and by one at a time.
  using Load = std::function<std::unique_ptr<Model>()>;

  ModelServer(std::unique_ptr<Model> model, std::string file, Load load,
              const HttpSettings& settings, const Limits& limits)
      : file_(std::move(file)),
        load_(std::move(load)),
        limits_(limits),
        metrics_(Model::kProgram),
        server_(settings, [this](const HttpRequest& request,
                                 HttpServer::Reply reply) { receive(request, std::move(reply)); }),
        served_(serve(*model)) {}

  std::uint16_t port() const { return server_.port(); }
  /// See HttpServer::run.
  void run() {
    server_.run(
        [this] {
          stopping_ = true;
          served_->brief.batcher().drain();
          served_->lengthy.batcher().drain();
        },
        [this] { reload(); });
  }

 private:
  /// Request whose pieces are processed one after the other, in turn with those of others.
  struct Job {
    typename Service::Request request;
    HttpServer::Reply reply;
    Clock::time_point deadline;
    std::shared_ptr<Served<Service>> served;  ///< one model for the whole request
    std::size_t next = 0;                     ///< piece
    std::future<typename Service::Piece> processed = {};
  };

  std::shared_ptr<Served<Service>> serve(const Model& model) {
    return std::make_shared<Served<Service>>(model, file_, limits_.batches, metrics_);
  }

  /// Loads the model again, beside the requests; those that come afterwards get the new one.
  void reload() {
    again_ = loading_;  // what it reads now may be what was there before
    if (std::exchange(loading_, true)) return;
    loader_ = std::async(std::launch::async, [this] {
      std::shared_ptr<Served<Service>> fresh;
      std::string error;
      try {
        fresh = serve(*load_());
      } catch (const std::exception& thrown) {
        error = thrown.what();
      }
      server_.post([this, fresh = std::move(fresh), error] {
        loading_ = false;
        metrics_.add_reload(fresh != nullptr);
        if (!fresh)
          std::cerr << Model::kProgram << ": the old model is kept: " << error << std::endl;
        else if (!stopping_)
          served_ = fresh;
        if (again_ && !stopping_) reload();
      });
    });
  }

  void receive(const HttpRequest& http, HttpServer::Reply send) {
    const auto reply = [this, send = std::move(send), begin = Clock::now()](HttpAnswer answer) {
      metrics_.add_answer(answer.status, Clock::now() - begin);
      send(std::move(answer));
    };
    if (http.path == "/health") return reply(health_answer(served_->queued()));
    if (http.path == "/metrics")
      return reply({200, "text/plain; version=0.0.4", metrics_.text(served_->queued())});
    auto read = read_or_refuse(http);
    if (auto* const answer = std::get_if<HttpAnswer>(&read)) return reply(std::move(*answer));
    go_on(std::make_shared<Job>(Job{std::move(std::get<typename Service::Request>(read)), reply,
                                    Clock::now() + limits_.timeout, served_}));
  }

  std::variant<typename Service::Request, HttpAnswer> read_or_refuse(const HttpRequest& http) {
    try {
      return served_->service.read(http, limits_.batches.most_weight);
    } catch (const HttpError& error) {
      return text_answer(error.status(), error.what());
    }
  }

  void go_on(const std::shared_ptr<Job>& job) {
    auto& pieces = job->request.pieces;
    if (job->next == pieces.size()) return job->reply(job->served->service.answer(job->request));
    auto& piece = pieces[job->next];
    const std::size_t weight = Service::weight(piece);
    const dynet::serve::RequestTerms terms = {weight, job->deadline, job->next > 0};
    try {
      // The worker keeps nothing of the job, whose connection belongs to the thread of the server.
      Lane<Service>& lane =
          weight > limits_.batches.most_weight ? job->served->lengthy : job->served->brief;
      job->processed = lane.batcher().submit(
          {std::move(piece), job->deadline}, terms, [this, waiting = job]() mutable {
            server_.post([this, own = std::move(waiting)] { finish(own); });
          });
    } catch (const dynet::serve::QueueFull&) {
      HttpAnswer answer = text_answer(503, "Too many requests are waiting.");
      answer.headers = {{"Retry-After", "1"}};
      job->reply(std::move(answer));
    } catch (const dynet::serve::Stopped&) {
      job->reply(text_answer(503, "The server is stopping."));
    }
  }

  void finish(const std::shared_ptr<Job>& job) {
    try {
      job->request.pieces[job->next++] = job->processed.get();
    } catch (const dynet::serve::DeadlineExceeded&) {
      return job->reply(text_answer(503, "The request exceeded its time limit."));
    } catch (const std::exception& error) {
      return job->reply(text_answer(500, "The request failed: " + std::string(error.what())));
    }
    go_on(job);
  }

  const std::string file_;
  const Load load_;
  const Limits limits_;
  Metrics metrics_;
  HttpServer server_;
  // Destroyed first, as they call the server.
  std::shared_ptr<Served<Service>> served_;
  bool loading_ = false, again_ = false, stopping_ = false;
  std::future<void> loader_;
};

}  // namespace nlp
