// How handlers answer: JSON, problems as exceptions, and the frames in which reads and writes run.
// Internal to the API.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "service/api/api.hpp"
#include "service/api/schema.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

// Ends a request with a problem that its sender can do something about.
class Refused : public std::runtime_error {
 public:
  Refused(unsigned status, std::string title, const std::string& detail,
          std::vector<FieldFault> errors = {})
      : std::runtime_error(detail),
        status_(status),
        title_(std::move(title)),
        errors_(std::move(errors)) {}
  web::Response response() const;

 private:
  unsigned status_;
  std::string title_;
  std::vector<FieldFault> errors_;
};
[[noreturn]] void refuse_unknown(std::string_view what, std::int64_t id);  // 404

web::Response json_answer(const nlohmann::json& body, unsigned status = 200);
// The body as a JSON object; Refused (400) if it is none, or if it is nested absurdly deep.
nlohmann::json parse_object(const web::Request& request);
// The body as openapi.json describes it for this operation; else Refused (400) field by field.
nlohmann::json parse_body(const web::Request& request, std::string_view operation_id);
// What an exception of nlohmann's says, without its number.
std::string cause_of(const std::exception& error);

// The answer while the database fails (500). It is said once in the log, not for each request.
web::Response database_failed(Context& context, const storage::Error& error);
// The complaint that a request met damage, which lasts until the file is restored.
inline constexpr const char* damage_seen = "database";

using Work = std::function<web::Response(storage::Database&, const web::Request&)>;
enum class Kept { until_change, never };
// A GET that queries a reader. What is kept until the database changes has an ETag. Parameters
// other than `query` are refused.
void add_read(web::Server& server, Context& context, std::string pattern,
              std::vector<std::string> query, Work work, Kept kept = Kept::until_change,
              web::Role role = web::Role::read);
// A POST, or another method, that works on the writer.
void add_write(web::Server& server, Context& context, std::string pattern, web::Role role,
               Work work, std::size_t body_limit = 1 << 20, web::Method method = web::Method::post);

}  // namespace nightjar::service::api
