// The bytes of one connection, through the server's own parser, router and limits. A request that
// reached a handler must reach it again when it is written in the plainest way.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <sys/socket.h>

#include "storage/base/fd.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/written_request.hpp"
#include "web/server/connection.hpp"
#include "web/server/server_state.hpp"

namespace nightjar::fuzz {
namespace asio = boost::asio;
namespace {

constexpr std::size_t head_bytes = 1024, body_bytes = 2048;
constexpr int most_rounds = 10'000;

// A server without a port: each connection is one end of a pair of sockets.
class Served {
 public:
  explicit Served(std::size_t most_head_bytes) {
    web::ServerConfig config;
    config.limits.header_bytes = most_head_bytes;
    state_ = std::make_shared<web::ServerState>(io_, config);
    for (const auto method : {web::Method::get, web::Method::post, web::Method::del})
      for (const char* pattern : {"/", "/things", "/things/{id}"}) add(method, pattern);
  }

  // What the server answers, and the requests that its handlers saw.
  std::string answer(std::string_view bytes) {
    handled.clear();
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0,
            "there is no pair of sockets");
    const Fd client(ends[1]);
    asio::ip::tcp::socket socket(io_, asio::ip::tcp::v4(), ends[0]);
    web::Connection::start(std::make_shared<web::Connection>(std::move(socket), state_));
    std::string answers;
    for (int round = 0; !state_->connections.empty(); ++round) {
      require(round < most_rounds, "a connection does not end though its client has");
      send(client.get(), bytes);
      io_.restart();
      io_.poll();
      receive(client.get(), answers);
    }
    receive(client.get(), answers);
    return answers;
  }
  std::vector<web::Request> handled;

 private:
  void add(web::Method method, const char* pattern) {
    web::Endpoint endpoint;
    endpoint.route = {method,
                      pattern,
                      web::Role::none,
                      std::nullopt,
                      [this](const web::Request& request, const web::Respond& respond) {
                        handled.push_back(request);
                        respond(web::json_response("{}"));
                      },
                      body_bytes};
    state_->router.add(std::move(endpoint));
  }

  static void send(int client, std::string_view& bytes) {
    const auto sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (bytes.empty() || (sent < 0 && errno == EPIPE)) ::shutdown(client, SHUT_WR);
  }
  static void receive(int client, std::string& answers) {
    char block[4096];
    for (ssize_t size; (size = ::recv(client, block, sizeof block, 0)) > 0;)
      answers.append(block, static_cast<std::size_t>(size));
  }

  asio::io_context io_;
  std::shared_ptr<web::ServerState> state_;
};

// Without what says how the body travels.
std::map<std::string, std::string> own_headers(const web::Request& request) {
  auto headers = request.headers;
  for (const char* name :
       {"content-length", "transfer-encoding", "expect", "connection", "trailer"})
    headers.erase(name);
  return headers;
}

std::map<std::string, std::string> headers_with_host(const web::Request& request) {
  auto headers = own_headers(request);
  headers.try_emplace("host", "x");
  return headers;
}

std::string without_zeros(const std::string& digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

std::string written(const web::Request& request, const web::Target& target) {
  std::string text =
      web::method_text(request.method) + " " + written_target(target) + " HTTP/1.1\r\n";
  for (const auto& [name, value] : own_headers(request)) text += name + ": " + value + "\r\n";
  if (!request.header("host")) text += "Host: x\r\n";  // HTTP/1.0 needs none
  return text + "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" +
         request.body;
}

void check(const web::Request& request) {
  static Served second(64 << 10);  // escapes are longer
  web::Target target{request.path, {}, request.query};
  const auto id = request.parameters.find("id");  // which may have a slash
  std::string_view rest = request.path;
  if (id != request.parameters.end()) {
    target.segments = {"things", id->second};
    rest = {};
  }
  while (!rest.empty()) {
    rest.remove_prefix(1);
    target.segments.emplace_back(rest.substr(0, rest.find('/')));
    rest.remove_prefix(target.segments.back().size());
  }
  second.answer(written(request, target));
  require(second.handled.size() == 1, "a request is refused when it is written");
  const web::Request& again = second.handled[0];
  require(again.method == request.method && again.path == request.path &&
              again.query == request.query && again.body == request.body &&
              headers_with_host(again) == headers_with_host(request),
          "a request changes when it is written");
}

// What a proxy before us might have read in another way, or sent for a page of a stranger.
void check_framing_and_host(const web::Request& request) {
  const auto coding = request.header("transfer-encoding"),
             length = request.header("content-length");
  require(!coding || (web::lower_case(*coding) == "chunked" && !length),
          "a body's end can be read in two ways");
  require(!length || std::to_string(request.body.size()) == without_zeros(*length),
          "a body has not the length that its head says");
  const auto host = request.header("host");
  require(!host || web::host_in(*host), "a host is none");
  require(!host || request.method == web::Method::post || request.method == web::Method::del ||
              web::HostNames().allow(*web::host_in(*host)),
          "a stranger's name is served");
}

}  // namespace

void http_request(std::string_view input) {
  static Served served(head_bytes);
  const std::string answers = served.answer(input);
  require(answers.empty() || answers.starts_with("HTTP/1.1 "), "an answer is no HTTP");
  require(answers.find(" 500 ") == std::string::npos, "a request fails in the server");
  const std::vector<web::Request> handled = std::move(served.handled);
  require(handled.empty() || !answers.empty(), "a request is not answered");
  for (const web::Request& request : handled) {
    require(request.body.size() <= body_bytes, "a body is larger than its route allows");
    std::size_t size = 0;
    for (const auto& [name, value] : request.headers) size += name.size() + value.size();
    require(size <= 2 * head_bytes, "a head is larger than is allowed");
    check_framing_and_host(request);
  }
  if (!handled.empty()) check(handled.back());
}

}  // namespace nightjar::fuzz
