// How handlers read a body and answer: JSON, and problems as exceptions.
// Internal to the API.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "service/api/api.hpp"
#include "service/api/faults.hpp"
#include "storage/model/described.hpp"
#include "web/server/message.hpp"

namespace nightjar::service::api {

// Who asks, as the audit and the history of a regression have it: "token:ops", "user:ada@test".
std::string actor_of(const web::Principal& principal);

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
// The body as a JSON object; Refused (400) if it is not one, or if it is nested absurdly deep.
nlohmann::json parse_object(const web::Request& request);
// Makes each text in `in` one_line() of it. A member whose name is more than a line goes.
void make_lines(nlohmann::json& in);
// The body as it is described, its texts as make_lines() leaves them; else Refused (400) field by
// field.
nlohmann::json checked_body(const web::Request& request, const Schema& schema);
// The same for a body that was parsed already.
nlohmann::json checked(const web::Request& request, nlohmann::json body, const Schema& schema);
[[noreturn]] void refuse_body(const web::Request& request, std::vector<FieldFault> faults);  // 400
template <class T>
T parse_body(const web::Request& request, const Described<T>& body) {
  return body.read(checked_body(request, body.schema()));
}
Schema reason_schema();  // of a text in a body: a person's reason
// What an exception of nlohmann's says, without its number.
std::string cause_of(const std::exception& error);

// The answer while the database fails (500). It is said once in the log, not for each request.
web::Response database_failed(Context& context, const storage::Error& error);
// The complaint that a request met damage, which lasts until the file is restored.
inline constexpr const char* damage_seen = "database";

using Work = std::function<web::Response(storage::Database&, const web::Request&)>;

}  // namespace nightjar::service::api
