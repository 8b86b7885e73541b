#pragma once

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/examples/programs.h"

/// The server as a process of its own.
class Server {
 public:
  Server(const Program& program, const std::string& model, Strings options) : name_(program.name) {
    options.insert(options.begin(), {program.binary, "serve", "-m", model});
    if (std::find(options.begin(), options.end(), "--port") == options.end())
      options.insert(options.end(), {"--port", "0"});
    std::vector<char*> arguments;
    for (std::string& option : options) arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      for (const int ignored : {SIGHUP, SIGINT, SIGTERM}) signal(ignored, SIG_DFL);  // as by nohup
      execv(program.binary.c_str(), arguments.data());
      _exit(127);
    }
    close(ends[1]);
    std::string line;
    for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    close(ends[0]);
    REQUIRE(contains(line, "at http://127.0.0.1:"));
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
  }
  ~Server() {
    if (process_ > 0) stop();
  }
  std::uint16_t port() const { return port_; }

  /// Everything that comes back for these bytes.
  std::string exchange(const std::string& bytes) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string found;
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes)) {
      char buffer[4096];
      for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
        found.append(buffer, static_cast<std::size_t>(n));
    }
    close(fd);
    return found;
  }
  std::string post(const std::string& target, const std::string& body,
                   const std::string& type = "application/x-www-form-urlencoded") const {
    return exchange("POST " + target + " HTTP/1.1\r\nConnection: close\r\nContent-Type: " + type +
                    "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  /// The answer of a request without its head, which must have this status.
  std::string body(const std::string& target, const std::string& text, int status = 200) const {
    const std::string answer = post(target, text);
    INFO(answer);
    CHECK(answer.substr(0, 13) == "HTTP/1.1 " + std::to_string(status) + " ");
    return answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4));
  }

  void send(int signal) const { kill(process_, signal); }
  /// A number of /metrics, -1 if there is none of this name and these labels.
  long metric(const std::string& name) const {
    const std::string text = exchange("GET /metrics HTTP/1.0\r\n\r\n");
    const std::size_t at = text.find("\n" + name_ + "_" + name + ' ');
    return at == text.npos ? -1 : std::stol(text.substr(text.find(' ', at)));
  }

  /// Asks it to end; returns its exit status.
  int stop(int signal = SIGTERM) {
    kill(process_, signal);
    int status = -1;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  const std::string name_;
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
};
