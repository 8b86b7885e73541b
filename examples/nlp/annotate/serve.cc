#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <utility>
#include <variant>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/serve/batcher.h"
#include "examples/nlp/annotate/commands.h"
#include "examples/nlp/annotate/document.h"
#include "examples/nlp/annotate/http.h"
#include "examples/nlp/annotate/metrics.h"
#include "examples/nlp/annotate/rest.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"

namespace annotate {

using namespace nlp;

namespace {

using Clock = std::chrono::steady_clock;

/// Documents of clients that are annotated together, on a thread of their own.
class Lane {
 public:
  /// Document with the time until which it must be annotated.
  struct Timed {
    Document document;
    Clock::time_point deadline;
  };

  Lane(const Model& model, const dynet::serve::BatchLimits& limits, Metrics& metrics)
      : workers_(model.threads()),
        model_(model),
        metrics_(metrics),
        batcher_([this](std::span<const Timed> requests) { return annotate(requests); }, limits) {
    model_.set_workers(&workers_);
  }

  dynet::serve::Batcher<Timed, Document>& batcher() { return batcher_; }

 private:
  std::vector<Document> annotate(std::span<const Timed> requests) {
    std::vector<Document> documents;
    Clock::time_point last = Clock::time_point::min();
    for (const Timed& request : requests) {
      documents.push_back(request.document);
      last = std::max(last, request.deadline);
    }
    const auto check = [last] {
      if (Clock::now() > last)
        throw dynet::serve::DeadlineExceeded("the deadline passed while a text was annotated");
    };
    dynet::Interrupt interrupt(check, std::chrono::milliseconds(0));  // before each graph
    model_.set_interrupt(&interrupt);
    metrics_.add_batch(documents.size());
    annotate::annotate(model_, documents);
    return documents;
  }

  dynet::Workers workers_;
  Model model_;  ///< shares the weights
  Metrics& metrics_;
  dynet::serve::Batcher<Timed, Document> batcher_;
};

/// A model that answers requests. Long ones have a lane of their own, so that short ones do not
/// wait for them.
struct Served {
  Served(const Model& model, const std::string& file, const dynet::serve::BatchLimits& limits,
         Metrics& metrics)
      : about(served_model(model, file)),
        brief(model, limits, metrics),
        lengthy(model, limits, metrics) {}
  std::size_t queued() { return brief.batcher().queued() + lengthy.batcher().queued(); }

  const ServedModel about;
  Lane brief, lengthy;
};

/// Annotates the documents of all requests.
class Annotator {
 public:
  struct Limits {
    Clock::duration timeout;
    dynet::serve::BatchLimits batches;  ///< weights are those of documents
  };
  /// Loads the model again. Called by any thread, and by one at a time.
  using Load = std::function<std::unique_ptr<Model>()>;

  Annotator(std::unique_ptr<Model> model, std::string file, Load load, const HttpSettings& settings,
            const Limits& limits)
      : file_(std::move(file)),
        load_(std::move(load)),
        limits_(limits),
        server_(settings, [this](const HttpRequest& request,
                                 HttpServer::Reply reply) { receive(request, std::move(reply)); }),
        served_(serve(*model)) {}

  std::uint16_t port() const { return server_.port(); }
  /// See HttpServer::run.
  void run() {
    server_.run(
        [this] {
          stopping_ = true;
          served_->brief.batcher().stop();
          served_->lengthy.batcher().stop();
        },
        [this] { reload(); });
  }

 private:
  /// Request whose documents are annotated one after the other, in turn with those of others.
  struct Job {
    AnnotationRequest request;
    HttpServer::Reply reply;
    Clock::time_point deadline;
    std::shared_ptr<Served> served;  ///< one model for the whole request
    std::size_t next = 0;            ///< document
    std::future<Document> annotated = {};
  };

  std::shared_ptr<Served> serve(const Model& model) {
    return std::make_shared<Served>(model, file_, limits_.batches, metrics_);
  }

  /// Loads the model again, beside the requests; those that come afterwards get the new one.
  void reload() {
    again_ = loading_;  // what it reads now may be what was there before
    if (std::exchange(loading_, true)) return;
    loader_ = std::async(std::launch::async, [this] {
      std::shared_ptr<Served> fresh;
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
          std::cerr << "annotate: the model is kept, as " << file_ << " cannot be loaded: " << error
                    << std::endl;
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
    auto read = read_request(http, served_->about, limits_.batches.most_weight);
    if (auto* const answer = std::get_if<HttpAnswer>(&read)) return reply(std::move(*answer));
    go_on(std::make_shared<Job>(Job{std::move(std::get<AnnotationRequest>(read)), reply,
                                    Clock::now() + limits_.timeout, served_}));
  }

  void go_on(const std::shared_ptr<Job>& job) {
    std::vector<Document>& documents = job->request.documents;
    if (job->next == documents.size())
      return job->reply(answer_of(job->request, job->served->about));
    Document& document = documents[job->next];
    const std::size_t weight = document.weight();
    const dynet::serve::RequestTerms terms = {weight, job->deadline, job->next > 0};
    try {
      // The worker keeps nothing of the job, whose connection belongs to the thread of the server.
      Lane& lane = weight > limits_.batches.most_weight ? job->served->lengthy : job->served->brief;
      job->annotated = lane.batcher().submit(
          {std::move(document), job->deadline}, terms, [this, waiting = job]() mutable {
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
      job->request.documents[job->next++] = job->annotated.get();
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
  std::shared_ptr<Served> served_;
  bool loading_ = false, again_ = false, stopping_ = false;
  std::future<void> loader_;
};

class Serve : public ModelCommand<Model> {
 public:
  // A file that somebody truncates must not end a server: it is read.
  Serve() : ModelCommand(false) {}
  void add_options(CLI::App& app) override {
    ModelCommand::add_options(app);
    begin_group(app, "Server");
    app.add_option("--host", host_, "Where to listen: a name or an address");
    app.add_option("--port", port_, "The port; 0 for any that is free")
        ->transform(InRange(0, 65535));
    app.add_option("--max-request-size", kilobytes_, "Kilobytes of a request")
        ->transform(InRange(1, 1 << 20));
    app.add_option("--max-queued", most_queued_, "Requests that may wait")
        ->transform(InRange(1, 1e6));
    app.add_option("--timeout", timeout_, "Seconds that a request may take")
        ->transform(InRange(0.001, 86400));
    app.add_option("--batch", batch_, "Requests that are annotated together")
        ->transform(InRange(1, 1e4));
    app.add_option("--wait", wait_, "Milliseconds that a request waits for others to join it")
        ->transform(InRange(0.0, 10000));
  }

  void run() override {
    std::unique_ptr<Model> model = load();
    dynet::Workers* const workers = model->workers();
    HttpSettings settings;
    settings.host = host_;
    settings.port = static_cast<std::uint16_t>(port_);
    settings.most_bytes = kilobytes_ << 10;
    settings.timeout = std::chrono::seconds(static_cast<int>(std::ceil(timeout_)));
    const dynet::serve::BatchLimits batches = {
        most_queued_, batch_, kMostWeight * model->threads(),
        std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::duration<double, std::milli>(wait_))};
    const auto timeout =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_));
    const auto load_again = [&] {
      auto again = load_model<Model>(saved_);
      again->set_workers(workers);
      return again;
    };
    Annotator annotator(std::move(model), saved_.model, load_again, settings, {timeout, batches});
    const bool is_v6 = host_.find(':') != host_.npos;
    std::cout << "annotate serves " << saved_.model << " at http://"
              << (is_v6 ? "[" + host_ + "]" : host_) << ":" << annotator.port() << std::endl;
    annotator.run();
  }

 private:
  std::string host_ = "127.0.0.1";
  unsigned port_ = 8001;
  std::size_t kilobytes_ = 1024, most_queued_ = 256, batch_ = 64;
  double timeout_ = 60, wait_ = 2;
};

}  // namespace

std::unique_ptr<Command> serve_command() { return std::make_unique<Serve>(); }

}  // namespace annotate
