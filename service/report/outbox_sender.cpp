#include "service/report/outbox_sender.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "service/report/chat.hpp"
#include "service/report/exporter.hpp"
#include "service/report/report.hpp"
#include "storage/base/digest.hpp"

namespace nightjar::service {
namespace {

Sent refused(const Permanent& failure) {
  Sent sent;
  sent.state = OutboxState::failed;
  sent.error = failure.what;
  return sent;
}

Sent done(std::string url, bool found_earlier) {
  Sent sent;
  sent.state = OutboxState::sent;
  sent.url = std::move(url);
  sent.found_earlier = found_earlier;
  return sent;
}

Sent done(const Issue& issue, std::string url, bool found_earlier) {
  Sent sent = done(std::move(url), found_earlier);
  sent.issue = issue;
  return sent;
}

// What is posted always holds its marker, whoever wrote the body.
std::string with_marker(const std::string& body, const std::string& marker) {
  return body.find(marker) != std::string::npos ? body : body + "\n" + marker + "\n";
}

}  // namespace

void Sent::apply_to(OutboxMessage& message) const {
  message.state = state;
  message.error = error;
  message.not_before = not_before;
  if (!url.empty()) message.url = url;
  ++message.attempts;
}

std::chrono::seconds backoff(int attempts) {
  const int doublings = std::clamp(attempts, 0, 8);
  return std::min(std::chrono::seconds(15 << doublings), std::chrono::seconds(3600));
}

OutboxSender::OutboxSender(IssueTracker& tracker, std::vector<std::string> labels,
                           const Clock& clock, std::string secret, ChatConfig chat,
                           ExportConfig exported)
    : tracker_(tracker),
      labels_(std::move(labels)),
      clock_(clock),
      secret_(std::move(secret)),
      chat_(std::move(chat)),
      exported_(std::move(exported)) {}

std::string OutboxSender::marker(const OutboxMessage& message) const {
  if (secret_.empty()) return marker_of(message.key);
  return marker_of("posted:" + digest_of(secret_ + "\n" + message.key).str());
}

Sent OutboxSender::send(const OutboxMessage& message, std::optional<std::int64_t> issue_number) {
  try {
    if (message.kind == OutboxKind::open_issue) return open(message);
    if (message.kind == OutboxKind::chat) return told(message, tell_chat(chat_, message));
    if (message.kind == OutboxKind::verdict)
      return told(message, export_verdict(exported_, message));
    if (!issue_number) return later(message, {"the issue that it belongs to is not filed yet", {}});
    if (message.kind == OutboxKind::comment) return comment(message, *issue_number);
    return close(message, *issue_number);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return later(message, {error.what(), {}});
  }
}

std::chrono::seconds OutboxSender::shows_up_within(const OutboxMessage& message) const {
  constexpr std::chrono::seconds longest_attempt{60};
  const bool later = is_for_tracker(message.kind) && !tracker_.lists_at_once();
  return later ? longest_attempt + lists_lag : std::chrono::seconds(0);
}

Sent OutboxSender::open(const OutboxMessage& message) {
  const std::string marker = this->marker(message);
  const auto found = tracker_.find_issue(marker);
  if (const auto* failure = std::get_if<Transient>(&found)) return later(message, *failure);
  if (const auto* failure = std::get_if<Permanent>(&found)) return refused(*failure);
  if (const auto& issue = std::get<std::optional<Issue>>(found))
    return done(*issue, issue->url, true);
  const auto opened =
      tracker_.open_issue(message.title, with_marker(message.body, marker), labels_);
  if (const auto* failure = std::get_if<Transient>(&opened)) {
    const auto made = tracker_.find_issue(marker);
    const auto* issue = std::get_if<std::optional<Issue>>(&made);
    return issue && *issue ? done(**issue, (*issue)->url, true) : unsure(message, *failure);
  }
  if (const auto* failure = std::get_if<Permanent>(&opened)) return refused(*failure);
  const Issue& issue = std::get<Issue>(opened);
  return done(issue, issue.url, false);
}

Sent OutboxSender::comment(const OutboxMessage& message, std::int64_t issue) {
  const std::string marker = this->marker(message);
  const auto there = tracker_.has_comment(issue, marker);
  if (const auto* failure = std::get_if<Transient>(&there)) return later(message, *failure);
  if (const auto* failure = std::get_if<Permanent>(&there)) return refused(*failure);
  if (std::get<bool>(there)) return done(std::string(), true);
  const auto posted = tracker_.comment(issue, with_marker(message.body, marker));
  if (const auto* failure = std::get_if<Transient>(&posted)) {
    const auto made = tracker_.has_comment(issue, marker);
    const auto* is_there = std::get_if<bool>(&made);
    return is_there && *is_there ? done(std::string(), true) : unsure(message, *failure);
  }
  if (const auto* failure = std::get_if<Permanent>(&posted)) return refused(*failure);
  return done(std::get<std::string>(posted), false);
}

Sent OutboxSender::close(const OutboxMessage& message, std::int64_t issue) {
  Sent said;
  if (!message.body.empty()) {
    said = comment(message, issue);
    if (said.state != OutboxState::sent) return said;
  }
  const auto closed = tracker_.close_issue(issue);
  if (const auto* failure = std::get_if<Transient>(&closed)) return later(message, *failure);
  if (const auto* failure = std::get_if<Permanent>(&closed)) return refused(*failure);
  const Issue& now = std::get<Issue>(closed);
  return done(now, said.url.empty() ? now.url : said.url, said.found_earlier);
}

Sent OutboxSender::told(const OutboxMessage& message,
                        const Outcome<std::monostate>& outcome) const {
  if (const auto* failure = std::get_if<Transient>(&outcome)) return later(message, *failure);
  if (const auto* failure = std::get_if<Permanent>(&outcome)) return refused(*failure);
  return done({}, false);
}

// The receiver's own time counts if it gives one, but is never less than a second: a clock that
// runs ahead must not make a busy loop.
Sent OutboxSender::later(const OutboxMessage& message, const Transient& failure) const {
  Sent sent;
  sent.state = OutboxState::pending;
  sent.error = failure.what;
  const auto wait = failure.retry_after ? std::max(*failure.retry_after, std::chrono::seconds(1))
                                        : backoff(message.attempts);
  sent.not_before = clock_.now() + wait;
  return sent;
}

// It may have been posted all the same. It was not listed at once, so it is looked for again when
// the tracker lists it at the latest.
Sent OutboxSender::unsure(const OutboxMessage& message, const Transient& failure) const {
  Sent sent = later(message, failure);
  if (!tracker_.lists_at_once())
    sent.not_before = std::max(*sent.not_before, clock_.now() + lists_lag);
  return sent;
}

}  // namespace nightjar::service
