// `tagger serve` and `parser serve`: the answers of the command line, over HTTP.

#include <atomic>
#include <thread>

#include "examples/nlp/serve/metrics.h"
#include "tests/examples/server.h"

/// Queries and the options of the command line that stand for them.
using Variants = std::vector<std::pair<std::string, std::string>>;

/// Answers of a server beside those of the program `command`, alone and from many clients at once.
void check_answers(const Desk& desk, const std::string& path, const Variants& variants,
                   const Strings& texts) {
  Server server(desk.program(), desk.path("model"), {"--threads", "2"});
  std::vector<std::pair<std::string, std::string>> requests;
  Strings expected;
  for (const auto& [query, options] : variants)
    for (const std::string& text : texts) {
      desk.write("text", text);
      expected.push_back(desk.must("apply " + options + " < text"));
      requests.emplace_back(path + query, text);
      INFO(query << " " << text);
      CHECK(server.body(requests.back().first, text) == expected.back());
    }
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (std::size_t client = 0; client < 32; ++client)
    clients.emplace_back([&, client] {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::size_t k = (client + i) % requests.size();
        const std::string answer = server.post(requests[k].first, requests[k].second);
        right += answer.substr(answer.find("\r\n\r\n") + 4) == expected[k];
      }
    });
  for (std::thread& client : clients) client.join();
  CHECK(right == static_cast<int>(32 * requests.size()));
  CHECK(server.metric("batched_texts_total") > 200);  // empty texts need no batch
  CHECK(server.stop() == 0);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

TEST_CASE("Serve: the tagger answers what it prints") {
  const Desk desk(any_program("tagger"), 40, "train --model model");
  check_answers(desk, "/tag",
                {{"", ""},
                 {"?format=columns&probabilities=1", "--format columns --probabilities"},
                 {"?format=json", "--format json"},
                 {"?input=columns&format=conllu&column=XPOS",
                  "--input-format columns --format conllu --column XPOS"}},
                {"the cat sleeps\n", "the\n\ncat cat cat\n", "", repeated("a cat sleeps\n", 900),
                 repeated("word ", 6000) + "\n"});
}

TEST_CASE("Serve: the parser answers what it prints") {
  const Desk desk(any_program("parser"), 40, "train --model model");
  const std::string sentence = any_program("parser").its_input;
  check_answers(desk, "/parse",
                {{"", ""},
                 {"?probabilities=1", "--probabilities"},
                 {"?format=json", "--json"},
                 {"?format=json&probabilities=1", "--json --probabilities"}},
                {sentence, repeated(sentence, 500), ""});
}

TEST_CASE("Serve: the tagger and the parser refuse requests") {
  const Desk desk(any_program("tagger"), 40, "train --model model");
  const Server tagger(desk.program(), desk.path("model"), {"--max-request-size", "200"});
  CHECK(tagger.body("/", "x", 404) == "Requested URL was not found: expected /tag.\n");
  CHECK(tagger.body("/tag?inpt=x", "x", 400) ==
        "Unknown parameter 'inpt': expected input, format, column, probabilities.\n");
  CHECK(contains(tagger.body("/tag?format=x", "x", 400), "unknown format 'x'"));
  CHECK(contains(tagger.body("/tag?format=pipe&probabilities=1", "x", 400), "no place for"));
  CHECK(contains(tagger.body("/tag?format=text", "x", 400), "models that restore text"));
  CHECK(contains(tagger.body("/tag?input=conllu", "x", 400), "the text:1: expected the 10"));
  CHECK(contains(tagger.body("/tag", "a\xff", 400), "the text:1: expected UTF-8"));
  CHECK(contains(tagger.body("/tag", std::string("a\0b", 3), 400), "the text:1"));
  CHECK(contains(tagger.body("/tag", repeated("word ", 10001), 400), "expected 10000 at most"));
  CHECK(contains(tagger.body("/tag", "# sent_id = 1\n1\ta", 400), "found CoNLL-U"));
  CHECK(contains(tagger.body("/tag?format=json&probabilities=yes", "x", 400), "expected 0 or 1"));
  tagger.body("/tag", repeated("word ", 50000), 413);
  CHECK(contains(tagger.exchange("GET /tag HTTP/1.0\r\n\r\n"), "Allow: POST, PUT\r\n"));
  CHECK(contains(tagger.body("/tag", "still there"), "still|"));
  CHECK(tagger.metric("requests_total{status=\"404\"}") == 1);

  const Desk other(any_program("parser"), 40, "train --model model");
  const Server parser(other.program(), other.path("model"), {});
  const std::string untagged = "1\ta\t_\tNONE\t_\t_\t_\t_\t_\t_\n\n";
  CHECK(contains(parser.body("/parse", untagged, 400), "the model knows none of the tags"));
  CHECK(contains(parser.body("/parse?format=pipe", "", 400), "unknown format 'pipe'"));
  CHECK(contains(parser.body("/parse", "a b", 400), "the text:1: expected the 10"));
  CHECK(contains(parser.body("/parse", "# alone\n\n", 400), "the text:1"));
  CHECK(parser.body("/parse", "\n\n") == "");
  std::string lengthy;
  for (int i = 1; i <= 1001; ++i) lengthy += std::to_string(i) + "\ta\t_\tNOUN\t_\t_\t_\t_\t_\t_\n";
  CHECK(contains(parser.body("/parse", lengthy, 400), "1001 words: expected 1000 at most"));
}

TEST_CASE("Serve: a request of many parts is answered after a signal to stop") {
  const Desk desk(any_program("tagger"), 40, "train --model model");
  const std::string text = repeated("a cat sleeps\n", 20000);
  Server server(desk.program(), desk.path("model"), {});
  const std::string expected = server.body("/tag", text);
  const long before = server.metric("batches_total");
  std::string found;
  std::thread client([&] { found = server.post("/tag", text); });
  while (server.metric("batches_total") == before) std::this_thread::yield();
  CHECK(server.stop() == 0);
  client.join();
  CHECK(found.substr(found.find("\r\n\r\n") + 4) == expected);
}

TEST_CASE(
    "Serve: a server survives a model file that is cut, programs answer alike without a map") {
  const Desk desk(any_program("tagger"), 40, "train --model model");
  const std::string expected = desk.must("apply < in");
  CHECK(desk.must("apply --no-mmap < in") == expected);
  desk.must("cp model served");
  const Server server(desk.program(), desk.path("served"), {});
  desk.must(": > served");
  CHECK(server.body("/tag", desk.read("in")) == expected);
}

TEST_CASE("Serve: metrics in the text format of Prometheus") {
  nlp::Metrics metrics("p");
  for (const double seconds : {0.001, 0.25, 1000.0})
    metrics.add_answer(seconds > 1 ? 404 : 200, std::chrono::duration<double>(seconds));
  metrics.add_batch(2);
  metrics.add_batch(3);
  metrics.add_reload(true);
  metrics.add_reload(false);
  metrics.add_reload(false);
  const std::string expected = R"(
# HELP p_requests_total Requests that were answered, by the status of the answer.
# TYPE p_requests_total counter
p_requests_total{status="200"} 2
p_requests_total{status="404"} 1
# HELP p_request_seconds Time from a request that was read to its answer.
# TYPE p_request_seconds histogram
p_request_seconds_bucket{le="0.005"} 1
p_request_seconds_bucket{le="0.01"} 1
p_request_seconds_bucket{le="0.025"} 1
p_request_seconds_bucket{le="0.05"} 1
p_request_seconds_bucket{le="0.1"} 1
p_request_seconds_bucket{le="0.25"} 2
p_request_seconds_bucket{le="0.5"} 2
p_request_seconds_bucket{le="1"} 2
p_request_seconds_bucket{le="2.5"} 2
p_request_seconds_bucket{le="5"} 2
p_request_seconds_bucket{le="10"} 2
p_request_seconds_bucket{le="+Inf"} 3
p_request_seconds_sum 1000.25
p_request_seconds_count 3
# HELP p_batches_total Batches of texts that were processed together.
# TYPE p_batches_total counter
p_batches_total 2
# HELP p_batched_texts_total Texts in these batches.
# TYPE p_batched_texts_total counter
p_batched_texts_total 5
# HELP p_queued_texts Texts that wait now.
# TYPE p_queued_texts gauge
p_queued_texts 7
# HELP p_reloads_total Attempts to load the model again.
# TYPE p_reloads_total counter
p_reloads_total{result="success"} 1
p_reloads_total{result="failure"} 2
)";
  CHECK("\n" + metrics.text(7) == expected);
}
