// Finds out who asks, and whether there is a place and memory for the request.
#include <algorithm>
#include <sys/socket.h>

#include "web/server/connection.hpp"
#include "web/server/problems.hpp"

namespace nightjar::web {
namespace asio = boost::asio;
namespace {

constexpr std::size_t progress_bytes = 16u << 10;  // that move the deadline of a body

// The last address that no trusted proxy has: what stands before it is the client's own claim.
asio::ip::address client_behind(std::string_view forwarded_for, const asio::ip::address& proxy,
                                const std::set<asio::ip::address>& trusted) {
  asio::ip::address client = proxy;
  while (!forwarded_for.empty() && trusted.contains(client)) {
    const auto comma = forwarded_for.rfind(',');
    auto last = forwarded_for.substr(comma == forwarded_for.npos ? 0 : comma + 1);
    forwarded_for = forwarded_for.substr(0, comma == forwarded_for.npos ? 0 : comma);
    last.remove_prefix(std::min(last.find_first_not_of(" \t"), last.size()));
    last = last.substr(0, last.find_last_not_of(" \t") + 1);
    boost::system::error_code error;
    const auto address = asio::ip::make_address(last, error);
    if (error) break;
    client = address;
  }
  return client;
}

std::optional<std::string_view> bearer_token(const std::optional<std::string>& authorization) {
  if (!authorization) return std::nullopt;
  const std::string_view value = *authorization;
  if (value.size() < 7 || lower_case(value.substr(0, 7)) != "bearer ") return "";
  return value.substr(7);
}

}  // namespace

void Connection::arrive() {
  // A trusted proxy's clients have no need to yield to one another here: it sends heads at once.
  boost::system::error_code ignored;
  const auto port = socket_.remote_endpoint(ignored).port();
  leave_place();
  places_ = &state_->arrivals;
  place_key_ = proxy_ ? address_ + "#" + std::to_string(port) : address_;
  if (auto* yields = places_->enter(*this, place_key_).yields) yields->give_way();
}

void Connection::identify() {
  const auto& config = state_->config;
  principal_.reset();
  by_session_ = false;
  const auto authorization = request_->header("authorization");
  if (const auto token = bearer_token(authorization)) {
    if (config.authenticate) principal_ = config.authenticate(*token);
    return;
  }
  if (!config.sessions.authenticate) return;
  const auto cookies = request_->header("cookie").value_or("");
  if (const auto session = cookie_in(cookies, config.sessions.cookie))
    principal_ = config.sessions.authenticate(*session);
  by_session_ = principal_.has_value();
}

Payer Connection::payer_of_head() {
  identify();
  if (principal_) return {account_of(principal_->role), principal_->name};
  if (!proxy_) return {Account::anonymous, address_};
  const auto named = request_->header("x-forwarded-for").value_or("");
  return {Account::anonymous, network_of(client_behind(named, *proxy_, state_->trusted_proxies))};
}

bool Connection::settle() {
  request_ = std::make_shared<Request>();
  request_->headers = reader_.take_headers();
  request_->gone = std::make_shared<std::atomic<bool>>(false);
  payer_ = payer_of_head();
  if (!take_place(state_->places_of(payer_.account), payer_.key)) return false;
  auto charge = state_->bytes.try_charge(payer_, reader_.head().bytes);
  if (!charge) return false;
  request_->charge = std::make_shared<Charge>(*std::move(charge));
  return true;
}

bool Connection::take_place(Places& places, const std::string& key) {
  if (places_ == &places && place_key_ == key) return true;
  leave_place();
  const auto taken = places.take(*this, key);
  if (!taken.taken) return false;
  places_ = &places;
  place_key_ = key;
  if (taken.yields) taken.yields->give_way();
  return true;
}

void Connection::leave_place() {
  if (places_) places_->leave(*this, place_key_);
  places_ = nullptr;
}

void Connection::give_way() {
  leave_place();
  if (idle()) turn_away();
  abort();
}

void Connection::turn_away() {
  // Not by a coroutine: whoever does not take it gets nothing, and costs nothing.
  const auto text = no_place();
  ++state_->errors_5xx;
  if (socket_.is_open())
    ::send(socket_.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  close();
}

bool Connection::take_more(std::size_t so_far) {
  const std::size_t in_memory = reader_.head().bytes + so_far;
  if (in_memory > request_->charge->amount() && !request_->charge->try_resize(in_memory))
    return false;
  if (payer_.account != Account::anonymous && so_far - extended_at_ >= progress_bytes) {
    extended_at_ = so_far;
    enter(Phase::reading, state_->config.limits.read_timeout);
  }
  return true;
}

void Connection::charge_answer() {
  const std::size_t bytes =
      file_ ? static_cast<std::size_t>(std::min<std::uint64_t>(file_->left(), file_chunk))
            : response_.body.size();
  const std::size_t asked = request_ ? request_->charge->amount() : 0;
  const std::size_t most = state_->bytes.budget(payer_.account).each - asked;
  if (bytes > most) {
    response_ = answer_too_large(bytes, most, payer_.account);
  } else if (auto charge = state_->bytes.try_charge(payer_, bytes)) {
    answer_charge_ = *std::move(charge);
    return;
  } else {
    response_ = busy("Answers that nobody reads fill the memory for them; try again later.");
  }
  file_.reset();
}

std::optional<Response> Connection::charge_stream() {
  auto stream = state_->streams.try_charge(payer_, 1);
  auto charge = state_->bytes.try_charge(payer_, 0);
  if (!stream || !charge)
    return busy("Too many streams of events are open for this client; try again later.");
  stream_charge_ = *std::move(stream);
  answer_charge_ = *std::move(charge);
  return std::nullopt;
}

}  // namespace nightjar::web
