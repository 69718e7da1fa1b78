#include "web/index_mirror.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <charconv>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <sys/socket.h>
#include <thread>

#include "storage/base/digest.hpp"
#include "storage/base/foreign_text.hpp"
#include "web/anchors.hpp"
#include "web/client.hpp"
#include "web/credentials.hpp"
#include "web/secret.hpp"
#include "web/text.hpp"

namespace nightjar::web {
namespace {

namespace http = boost::beast::http;
using MirrorSocket = boost::asio::ip::tcp::socket;

// RFC 6761: nobody has this name, so whoever asks elsewhere than here finds nothing.
constexpr std::string_view mirror_host = "http://indexes.invalid";
constexpr std::size_t most_connections = 64;
constexpr std::uint32_t longest_mirror_head = 16 << 10;
constexpr std::size_t longest_file_name = 300;

bool is_wheel_file(std::string_view name) {
  return name.ends_with(".whl") && name.size() <= longest_file_name &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("._+!-").find(c) != std::string_view::npos;
         });
}

bool is_project_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string last_segment(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  return percent_decode(url.substr(url.rfind('/') + 1)).value_or("");
}

std::string escaped_name(std::string_view name) {
  std::string escaped;
  for (const char c : name) escaped += c == '+' ? "%2B" : std::string(1, c);
  return escaped;
}

// The hash of "...#sha256=<64 hex>" as a fragment; empty for another one.
std::string hash_fragment(std::string_view href) {
  constexpr std::string_view mark = "#sha256=";
  const auto at = href.rfind(mark);
  const auto hash = at == href.npos ? std::nullopt : Sha256::parse(href.substr(at + mark.size()));
  return hash ? std::string(mark) + hash->str() : "";
}

struct MirrorAnswer {
  unsigned status = 200;
  std::string body;
};

}  // namespace

struct IndexMirror::Impl {
  Impl(std::vector<Address> indexes, Reach reach)
      : indexes_(std::move(indexes)), reach_(std::move(reach)) {
    boost::system::error_code error;
    acceptor_.open(boost::asio::ip::tcp::v4(), error);
    if (!error) acceptor_.bind({boost::asio::ip::address_v4::loopback(), 0}, error);
    if (!error) acceptor_.listen(static_cast<int>(most_connections), error);
    if (error) throw std::runtime_error("cannot listen on loopback for uv: " + error.message());
    port_ = acceptor_.local_endpoint().port();
    thread_ = std::thread([this] { accept(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stop_.request_stop();
      ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
      for (Connection& one : connections_) ::shutdown(one.socket.native_handle(), SHUT_RDWR);
    }
    thread_.join();
    for (Connection& one : connections_) one.thread.join();
  }

  struct Connection {
    explicit Connection(boost::asio::io_context& io) : socket(io) {}
    MirrorSocket socket;
    std::thread thread;
    std::atomic<bool> is_done = false;
  };

  void accept() {
    while (!stop_.stop_requested()) {
      MirrorSocket socket(io_);
      boost::system::error_code error;
      acceptor_.accept(socket, error);
      if (error) continue;
      const std::lock_guard lock(mutex_);
      connections_.remove_if([](Connection& one) {
        if (one.is_done) one.thread.join();
        return one.is_done.load();
      });
      if (stop_.stop_requested() || connections_.size() >= most_connections) continue;
      Connection& one = connections_.emplace_back(io_);
      one.socket = std::move(socket);
      one.thread = std::thread([this, &one] {
        serve(one.socket);
        ::shutdown(one.socket.native_handle(), SHUT_RDWR);
        one.is_done = true;
      });
    }
  }

  // One request after the other, as long as both sides keep the connection.
  void serve(MirrorSocket& socket) {
    Client client;
    client.reach_only(reach_);
    client.stop_with(stop_.get_token());
    boost::beast::flat_buffer buffer;
    bool keeps = true;
    while (keeps && !stop_.stop_requested()) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(longest_mirror_head);
      boost::system::error_code error;
      http::read(socket, buffer, parser, error);
      if (error) return;
      const auto& request = parser.get();
      const std::string method(request.method_string());
      const std::string target(request.target());
      const std::string range(request[http::field::range]);
      const std::string said(request[http::field::proxy_authorization]);
      if (!equal_in_constant_time(said, authorization_))
        keeps = say(socket, method, {407, "not for you\n"});
      else if (method != "GET" && method != "HEAD")
        keeps = say(socket, method, {405, "only GET and HEAD\n"});
      else
        keeps = answer(socket, client, method, target, range);
    }
  }

  // False: the connection ends.
  bool answer(MirrorSocket& socket, Client& client, const std::string& method,
              const std::string& target, const std::string& range) {
    if (!target.starts_with(mirror_host)) return say(socket, method, {403, "no such host\n"});
    const auto parsed = parse_target(std::string_view(target).substr(mirror_host.size()));
    const auto segments = parsed ? parsed->segments : std::vector<std::string>{};
    if (segments.size() == 3 && segments[0] == "files")
      return pass_on(socket, client, method, segments[1], segments[2], range);
    if (segments.size() < 2 || !is_project_name(segments[1]))
      return say(socket, method, {404, "no such page\n"});
    return say(socket, method, page(client, segments[0], segments[1]));
  }

  MirrorAnswer page(Client& client, const std::string& number, const std::string& project) {
    std::size_t index = indexes_.size();
    std::from_chars(number.data(), number.data() + number.size(), index);
    if (index >= indexes_.size()) return {404, "no such index\n"};
    ClientRequest request;
    request.url = indexes_[index].text() + "/" + project + "/";
    request.headers = {{"Accept", "text/html"}, {"Cache-Control", "no-cache"}};
    const Client::Result result = client.send(request);
    if (!result) return missed(result.failure.what, 502);
    const unsigned status = result.response->status;
    if (status == 404 || status == 410) return {404, "no such package\n"};
    const auto type = result.response->headers.find("content-type");
    const bool is_html =
        type != result.response->headers.end() && type->second.find("html") != std::string::npos;
    if (status != 200)
      return missed("GET " + request.url + ": the index answered " + std::to_string(status),
                    status < 400 ? 502 : status);
    if (!is_html) return missed("GET " + request.url + ": the answer is no page of HTML", 502);
    return {200, rewritten(result.response->url, result.response->body)};
  }

  // Wheels alone, by addresses of this mirror.
  std::string rewritten(const std::string& url, std::string_view html) {
    std::string page = "<!DOCTYPE html><html><body>\n";
    const Links links = read_links(url, html);
    for (const Anchor& anchor : links.anchors) {
      const std::string href = anchor.href.substr(0, anchor.href.find('#'));
      const std::string name = last_segment(href);
      const auto resolved = is_wheel_file(name) ? resolve_url(links.base, href) : std::nullopt;
      if (!resolved) continue;
      page += "<a href=\"/files/" + remember(*resolved) + "/" + escaped_name(name) +
              hash_fragment(anchor.href) + "\"";
      if (anchor.requires_python)
        page += " data-requires-python=\"" + with_entities(*anchor.requires_python) + "\"";
      if (anchor.core_metadata && *anchor.core_metadata != "false")
        page += " data-core-metadata=\"true\"";
      if (anchor.yanked) page += " data-yanked=\"\"";
      page += ">" + name + "</a>\n";
    }
    return page + "</body></html>\n";
  }

  // The same name for the same URL, at each start.
  std::string remember(const std::string& url) {
    const std::string id = digest_of(url).str().substr(0, 32);
    const std::lock_guard lock(mutex_);
    files_.emplace(id, url);
    return id;
  }

  bool pass_on(MirrorSocket& socket, Client& client, const std::string& method,
               const std::string& id, const std::string& name, const std::string& range) {
    ClientRequest request;
    request.method = method;
    {
      const std::lock_guard lock(mutex_);
      const auto found = files_.find(id);
      if (found != files_.end()) request.url = found->second;
    }
    const std::string file = last_segment(request.url);
    if (request.url.empty() || (name != file && name != file + ".metadata"))
      return say(socket, method, {404, "no such file\n"});
    if (name != file) request.url += ".metadata";
    if (!range.empty()) request.headers.emplace_back("Range", range);
    bool is_begun = false, keeps = false;
    const auto failure = client.relay(
        request,
        [&](const ClientResponse& head) {
          is_begun = true;
          keeps = head.headers.contains("content-length");
          return write(socket, head_of(head));
        },
        [&](std::string_view block) { return write(socket, block); });
    if (!failure) return keeps;
    const MirrorAnswer why = missed(failure->what, 502);
    return !is_begun && say(socket, method, why);
  }

  static std::string head_of(const ClientResponse& answer) {
    std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " .\r\n";
    for (const char* name : {"content-type", "content-length", "content-range", "accept-ranges",
                             "etag", "last-modified"})
      if (const auto found = answer.headers.find(name); found != answer.headers.end())
        head.append(name).append(": ").append(found->second).append("\r\n");
    if (answer.status == 200 || answer.status == 206)
      head += "cache-control: max-age=31536000, immutable\r\n";
    if (!answer.headers.contains("content-length")) head += "connection: close\r\n";
    return head + "\r\n";
  }

  MirrorAnswer missed(const std::string& what, unsigned status) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = what;
    return {status, "the index did not answer\n"};
  }

  static bool write(MirrorSocket& socket, std::string_view text) {
    boost::system::error_code error;
    boost::asio::write(socket, boost::asio::buffer(text.data(), text.size()), error);
    return !error;
  }

  static bool say(MirrorSocket& socket, const std::string& method, const MirrorAnswer& answer) {
    const std::string head =
        "HTTP/1.1 " + std::to_string(answer.status) +
        " .\r\ncontent-type: text/html\r\ncontent-length: " + std::to_string(answer.body.size()) +
        "\r\n\r\n";
    return write(socket, head + (method == "HEAD" ? "" : answer.body));
  }

  const std::vector<Address> indexes_;
  const Reach reach_;
  const std::string password_ = random_token();
  const std::string authorization_ = basic_authorization({"uv", password_});
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_{io_};
  std::uint16_t port_ = 0;
  std::stop_source stop_;
  mutable std::mutex mutex_;                  // of what follows
  std::map<std::string, std::string> files_;  // URLs by their names here
  std::string failure_;
  std::list<Connection> connections_;
  std::thread thread_;
};

IndexMirror::IndexMirror(std::vector<Address> indexes, Reach reach)
    : impl_(std::make_unique<Impl>(std::move(indexes), std::move(reach))) {}

IndexMirror::~IndexMirror() = default;

std::vector<std::string> IndexMirror::urls() const {
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < impl_->indexes_.size(); ++i)
    urls.push_back(std::string(mirror_host) + "/" + std::to_string(i));
  return urls;
}

std::vector<std::string> IndexMirror::environment() const {
  const std::string proxy =
      "=http://uv:" + impl_->password_ + "@127.0.0.1:" + std::to_string(impl_->port_);
  return {"HTTP_PROXY" + proxy,  "http_proxy" + proxy, "HTTPS_PROXY" + proxy,
          "https_proxy" + proxy, "ALL_PROXY" + proxy,  "all_proxy" + proxy,
          "NO_PROXY=",           "no_proxy=",          "NETRC=/dev/null"};
}

std::string IndexMirror::failure() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->failure_;
}

std::string IndexMirror::as_outside(std::string text) const {
  const auto names = urls();
  for (std::size_t i = names.size(); i-- > 0;)  // "/1" is the begin of "/10"
    for (auto at = text.find(names[i]); at != text.npos; at = text.find(names[i], at))
      text.replace(at, names[i].size(), impl_->indexes_[i].text());
  return text;
}

}  // namespace nightjar::web
