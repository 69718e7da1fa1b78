// Runners that wait for a job. A claim is answered when there is a job for its runner, when it has
// waited long enough, or when the server stops.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>

#include "service/config.hpp"
#include "storage/database.hpp"
#include "storage/jobs.hpp"
#include "storage/model/job.hpp"
#include "storage/model/machine.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

class Claims {
 public:
  // `write` is the writer's executor, to which everything here belongs; timers run on `io`.
  Claims(storage::Database& writer, const Clock& clock, const Config& config,
         boost::asio::any_io_executor io, boost::asio::any_io_executor write);

  // On the writer's executor: answers with a job (200), or after `patience` with none (204).
  void claim(const web::Request& request, RunnerId runner, std::chrono::milliseconds patience,
             web::Respond respond);
  // Offers queued jobs to waiting claims. The one that waits longest comes first, and each has a
  // task of its own, so that others' work comes in between. From any thread.
  void notify();
  // Ends all waiting, now and later. From any thread.
  void stop();

 private:
  struct Waiting {
    std::uint64_t number = 0;
    RunnerId runner;
    std::shared_ptr<std::atomic<bool>> gone;
    web::Respond respond;
    std::unique_ptr<boost::asio::steady_timer> timer;
  };
  bool serve(RunnerId runner, const web::Respond& respond);
  // The first that waits with this number or a higher one, then the next.
  void serve_from(std::uint64_t number);
  // Answers if there is something to answer. True: it waits no more.
  bool try_answer(const Waiting& waiting);
  void give_up(std::uint64_t number);

  storage::Database& writer_;
  const Clock& clock_;
  std::chrono::seconds lease_;
  storage::ClaimRules rules_;
  boost::asio::any_io_executor io_, write_;
  std::list<Waiting> waiting_;
  std::uint64_t next_number_ = 1;
  bool is_serving_ = false, is_asked_again_ = false;
  bool stopped_ = false;
};

}  // namespace nightjar::service::api
