// How handlers answer: JSON, problems as exceptions, and the frames in which reads and writes run.
// Internal to the API.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "service/api/api.hpp"
#include "web/message.hpp"

namespace nightjar::service::api {

// Ends a request with a problem that its sender can do something about.
class Refused : public std::runtime_error {
 public:
  Refused(unsigned status, std::string title, const std::string& detail)
      : std::runtime_error(detail), status_(status), title_(std::move(title)) {}
  web::Response response() const { return web::problem(status_, title_, what()); }

 private:
  unsigned status_;
  std::string title_;
};
[[noreturn]] void refuse_unknown(std::string_view what, std::int64_t id);  // 404

web::Response json_answer(const nlohmann::json& body, unsigned status = 200);
// The body as a JSON object; Refused (400) if it is none.
nlohmann::json parse_body(const web::Request& request);

using Work = std::function<web::Response(storage::Database&, const web::Request&)>;
enum class Kept { until_change, never };
// A GET that queries a reader. What is kept until the database changes has an ETag. Parameters other
// than `query` are refused.
void add_read(web::Server& server, Context& context, std::string pattern,
              std::vector<std::string> query, Work work, Kept kept = Kept::until_change,
              web::Role role = web::Role::read);
// A POST that works on the writer.
void add_write(web::Server& server, Context& context, std::string pattern, web::Role role,
               Work work, std::size_t body_limit = 1 << 20);

}  // namespace nightjar::service::api
