#include "service/api/claims.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "service/api/agent_messages.hpp"
#include "service/api/respond.hpp"
#include "service/api/tokens.hpp"
#include "storage/base/log.hpp"
#include "storage/runners.hpp"

namespace nightjar::service::api {
namespace asio = boost::asio;
namespace {

web::Response nothing() {
  web::Response response;
  response.status = 204;
  return response;
}

// While it waited; no later request of it gets here.
bool was_revoked(const storage::Database& db, const Runner& runner, Time now) {
  const auto own = bound_runner(runner.token);
  return own && storage::accepted_runner_tokens(db, *own, now).empty();
}

}  // namespace

Claims::Claims(storage::Database& writer, const Clock& clock, const Config& config,
               asio::any_io_executor io, asio::any_io_executor write)
    : writer_(writer),
      clock_(clock),
      lease_(config.queue.lease),
      rules_{config.queue.runner_silent, config.source.variant},
      io_(std::move(io)),
      write_(std::move(write)) {}

void Claims::claim(const web::Request& request, RunnerId runner, std::chrono::milliseconds patience,
                   web::Respond respond) {
  storage::write(writer_, [&](storage::Transaction& transaction) {
    storage::touch_runner(transaction, runner, clock_.now());
  });
  if (serve(runner, respond)) return;
  if (stopped_ || patience.count() <= 0) return respond(nothing());
  // One runner waits once: each that waits is asked for whenever there may be something to do.
  std::erase_if(waiting_, [&](Waiting& earlier) {
    if (earlier.runner != runner) return false;
    earlier.respond(nothing());
    return true;
  });
  auto& waiting = waiting_.emplace_back();
  waiting.number = next_number_++;
  waiting.runner = runner;
  waiting.gone = request.gone;
  waiting.respond = std::move(respond);
  waiting.timer = std::make_unique<asio::steady_timer>(io_, patience);
  waiting.timer->async_wait([this, number = waiting.number](boost::system::error_code error) {
    if (!error) asio::post(write_, [this, number] { give_up(number); });
  });
}

bool Claims::serve(RunnerId id, const web::Respond& respond) {
  const auto runner = storage::find_runner(writer_, id);
  if (!runner) {
    respond(web::problem(404, "Unknown runner",
                         "There is no runner " + std::to_string(id.value) + "; register again."));
    return true;
  }
  const Time now = clock_.now();
  if (was_revoked(writer_, *runner, now)) {
    respond(web::problem(401, "Unauthorized", "The runner's token was revoked."));
    return true;
  }
  const auto job = storage::write(writer_, [&](storage::Transaction& transaction) {
    return storage::claim_job(transaction, *runner, now, now + lease_, rules_);
  });
  if (!job) return false;
  log::info("job claimed job={} attempt={} runner={}", job->id.value, job->attempt, runner->name);
  respond(json_answer(claimed_job().write({*job, lease_.count()})));
  return true;
}

void Claims::notify() {
  asio::post(write_, [this] {
    if (std::exchange(is_serving_, true))
      is_asked_again_ = true;
    else
      serve_from(0);
  });
}

void Claims::serve_from(std::uint64_t number) {
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& one) { return one.number >= number; });
  if (waiting == waiting_.end()) {
    is_serving_ = false;
    if (std::exchange(is_asked_again_, false)) notify();
    return;
  }
  number = waiting->number + 1;
  if (try_answer(*waiting)) waiting_.erase(waiting);
  asio::post(write_, [this, number] { serve_from(number); });
}

bool Claims::try_answer(const Waiting& waiting) {
  // A job for a client that is gone would be lost until its lease ends.
  if (waiting.gone && *waiting.gone) return true;
  try {
    return serve(waiting.runner, waiting.respond);
  } catch (const std::exception& error) {
    log::error("claim failed runner={} error=\"{}\"", waiting.runner.value, error.what());
    waiting.respond(web::problem(500, "Internal error", "The claim failed; try again."));
    return true;
  }
}

void Claims::give_up(std::uint64_t number) {
  std::erase_if(waiting_, [&](Waiting& waiting) {
    if (waiting.number != number) return false;
    waiting.respond(nothing());
    return true;
  });
}

void Claims::stop() {
  asio::post(write_, [this] {
    stopped_ = true;
    for (auto& waiting : waiting_) waiting.respond(nothing());
    waiting_.clear();
  });
}

}  // namespace nightjar::service::api
