// One client's connection: a coroutine that reads a request, has it answered and writes the answer,
// until either side has enough. Internal to web; lives on the I/O thread.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "web/server/file.hpp"
#include "web/server/message.hpp"
#include "web/server/request_reader.hpp"
#include "web/server/server_state.hpp"

namespace nightjar::web {

constexpr std::size_t file_chunk = 64u << 10;  // bytes of a file that are in memory at once

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<ServerState> state);
  ~Connection();
  static void start(std::shared_ptr<Connection> self);

  void expire(std::chrono::steady_clock::time_point now);  // ends what is over its deadline
  void finish_soon();  // the server stops: closes now if idle or streaming, else after the answer
  void abort();        // closes whatever it does
  // Closes at once to give its place to another connection; says so if no answer is being written.
  void give_way();
  bool idle() const { return phase_ == Phase::idle; }

  // On the I/O thread: the answer to request number `sequence`, unless that one is over.
  void answer(std::uint64_t sequence, Response response);
  // The same for the verdict of its route on its head.
  void take_verdict(std::uint64_t sequence, std::optional<Response> refused);

 private:
  enum class Phase { idle, reading, handling, writing, streaming };

  boost::asio::awaitable<void> serve();
  boost::asio::awaitable<bool> serve_request(ReadOutcome head);
  boost::asio::awaitable<ReadOutcome> read_body();
  boost::asio::awaitable<void> handle();
  boost::asio::awaitable<void> send(bool keep_alive);
  boost::asio::awaitable<void> send_file();
  boost::asio::awaitable<void> send_events();
  boost::asio::awaitable<void> linger();
  boost::asio::awaitable<std::size_t> write_out();
  boost::asio::awaitable<std::size_t> read_some();
  boost::asio::awaitable<void> wait();  // until wake_ is cancelled or expires

  // Admission (settle.cpp). settle() reads from the head who asks, and gives the connection a place
  // and memory for the head. False: there is no place or memory.
  bool settle();
  void arrive();  // has a place among those that have not said who they are
  Payer payer_of_head();
  void identify();  // by token or session
  bool take_place(Places& places, const std::string& key);
  void leave_place();
  void turn_away();  // closes, and says why if the client takes it at once
  // The answer's memory. Another answer takes its place if there is no room for it.
  void charge_answer();
  std::optional<Response> charge_stream();
  // Makes room for `so_far` bytes of a body; false if there is none. Extends the time for reading.
  bool take_more(std::size_t so_far);

  // Fills endpoint_ and the rest of request_; a problem if the request is refused before its body
  // is read.
  std::optional<Response> admit();
  std::optional<Response> admit_role();
  std::optional<Response> refuse_host();
  std::optional<Response> refuse_stranger() const;  // whose page uses a session of ours
  std::optional<Response> refuse_by_head() const;   // what its route does not even read a body of
  boost::asio::awaitable<std::optional<Response>> judge_head();  // as Route::judge says
  void call_judge();
  void call_handler();
  void drop_body();    // and gives its memory back
  void end_request();  // frees what was of it
  void watch_client();
  void open_file();
  void read_chunk();
  void write_head(bool keep_alive, std::uint64_t length);
  void enter(Phase phase, std::chrono::steady_clock::duration limit);
  void wake();
  void close();

  std::shared_ptr<ServerState> state_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer wake_;
  RequestReader reader_;
  Phase phase_ = Phase::idle;
  std::chrono::steady_clock::time_point deadline_;
  boost::system::error_code error_, ignored_;

  std::uint64_t sequence_ = 0;
  std::shared_ptr<const Endpoint> endpoint_;
  std::shared_ptr<Request> request_;
  Response response_;
  std::optional<Response> verdict_;  // once answered_ by the route's judge
  bool answered_ = false, timed_out_ = false, watching_ = false, head_only_ = false;
  bool unread_ = false;  // bytes of a refused request are still on their way

  std::string address_;                            // as payers are told apart by it
  std::optional<boost::asio::ip::address> proxy_;  // whose connection this is
  Places* places_ = nullptr;                       // where it has one, under place_key_
  std::string place_key_;
  Payer payer_;                         // of this request
  std::optional<Principal> principal_;  // by the token or the session that it shows
  bool by_session_ = false;
  Charge answer_charge_;         // of its bytes in memory
  Charge stream_charge_;         // one of its streams
  std::size_t extended_at_ = 0;  // bytes, when the deadline moved last

  std::string head_, chunk_;
  std::array<boost::asio::const_buffer, 2> out_;
  std::array<char, 2048> waste_{};
  std::optional<OpenFile> file_;
  bool file_ready_ = false;
};

}  // namespace nightjar::web
