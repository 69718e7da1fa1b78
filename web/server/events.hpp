// The inside of EventStream: kept events and subscribers. Internal to web.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/server/ledger.hpp"
#include "web/server/server.hpp"

namespace nightjar::web {

class Subscriber {
 public:
  Subscriber(Charge charge, std::function<void()> wake)
      : charge_(std::move(charge)), wake_(std::move(wake)) {}

 private:
  friend struct EventStream::Impl;
  // Queues an event's text, unless there is no room for it: then it is dropped.
  void add(std::shared_ptr<const std::string> text);
  Charge charge_;  // of the texts that wait, and of those that were taken and are not yet written
  std::size_t waiting_bytes_ = 0;
  std::function<void()> wake_;  // called from the publisher's thread
  std::deque<std::shared_ptr<const std::string>> queue_;
  bool dropped_ = false;
};

struct EventStream::Impl {
  Impl();
  void publish(std::string_view event, std::string_view data_json);
  // Events after `last_id` that are still kept come first. `charge` grows with what waits.
  std::shared_ptr<Subscriber> subscribe(std::optional<std::uint64_t> last_id, Charge charge,
                                        std::function<void()> wake);
  // Everything that waits, as text, which is charged until written() says that it is gone; nullopt
  // if the subscriber was too slow and lost events.
  std::optional<std::string> take(Subscriber& subscriber);
  void written(Subscriber& subscriber);

  static constexpr std::size_t limit = 256;  // of events that are kept

 private:
  struct Kept {
    std::uint64_t id = 0;
    std::shared_ptr<const std::string> text;
  };
  std::mutex mutex_;
  std::uint64_t next_id_;
  std::deque<Kept> kept_;
  std::vector<std::weak_ptr<Subscriber>> subscribers_;
};

}  // namespace nightjar::web
