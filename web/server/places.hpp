// Places for connections, by their holders. If none is left, the holder of the most gives one up
// for a holder of fewer. Internal to web; belongs to the I/O thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "web/server/ledger.hpp"

namespace nightjar::web {

class Connection;

// Returns the key of an address. One of IPv6 counts as its network of 64 bits, which one host has
// as a whole, and one of IPv4 within IPv6 as the address of IPv4.
std::string network_of(const boost::asio::ip::address& address);

class Places {
 public:
  explicit Places(Budget budget) : budget_(budget) {}

  // `yields`, if not null, has lost its place to `who` and is to be closed.
  struct Taken {
    bool taken = false;
    Connection* yields = nullptr;
  };
  // Gives a place unless `key` has as many as it may, or as many as the others.
  Taken take(Connection& who, const std::string& key);
  // Gives a place in any case: the newest connection counts most.
  Taken enter(Connection& who, const std::string& key);
  // Does nothing if `who` has no place.
  void leave(const Connection& who, const std::string& key);
  // Returns the connection that would yield next; nullptr if there is none.
  Connection* next_to_yield() const;

 private:
  struct Holder {
    std::uint64_t since = 0;
    Connection* connection = nullptr;
  };
  using Holders = std::vector<Holder>;  // oldest first, never empty
  const Holders* fullest() const;
  void add(Connection& who, const std::string& key);

  Budget budget_;
  std::map<std::string, Holders> holders_;
  std::size_t held_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace nightjar::web
