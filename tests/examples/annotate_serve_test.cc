// `annotate serve` as its clients meet it: UDPipe's REST interface, many clients, a clean stop.

#ifdef ANNOTATE_BINARY

#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "examples/nlp/common/model_file.h"
#include "tests/examples/annotated.h"
#include "tests/examples/server.h"
#include "tests/fuzz/requests.h"

const Program kProgram = {"annotate", ANNOTATE_BINARY};
/// "result" of an answer, or all of it if that is something else.
std::string result_of(const Server& server, const std::string& body,
                      const std::string& target = "/process") {
  const std::string answer = server.post(target, body);
  const Json json = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
  return json.is_object() ? json.at("result").get<std::string>() : answer;
}

std::string multipart(const std::string& data, const std::string& header = "") {
  return "--b\r\nContent-Disposition: form-data; name=\"data\"; filename=\"f\"\r\n" + header +
         "\r\n" + data +
         "\r\n--b\r\nContent-Disposition: form-data; name=output\r\n\r\nhorizontal\r\n--b--\r\n";
}

TEST_CASE("annotate serve: UDPipe's REST interface") {
  const AnnotatedFolder folder;
  folder.must("cp model cats-ud-2.16.model");
  Server server(kProgram, folder.path("cats-ud-2.16.model"), {"--max-request-size", "4"});
  const std::string cats = "data=Cats+don%27t+sleep.", tokens = "&tokenizer=&output=vertical";
  // Parameters of /process, and the result.
  const std::vector<std::pair<std::string, std::string>> results = {
      {cats + tokens, "Cats\ndo\nn't\nsleep\n.\n\n"},
      {cats + tokens + "&model=cats-ud", "Cats\ndo\nn't\nsleep\n.\n\n"},
      {cats + tokens + "&model=none&model=cats-ud", "Cats\ndo\nn't\nsleep\n.\n\n"},
      {"data=Cats+sleep.%0ADogs+sleep.&tokenizer=presegmented&output=horizontal",
       "Cats sleep .\nDogs sleep .\n"},
      {"data=Cats.%0A%0ADogs.&tokenizer=presegmented;ranges&output=horizontal%3Dparagraphs",
       "Cats .\n\nDogs .\n"},
      {"data=Cats+sleep&input=horizontal&output=vertical", "Cats\nsleep\n\n"},
      {"data=Cats%0Adon%27t%0A&input=vertical&output=horizontal", "Cats don't\n"},
      {"data=++Cats+%0A+sleep.&tokenizer=joint_with_parsing&output=plaintext", "  Cats \n sleep."},
      {"data=++Cats+%0A+sleep.&tokenizer=&output=plaintext=normalized_spaces", "Cats sleep.\n"},
      {"data=Ca%CC%88ts&input=horizontal&output=horizontal", "C\u00e4ts\n"},
      {"data=&tokenizer=&output=horizontal", ""}};
  for (const auto& [parameters, result] : results) {
    INFO(parameters);
    CHECK(result_of(server, parameters) == result);
    CHECK(result_of(server, "", "/process?" + parameters) == result);
  }
  const std::string comments = "# generator = annotate " + std::string(dynet::version()) +
                               "\n# model = Cats 1.0\n# udpipe_model = cats-ud-2.16\n";
  CHECK(result_of(server,
                  cats + "&tokenizer=normalized_spaces&tokenizer=ranges&tagger&parser=none") ==
        comments +
            "# newdoc\n# newpar\n# sent_id = 1\n# text = Cats don't sleep.\n"
            "1\tCats\tcat\tNOUN\tN\tNumber=Plur\t_\t_\t_\tTokenRange=0:4\n"
            "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tTokenRange=5:10\n2\tdo\tdo\tAUX\tA\t_\t_\t_\t_\t_\n"
            "3\tn't\tnot\tPART\tP\t_\t_\t_\t_\t_\n"
            "4\tsleep\tsleep\tVERB\tV\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=11:16\n"
            "5\t.\t.\tPUNCT\t.\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=16:17\n\n");
  // The body overrides the query; fields that are filled are replaced.
  const std::string row = "1%09Cats%09x%09X%09_%09_%090%09root%09_%09_%0A%0A";
  CHECK(contains(result_of(server, "data=" + row + "&tagger=", "/process?data=y&input=conllu=v2"),
                 "1\tCats\tcat\tNOUN\tN\tNumber=Plur\t0\troot\t_\t_\n\n"));
  const std::string form = "multipart/form-data; boundary=\"b\"";
  CHECK(contains(server.post("/process?tokenizer=", multipart("Cats sleep"), form),
                 R"("result":"Cats sleep\n")"));
  CHECK(contains(server.post("/weblicht/tokenize", "Cats", "text/plain"), "application/conllu"));
  CHECK(contains(server.post("/weblicht/tag", "1\tCats\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "x"),
                 "1\tCats\tcat\tNOUN\tN\tNumber=Plur\t_\t_\t_\t_\n\n"));
  const std::string answer = server.post("/process", cats + tokens);
  CHECK(contains(answer, "\r\nAccess-Control-Allow-Origin: *\r\n"));
  CHECK(contains(answer, "\r\nX-Billing-Input-NFC-Len: 15\r\n"));
  CHECK(contains(answer, R"({"model":"cats-ud-2.16","acknowledgements":["Annotated by )"));
  // A connection serves several requests.
  const std::string two = server.exchange(
      "GET /models HTTP/1.1\r\n\r\nHEAD /health HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(contains(two,
                 "{\"models\":{\"cats-ud-2.16\":[\"tokenizer\",\"tagger\",\"parser\"]},"
                 "\"default_model\":\"cats-ud-2.16\"}\n"));
  CHECK(two.substr(two.size() - 4) == "\r\n\r\n");

  const auto refuses = [&](const std::string& target, const std::string& body,
                           const std::string& status, const std::string& sentence,
                           const std::string& type = "application/x-www-form-urlencoded") {
    const std::string refusal = server.post(target, body, type);
    INFO(refusal);
    CHECK(refusal.rfind("HTTP/1.1 " + status, 0) == 0);
    CHECK(contains(refusal, sentence));
    CHECK(refusal.back() == '\n');
  };
  const std::string process = "/process";
  refuses(process, "tokenizer=", "400", "Required argument 'data' is missing.");
  refuses(process, cats + "&model=ca", "400", "Requested model 'ca' does not exist.");
  refuses(process, cats + "&input=x", "400", "Unknown input format 'x'.");
  refuses(process, cats + "&output=x", "400", "Unknown output format 'x'.");
  refuses(process, cats + "&output=epe", "400", "conllu, horizontal, vertical and plaintext are.");
  refuses(process, cats + "&tokenizer=x", "400", "ranges, joint_with_parsing.");
  refuses(process, cats + "&input=vertical=x", "400", "which has none.");
  refuses(process, cats, "400", "expected the 10 tab-separated columns of CoNLL-U, found 1");
  refuses(process, "data=a%00b&tokenizer=", "400",
          "Cannot read input data: data:1: expected text, found a zero byte");
  refuses(process, "data=%FF&tokenizer=", "415", "The argument 'data' is not valid UTF-8.");
  refuses(process, cats, "415", "multipart/form-data are.", "text/plain");
  refuses(process, multipart("x", "Content-Transfer-Encoding: base64\r\n"), "415",
          "The transfer encoding 'base64' is not supported, only 7bit, 8bit and binary are.", form);
  refuses(process, "--b\r\n\r\nx\r\n--b--", "400", "A part of the multipart body has no name.",
          form);
  for (const std::string bad : {"x", "--b", "--b\r\n", "--bx\r\n\r\n", "--b\r\nA: b\r\n\r\nx"})
    refuses(process, bad, "400", "The multipart body is malformed.", form);
  refuses(process, "x", "400", "has no boundary.", "multipart/form-data");
  refuses("/weblicht/parse", "", "400", "The body of the request has no data.");
  refuses("/weblicht/x", "", "404", "Requested URL was not found.");
  refuses(process, std::string(5000, 'x'), "413", "Request was too large.");
  CHECK(contains(server.exchange("PATCH / HTTP/1.0\r\n\r\n"),
                 "\r\nAllow: HEAD, GET, POST, PUT, DELETE\r\n"));
  CHECK(contains(server.exchange("nonsense\r\n\r\n"), "The request is not valid HTTP.\n"));
  // Long fields fail their request alone.
  const std::string field = "X: " + std::string(70000, 'a') + "\r\n\r\n";
  CHECK(contains(server.exchange("GET /health HTTP/1.1\r\n" + field), "Request was too large."));
  CHECK(server.exchange("POST /process HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + field)
            .empty());
  const std::string both = server.exchange(
      "GET /health HTTP/1.1\r\n\r\nGET /health HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(contains(both, "\r\nConnection: keep-alive\r\n"));
  CHECK(contains(both, "\r\nConnection: close\r\n"));
  CHECK(server.stop(SIGINT) == 0);
  folder.refuses("p serve -m model --host nowhere.invalid", kFailed, "cannot listen at nowhere");
}

TEST_CASE("annotate serve: the corpus of the fuzz target is answered") {
  const std::filesystem::path corpus =
      (std::filesystem::path(__FILE__) / "../../fuzz/corpus").lexically_normal();
  const auto model = nlp::load_model<annotate::Model>(corpus / "annotate/good-all");
  for (const auto& entry : std::filesystem::directory_iterator(corpus / "requests")) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    const unsigned status = dynet::fuzz::answer_request(read_file(entry.path()), *model);
    if (name.starts_with("good")) CHECK(status == 200);
  }
}

TEST_CASE("annotate serve: 64 clients get the answers that each gets alone") {
  constexpr int kClients = 64, kRequests = 8;
  const AnnotatedFolder folder;
  Server server(kProgram, folder.path("model"), {"--threads", "2"});
  const Strings tasks = {"&tokenizer=&tagger=&parser=",
                         "&tokenizer=ranges&output=vertical",
                         "&input=horizontal&parser=&tagger=",
                         "&tokenizer=presegmented;normalized_spaces&tagger=",
                         "&input=x",
                         "&input=conllu"};
  const auto body = [&](int client) {
    std::string text = "data=";
    for (int i = 0; i <= client % 13; ++i) text += (i + client) % 3 ? "Cats+" : "don%27t+";
    return text + "sleep.%0A%0ADogs+" + std::to_string(client) +
           tasks[static_cast<std::size_t>(client) % tasks.size()];
  };
  Strings alone;
  for (int client = 0; client < kClients; ++client)
    alone.push_back(server.post("/process", body(client)));
  std::atomic<int> right = 0, refused = 0;
  const auto run_clients = [&](auto go_on) {
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client)
      clients.emplace_back([&, client] {
        for (int i = 0; go_on(i); ++i) {
          const std::string answer = server.post("/process", body(client));
          const bool is_right = answer == alone[static_cast<std::size_t>(client)];
          right += is_right;
          refused += answer.empty() || contains(answer, "\r\n\r\nThe server is stopping.\n");
          if (!is_right) return;
        }
      });
    return clients;
  };
  for (std::thread& client : run_clients([](int i) { return i < kRequests; })) client.join();
  CHECK(right == kClients * kRequests);
  CHECK(refused == 0);
  // A stop meanwhile: no wrong answer, and each client is told so or finds no server.
  right = 0;
  std::vector<std::thread> clients = run_clients([](int) { return true; });
  while (right < kClients) std::this_thread::yield();
  CHECK(server.stop() == 0);
  for (std::thread& client : clients) client.join();
  CHECK(refused == kClients);
}

TEST_CASE("annotate serve: bounds on waiting, and a stop that answers what waits") {
  const AnnotatedFolder folder;
  const std::string request = "data=Cats&tokenizer=&output=horizontal";
  {
    Server server(kProgram, folder.path("model"), {"--timeout", "0.001", "--wait", "50"});
    CHECK(contains(result_of(server, request), "The request exceeded its time limit.\n"));
  }
  {
    std::string text = "data=";
    while (text.size() < 900000) text += "Cats+sleep+";
    Server server(kProgram, folder.path("model"), {"--timeout", "0.3", "--wait", "0"});
    CHECK(contains(result_of(server, text + "&tokenizer=&parser="),
                   "The request exceeded its time limit.\n"));
    CHECK(result_of(server, request) == "Cats\n");
  }
  Server server(kProgram, folder.path("model"), {"--max-queued", "1", "--wait", "10000"});
  std::string waiting;
  std::thread client([&] { waiting = result_of(server, request); });
  const auto is_queued = [&] {
    return contains(server.exchange("GET /health HTTP/1.0\r\n\r\n"), "\"queued\":1}");
  };
  while (!is_queued()) std::this_thread::yield();
  const std::string refused = server.post("/process", request);
  CHECK(contains(refused, "HTTP/1.1 503 "));
  CHECK(contains(refused, "Too many requests are waiting.\n"));
  CHECK(server.stop() == 0);
  client.join();
  CHECK(waiting == "Cats\n");
}

TEST_CASE("annotate serve: a new model answers while requests go on, a broken one does not") {
  const AnnotatedFolder folder;
  folder.must(
      "p train --train data --model other --name 'Dogs 2.0' --epochs 1 --letter-hidden 8 --word 8 "
      "--char 8 --hidden 8 --tree-hidden 8 --mlp 8 --arc 8 --label 8 --batch 4");
  folder.must("cp model served");
  Server server(kProgram, folder.path("served"), {"--wait", "0", "--threads", "2"});
  const std::string request = "data=Cats+sleep.&tokenizer=&tagger=&parser=";
  const std::string before = server.post("/process", request);
  REQUIRE(contains(before, "# model = Cats 1.0"));

  std::atomic<bool> done = false;
  std::atomic<int> old = 0, fresh = 0, wrong = 0;
  std::vector<std::thread> clients;
  for (int k = 0; k < 8; ++k)
    clients.emplace_back([&] {
      while (!done) {
        const std::string answer = server.post("/process", request);
        const bool is_fresh = contains(answer, "# model = Dogs 2.0");
        ++(answer == before ? old : is_fresh ? fresh : wrong);
      }
    });
  const auto wait_for = [&](auto condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  wait_for([&] { return old > 20; });
  folder.must("mv other served");
  for (int k = 0; k < 3; ++k) server.send(SIGHUP);
  wait_for([&] { return fresh > 20; });
  wait_for([&] { return server.metric("reloads_total{result=\"success\"}") >= 1; });
  folder.write("broken", "no model");
  folder.must("mv broken served");
  server.send(SIGHUP);
  wait_for([&] { return server.metric("reloads_total{result=\"failure\"}") >= 1; });
  const int before_more = fresh;
  wait_for([&] { return fresh > before_more + 20; });
  done = true;
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);

  // The figures agree with each other.
  const long answers = server.metric("requests_total{status=\"200\"}");
  CHECK(answers >= old + fresh);
  CHECK(server.metric("request_seconds_bucket{le=\"+Inf\"}") >= answers);
  CHECK(server.metric("batched_texts_total") == old + fresh + 1);
  CHECK(server.metric("batches_total") >= 1);
  CHECK(server.metric("batches_total") <= server.metric("batched_texts_total"));
  CHECK(server.metric("queued_texts") == 0);
  CHECK(server.post("/nowhere", "").substr(9, 3) == "404");
  CHECK(server.metric("requests_total{status=\"404\"}") == 1);
  CHECK(server.stop() == 0);
}

TEST_CASE("annotate serve: a port is free again at once") {
  const AnnotatedFolder folder;
  Server first(kProgram, folder.path("model"), {"--wait", "0"});
  // The server ends the connection, whose end it still remembers for a minute.
  CHECK(contains(first.post("/process", "data=Cats&input=horizontal"), " 200 "));
  CHECK(first.stop() == 0);
  Server second(kProgram, folder.path("model"), {"--port", std::to_string(first.port())});
  CHECK(second.port() == first.port());
}

#endif
