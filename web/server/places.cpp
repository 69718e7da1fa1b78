#include "web/server/places.hpp"

#include <algorithm>

#include "web/server/connection.hpp"

namespace nightjar::web {

std::string network_of(const boost::asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  auto bytes = address.to_v6().to_bytes();
  if (address.to_v6().is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6())
        .to_string();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return boost::asio::ip::address_v6(bytes).to_string() + "/64";
}

void Places::add(Connection& who, const std::string& key) {
  holders_[key].push_back({next_++, &who});
  ++held_;
}

void Places::leave(const Connection& who, const std::string& key) {
  const auto found = holders_.find(key);
  if (found == holders_.end()) return;
  held_ -= std::erase_if(found->second, [&](const Holder& one) { return one.connection == &who; });
  if (found->second.empty()) holders_.erase(found);
}

const Places::Holders* Places::fullest() const {
  const Holders* most = nullptr;
  for (const auto& [key, holders] : holders_)
    if (!most || holders.size() > most->size() ||
        (holders.size() == most->size() && holders.front().since < most->front().since))
      most = &holders;
  return most;
}

namespace {

// An idle one if there is any: nothing is lost by it.
template <class Holders>
Connection* first_to_yield(const Holders& holders) {
  const auto idle = std::find_if(holders.begin(), holders.end(),
                                 [](const auto& one) { return one.connection->idle(); });
  return (idle == holders.end() ? holders.front() : *idle).connection;
}

}  // namespace

Connection* Places::next_to_yield() const {
  const Holders* most = fullest();
  return most ? first_to_yield(*most) : nullptr;
}

Places::Taken Places::enter(Connection& who, const std::string& key) {
  add(who, key);
  return {true, held_ > budget_.all ? next_to_yield() : nullptr};
}

Places::Taken Places::take(Connection& who, const std::string& key) {
  const auto own = holders_.find(key);
  const std::size_t has = own == holders_.end() ? 0 : own->second.size();
  Connection* yields = nullptr;
  if (has >= budget_.each) {
    yields = has > 0 ? first_to_yield(own->second) : nullptr;
    if (!yields || !yields->idle()) return {};
  } else if (held_ >= budget_.all) {
    const Holders* most = fullest();
    if (!most || most->size() <= has + 1) return {};
    yields = first_to_yield(*most);
  }
  add(who, key);
  return {true, yields};
}

}  // namespace nightjar::web
