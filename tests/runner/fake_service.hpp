// A coordinator as small as it can be, on a real port: hands out jobs, keeps what it is told, and
// can be told to answer badly.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/base/digest.hpp"
#include "storage/model/json.hpp"
#include "tests/support/loop_thread.hpp"
#include "web/server/server.hpp"

namespace nightjar::runner {

class FakeService {
 public:
  using Json = nlohmann::json;
  explicit FakeService(std::uint16_t port = 0) : server_(loop_.io, config(port)) {
    post("/api/v1/agent/register", [](FakeService&, const web::Request&) {
      return web::json_response(R"({"runner": 5, "machine": 6})");
    });
    post("/api/v1/agent/claim", [](FakeService& self, const web::Request&) {
      if (self.jobs.empty()) return web::Response{204, "application/json", "", {}, {}, {}};
      const std::string job = self.jobs.front();
      self.jobs.pop_front();
      return web::json_response(job);
    });
    post("/api/v1/agent/leave",
         [](FakeService&, const web::Request&) { return web::json_response("{}"); });
    for (const char* action : {"renew", "result", "fail", "release", "outcome"})
      post(std::string("/api/v1/agent/jobs/{id}/") + action,
           [action](FakeService& self, const web::Request&) {
             const auto status = self.statuses.find(action);
             if (status != self.statuses.end()) return self.refusal(status->second);
             return web::json_response(R"({"accepted": "stored", "lease_seconds": 0.3})");
           });
    post(
        "/api/v1/agent/jobs/{id}/log",
        [](FakeService&, const web::Request&) { return web::json_response("{}"); },
        web::Method::put);
    post(
        "/api/v1/agent/jobs/{id}/wheel",
        [](FakeService& self, const web::Request& request) { return self.take_part(request); },
        web::Method::put);
    server_.start();
  }
  ~FakeService() {
    server_.stop();
    loop_.end();
  }

  std::uint16_t port() const { return server_.port(); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }

  // Waits until `path_end` was posted to `times`; its last body (discarded if it is no JSON), or
  // null after 20 s.
  Json wait_for(const std::string& path_end, int times = 1) {
    std::unique_lock lock(mutex);
    const auto count = [&] {
      return std::count_if(posts.begin(), posts.end(),
                           [&](const auto& post) { return post.first.ends_with(path_end); });
    };
    if (!changed.wait_for(lock, std::chrono::seconds(20), [&] { return count() >= times; }))
      return nullptr;
    for (auto post = posts.rbegin(); post != posts.rend(); ++post)
      if (post->first.ends_with(path_end)) return Json::parse(post->second, nullptr, false);
    return nullptr;
  }
  int count(const std::string& path_end) {
    const std::lock_guard lock(mutex);
    return static_cast<int>(std::count_if(posts.begin(), posts.end(), [&](const auto& post) {
      return post.first.ends_with(path_end);
    }));
  }
  void set(const std::string& action, unsigned status) {
    const std::lock_guard lock(mutex);
    if (status == 200)
      statuses.erase(action);
    else
      statuses[action] = status;
  }
  void add_job(const std::string& spec, int attempt = 1) {
    const std::lock_guard lock(mutex);
    jobs.push_back(R"({"id": 9, "attempt": )" + std::to_string(attempt) +
                   R"(, "nonce": "n1", "lease_seconds": 0.3, "spec": )" + spec + "}");
  }

  // What came of a wheel so far.
  std::string wheel() {
    const std::lock_guard lock(mutex);
    return wheel_;
  }
  void set_wheel(const std::string& bytes) {
    const std::lock_guard lock(mutex);
    wheel_ = bytes;
  }

  // Returns the headers of the last request to a path that ends in `path`.
  std::map<std::string, std::string> headers_of(const std::string& path) {
    const std::lock_guard lock(mutex);
    for (const auto& [asked, headers] : headers_)
      if (asked.ends_with(path)) return headers;
    return {};
  }

  // Returns a refusal by the service, or by nginx in front of it.
  web::Response refusal(unsigned status) const {
    if (!text.empty()) return {status, "text/plain", text, {}, {}, {}};
    if (!is_proxy) return web::problem(status, "no", "no");
    return {status, "text/html", "<html>The SSL certificate error</html>", {}, {}, {}};
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> is_proxy = false;
  std::string text;  // not empty: what it refuses with
  std::vector<std::pair<std::string, std::string>> posts;
  std::deque<std::string> jobs;
  std::map<std::string, unsigned> statuses;

 private:
  static web::ServerConfig config(std::uint16_t port) {
    web::ServerConfig config;
    config.port = port;
    config.authenticate = [](std::string_view token) -> std::optional<web::Principal> {
      if (token != "secret") return std::nullopt;
      return web::Principal{"runner", web::Role::runner};
    };
    return config;
  }
  // As the service does: the next part is appended, and the last one completes the wheel.
  web::Response take_part(const web::Request& request) {
    const auto status = statuses.find("wheel");
    if (status != statuses.end()) return refusal(status->second);
    const auto offset = std::stoull(request.query.at("offset"));
    if (offset == wheel_.size()) wheel_ += request.body;
    const bool complete = wheel_.size() == std::stoull(request.query.at("size"));
    if (complete && digest_of(wheel_).str() != request.query.at("sha256"))
      return web::problem(422, "no", "another hash");
    return web::json_response(Json{{"received", wheel_.size()}, {"complete", complete}}.dump());
  }
  void post(const std::string& pattern,
            std::function<web::Response(FakeService&, const web::Request&)> answer,
            web::Method method = web::Method::post) {
    web::Route route;
    route.method = method;
    route.body_limit = 16 << 20;
    route.pattern = pattern;
    route.role = web::Role::runner;
    route.handler = [this, answer](const web::Request& request, web::Respond respond) {
      const std::lock_guard lock(mutex);
      posts.emplace_back(request.path, request.body);
      headers_[request.path] = request.headers;
      changed.notify_all();
      respond(answer(*this, request));
    };
    server_.add(std::move(route));
  }

  std::string wheel_;
  std::map<std::string, std::map<std::string, std::string>> headers_;
  test::LoopThread loop_;
  web::Server server_;
};

}  // namespace nightjar::runner
