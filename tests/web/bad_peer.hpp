// A server on loopback that misbehaves in the middle of its answers.
#pragma once

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string>
#include <thread>

namespace nightjar::web {

enum class Manner { stalls, drips, half_closes, resets };

// Takes one connection after the other. Reads a request's head, says `head` and four bytes of a
// body, and then does as `manner` says until the client goes.
class BadPeer {
 public:
  BadPeer(Manner manner, std::string head) : manner_(manner), head_(std::move(head)) {
    acceptor_.non_blocking(true);
    thread_ = std::thread([this] {
      while (!done_) serve();
    });
  }
  ~BadPeer() {
    done_ = true;
    thread_.join();
  }
  // Without a slash at its end.
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  using Tcp = boost::asio::ip::tcp;

  void serve() {
    Tcp::socket socket(io_);
    boost::system::error_code error;
    acceptor_.accept(socket, error);
    if (error) return std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::string request;
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n", error);
    boost::asio::write(socket, boost::asio::buffer(head_ + "0123"), error);
    if (manner_ == Manner::resets) {
      socket.set_option(boost::asio::socket_base::linger(true, 0), error);
      return;
    }
    if (manner_ == Manner::half_closes) socket.shutdown(Tcp::socket::shutdown_send, error);
    while (manner_ == Manner::drips && !error) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      boost::asio::write(socket, boost::asio::buffer("x", 1), error);
    }
    char rest[1024];
    while (!error) socket.read_some(boost::asio::buffer(rest), error);
  }

  const Manner manner_;
  const std::string head_;
  std::atomic<bool> done_ = false;
  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::thread thread_;
};

}  // namespace nightjar::web
