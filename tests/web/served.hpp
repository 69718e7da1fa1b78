// A real server on loopback in a thread of its own, and a client that writes bytes as it is told.
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "web/server/server.hpp"

namespace nightjar::web {

class Served {
 public:
  explicit Served(ServerConfig config = {})
      : server(std::make_unique<Server>(io, std::move(config))) {}
  ~Served() {
    stop();
    pool.join();
  }
  void start() {
    server->start();
    thread_ = std::thread([this] { io.run(); });
  }
  // Returns once every connection has ended.
  void stop() {
    if (!thread_.joinable()) return;
    server->stop();
    thread_.join();
  }

  boost::asio::io_context io{1};
  boost::asio::thread_pool pool{2};
  std::unique_ptr<Server> server;

 private:
  std::thread thread_;
};

struct RawResponse {
  unsigned status = 0;
  std::string head, body;
  bool has(const std::string& text) const { return head.find(text) != std::string::npos; }
};

// Blocking; a read that finds the connection closed gives what came until then.
class RawClient {
 public:
  // `from`: an address of this machine.
  explicit RawClient(std::uint16_t port, const char* from = "127.0.0.1") : socket_(*io_) {
    socket_.open(boost::asio::ip::tcp::v4());
    socket_.bind({boost::asio::ip::make_address(from), 0});
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }
  void write(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  // Stops at the first error; how many bytes went out.
  std::size_t try_write(const std::string& bytes) {
    boost::system::error_code error;
    return boost::asio::write(socket_, boost::asio::buffer(bytes), error);
  }
  RawResponse read(bool head_request = false) {
    RawResponse response;
    boost::system::error_code error;
    const auto count =
        boost::asio::read_until(socket_, boost::asio::dynamic_buffer(buffer_), "\r\n\r\n", error);
    if (error) return response;
    response.head = buffer_.substr(0, count);
    buffer_.erase(0, count);
    response.status = static_cast<unsigned>(std::stoul(response.head.substr(9, 3)));
    const auto at = response.head.find("Content-Length: ");
    if (at == std::string::npos || head_request) return response;
    const auto length = std::stoul(response.head.substr(at + 16));
    if (buffer_.size() < length)
      boost::asio::read(socket_, boost::asio::dynamic_buffer(buffer_),
                        boost::asio::transfer_exactly(length - buffer_.size()), error);
    response.body = buffer_.substr(0, length);
    buffer_.erase(0, std::min<std::size_t>(length, buffer_.size()));
    return response;
  }
  // Reads until `text` has come or the connection ends; everything up to and with it.
  std::string read_past(const std::string& text) {
    boost::system::error_code error;
    const auto count =
        boost::asio::read_until(socket_, boost::asio::dynamic_buffer(buffer_), text, error);
    auto out = buffer_.substr(0, error ? buffer_.size() : count);
    buffer_.erase(0, out.size());
    return out;
  }
  // True once the server has closed its side.
  bool closed() {
    boost::system::error_code error;
    char byte;
    boost::asio::read(socket_, boost::asio::buffer(&byte, 1), error);
    return bool(error);
  }
  RawResponse get(const std::string& target, const std::string& headers = "") {
    write("GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n");
    return read();
  }
  void hang_up() { socket_.close(); }
  void close_by_half() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  void reset() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }

 private:
  std::unique_ptr<boost::asio::io_context> io_ = std::make_unique<boost::asio::io_context>();
  boost::asio::ip::tcp::socket socket_;
  std::string buffer_;
};

inline Route route(Method method, std::string pattern, Handler handler, Role role = Role::none) {
  Route made;
  made.method = method;
  made.pattern = std::move(pattern);
  made.role = role;
  made.handler = std::move(handler);
  return made;
}

inline Handler says(std::string text) {
  return
      [text = std::move(text)](const Request&, Respond respond) { respond(json_response(text)); };
}

inline Handler echoes() {
  return [](const Request& request, Respond respond) { respond(json_response(request.body)); };
}

}  // namespace nightjar::web
