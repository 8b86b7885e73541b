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

  Lane(const Model& model, const dynet::serve::BatchLimits& limits)
      : workers_(model.threads()),
        model_(model),
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
    annotate::annotate(model_, documents);
    return documents;
  }

  dynet::Workers workers_;
  Model model_;  ///< shares the weights
  dynet::serve::Batcher<Timed, Document> batcher_;
};

/// Annotates the documents of all requests. Long ones have a lane of their own, so that short ones
/// do not wait for them.
class Annotator {
 public:
  struct Limits {
    Clock::duration timeout;
    dynet::serve::BatchLimits batches;  ///< weights are those of documents
  };

  Annotator(const Model& model, ServedModel served, const HttpSettings& settings,
            const Limits& limits)
      : served_(std::move(served)),
        limits_(limits),
        server_(settings, [this](const HttpRequest& request,
                                 HttpServer::Reply reply) { receive(request, std::move(reply)); }),
        short_(model, limits.batches),
        long_(model, limits.batches) {}

  std::uint16_t port() const { return server_.port(); }
  /// See HttpServer::run.
  void run() {
    server_.run([this] {
      short_.batcher().stop();
      long_.batcher().stop();
    });
  }

 private:
  /// Request whose documents are annotated one after the other, in turn with those of others.
  struct Job {
    AnnotationRequest request;
    HttpServer::Reply reply;
    Clock::time_point deadline;
    std::size_t next = 0;  ///< document
    std::future<Document> annotated = {};
  };

  void receive(const HttpRequest& http, HttpServer::Reply reply) {
    if (http.path == "/health")
      return reply(health_answer(short_.batcher().queued() + long_.batcher().queued()));
    auto read = read_request(http, served_, limits_.batches.most_weight);
    if (auto* const answer = std::get_if<HttpAnswer>(&read)) return reply(std::move(*answer));
    go_on(std::make_shared<Job>(Job{std::move(std::get<AnnotationRequest>(read)), std::move(reply),
                                    Clock::now() + limits_.timeout}));
  }

  void go_on(const std::shared_ptr<Job>& job) {
    std::vector<Document>& documents = job->request.documents;
    if (job->next == documents.size()) return job->reply(answer_of(job->request, served_));
    Document& document = documents[job->next];
    const std::size_t weight = document.weight();
    const dynet::serve::RequestTerms terms = {weight, job->deadline, job->next > 0};
    try {
      // The worker keeps nothing of the job, whose connection belongs to the thread of the server.
      Lane& lane = weight > limits_.batches.most_weight ? long_ : short_;
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

  const ServedModel served_;
  const Limits limits_;
  HttpServer server_;
  Lane short_, long_;  ///< destroyed first, as they call the server
};

class Serve : public ModelCommand<Model> {
 public:
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
    const std::unique_ptr<Model> model = load();
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
    Annotator annotator(*model, served_model(*model, saved_.model), settings, {timeout, batches});
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
