#include "web/server/events.hpp"

#include <chrono>

namespace nightjar::web {

EventStream::EventStream() : impl_(std::make_shared<Impl>()) {}
EventStream::~EventStream() = default;
void EventStream::publish(std::string_view event, std::string_view data_json) {
  impl_->publish(event, data_json);
}

// Ids start at the clock's milliseconds, so that those of an earlier process are lower and a client
// that resumes after a restart misses nothing that is kept.
EventStream::Impl::Impl()
    : next_id_(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                              std::chrono::system_clock::now().time_since_epoch())
                                              .count())) {}

void EventStream::Impl::publish(std::string_view event, std::string_view data_json) {
  std::vector<std::shared_ptr<Subscriber>> to_wake;
  {
    const std::lock_guard lock(mutex_);
    const auto id = next_id_++;
    std::string text = "id: " + std::to_string(id) + "\nevent: " + std::string(event) + "\n";
    for (;;) {  // a line break in the data would end the field
      const auto end = data_json.find('\n');
      text.append("data: ").append(data_json.substr(0, end)).append("\n");
      if (end == std::string_view::npos) break;
      data_json.remove_prefix(end + 1);
    }
    text += "\n";
    kept_.push_back({id, std::make_shared<const std::string>(std::move(text))});
    if (kept_.size() > limit) kept_.pop_front();
    std::erase_if(subscribers_, [](const auto& weak) { return weak.expired(); });
    for (const auto& weak : subscribers_)
      if (auto subscriber = weak.lock()) {
        subscriber->add(kept_.back().text);
        to_wake.push_back(std::move(subscriber));
      }
  }
  for (const auto& subscriber : to_wake) subscriber->wake_();
}

void Subscriber::add(std::shared_ptr<const std::string> text) {
  const std::size_t bytes = text->size() + sizeof text;
  dropped_ = dropped_ || queue_.size() >= 2 * EventStream::Impl::limit || !charge_.try_add(bytes);
  if (dropped_) return;
  waiting_bytes_ += bytes;
  queue_.push_back(std::move(text));
}

std::shared_ptr<Subscriber> EventStream::Impl::subscribe(std::optional<std::uint64_t> last_id,
                                                         Charge charge,
                                                         std::function<void()> wake) {
  auto subscriber = std::make_shared<Subscriber>(std::move(charge), std::move(wake));
  const std::lock_guard lock(mutex_);
  if (last_id)
    for (const auto& kept : kept_)
      if (kept.id > *last_id) subscriber->add(kept.text);
  subscribers_.push_back(subscriber);
  return subscriber;
}

std::optional<std::string> EventStream::Impl::take(Subscriber& subscriber) {
  const std::lock_guard lock(mutex_);
  if (subscriber.dropped_) return std::nullopt;
  std::string text;
  for (const auto& event : subscriber.queue_) text += *event;
  subscriber.queue_.clear();
  subscriber.waiting_bytes_ = 0;
  return text;
}

void EventStream::Impl::written(Subscriber& subscriber) {
  const std::lock_guard lock(mutex_);
  subscriber.charge_.try_resize(subscriber.waiting_bytes_);  // less is always possible
}

}  // namespace nightjar::web
