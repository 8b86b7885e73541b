#pragma once

#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/serve/model_server.h"

namespace nlp {

/// The command `serve`: answers requests over HTTP with a service, see ModelServer.
template <class Service>
class ServeCommand : public ModelCommand<typename Service::Model> {
 public:
  using Model = typename Service::Model;

  /// `weight`: of the pieces that are processed together, for each thread. A file that somebody
  /// truncates must not end a server: the model is read, not mapped.
  ServeCommand(std::size_t weight, unsigned port)
      : ModelCommand<Model>(false), weight_(weight), port_(port) {}

  void add_options(CLI::App& app) override {
    ModelCommand<Model>::add_options(app);
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
    app.add_option("--batch", batch_, "Requests that are processed together")
        ->transform(InRange(1, 1e4));
    app.add_option("--wait", wait_, "Milliseconds that a request waits for others to join it")
        ->transform(InRange(0.0, 10000));
  }

  void run() override {
    std::unique_ptr<Model> model = this->load();
    dynet::Workers* const workers = model->workers();
    HttpSettings settings;
    settings.host = host_;
    settings.port = static_cast<std::uint16_t>(port_);
    settings.most_bytes = kilobytes_ << 10;
    settings.timeout = std::chrono::seconds(static_cast<int>(std::ceil(timeout_)));
    const dynet::serve::BatchLimits batches = {
        most_queued_, batch_, weight_ * model->threads(),
        std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::duration<double, std::milli>(wait_))};
    const auto timeout = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(timeout_));
    const std::string file = this->saved_.model;
    const auto load_again = [&] {
      auto again = load_model<Model>(this->saved_);
      again->set_workers(workers);
      return again;
    };
    ModelServer<Service> server(std::move(model), file, load_again, settings, {timeout, batches});
    const bool is_v6 = host_.find(':') != host_.npos;
    std::cout << Model::kProgram << " serves " << file << " at http://"
              << (is_v6 ? "[" + host_ + "]" : host_) << ":" << server.port() << std::endl;
    server.run();
  }

 private:
  const std::size_t weight_;
  std::string host_ = "127.0.0.1";
  unsigned port_;
  std::size_t kilobytes_ = 1024, most_queued_ = 256, batch_ = 64;
  double timeout_ = 60, wait_ = 2;
};

}  // namespace nlp
