// Between agents and the service: requests and answers that are lost, late or repeated. Under the
// simulation's clock.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "tests/simulation/plan.hpp"
#include "tests/simulation/random.hpp"
#include "tests/simulation/service.hpp"
#include "tests/support/manual_clock.hpp"

namespace nightjar::simulation {

// What is to happen, by time; at the same time in the order in which it was asked for.
class Timeline {
 public:
  explicit Timeline(ManualClock& clock) : clock_(clock) {}

  void after(std::chrono::microseconds wait, std::function<void()> act) {
    waiting_.push({clock_.now() + wait, next_++, std::move(act)});
  }
  // Lets everything happen that is due before `end`, which it then is.
  void run_until(Time end) {
    while (!waiting_.empty() && waiting_.top().at < end) {
      const Event event = waiting_.top();
      waiting_.pop();
      clock_.advance(event.at - clock_.now());
      event.act();
    }
    clock_.advance(end - clock_.now());
  }
  Time now() const { return clock_.now(); }

 private:
  struct Event {
    Time at{};
    std::uint64_t number = 0;
    std::function<void()> act;
    bool operator<(const Event& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };
  ManualClock& clock_;
  std::priority_queue<Event> waiting_;
  std::uint64_t next_ = 0;
};

struct Message {
  std::string path, body, token;
  std::shared_ptr<const Held> held = {};  // of a result, of a failure, and of what lies about one
  std::string lie = {};                   // what is wrong with it; empty: it is honest
  bool is_of_run = false;  // the lie is one run's, which is stored as a failure if the claim holds
};

class Network {
 public:
  // A client gets its answer within this time after it was served, or never.
  static constexpr std::chrono::seconds longest_patience{30};

  // `deliver` hands a message to the service, if there is one.
  Network(Timeline& timeline, std::uint64_t seed, std::function<Answer(const Message&)> deliver)
      : timeline_(timeline), random_(seed, 60), deliver_(std::move(deliver)) {}

  void set_faults(std::set<Fault> faults) { faults_ = std::move(faults); }

  // `answered` is told status 0 if there was no answer in time.
  void post(Message message, std::function<void(Answer)> answered) {
    using namespace std::chrono_literals;
    if (random_.chance(.15) && faults_.contains(Fault::duplicate))
      timeline_.after(random_.seconds(1s, 4h), [this, message] { deliver_(message); });
    if (happens(Fault::loss))
      return timeline_.after(longest_patience, [answered] { answered({}); });
    const auto there = latency(), back = latency();
    const bool lost = happens(Fault::loss) || there + back > longest_patience;
    timeline_.after(there, [this, message, answered, there, back, lost] {
      Answer answer = deliver_(message);
      if (lost) answer = {};
      const auto rest =
          lost ? std::max<std::chrono::microseconds>(longest_patience - there, 1ms) : back;
      timeline_.after(rest, [answered, answer] { answered(answer); });
    });
  }

 private:
  bool happens(Fault fault) { return random_.chance(.08) && faults_.contains(fault); }
  std::chrono::microseconds latency() {
    using namespace std::chrono_literals;
    return happens(Fault::delay) ? random_.seconds(1s, 60s) : std::chrono::microseconds(20ms);
  }

  Timeline& timeline_;
  Random random_;
  std::function<Answer(const Message&)> deliver_;
  std::set<Fault> faults_;
};

}  // namespace nightjar::simulation
