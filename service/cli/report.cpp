#include "service/cli/report.hpp"

#include <cstdio>
#include <stdexcept>

#include "service/cli/failure.hpp"
#include "storage/base/terminal.hpp"
#include "web/access.hpp"
#include "web/client.hpp"
#include "web/secret.hpp"

namespace nightjar::cli {
namespace {

int print(const ReportOptions& options, const std::string& path) {
  web::ClientRequest request;
  try {
    request.url = web::service_address(options.from) + path + "&as=" + options.as;
    if (!options.token_file.empty())
      request.headers = {{"Authorization", "Bearer " + web::token_in(options.token_file)}};
  } catch (const std::invalid_argument& error) {
    throw BadInput("cannot report: " + std::string(error.what()));
  }
  web::Client client;
  const auto result = client.send(request);
  if (!result) throw Broken(result.failure.what);
  const auto& answer = *result.response;
  const std::string said = request.url + " was answered with " + std::to_string(answer.status) +
                           ": " + web::problem_detail(answer.body);
  if (web::may_pass(answer.status)) throw Broken(said);
  if (answer.status != 200) throw BadInput("cannot report: " + said);
  put_text(stdout, answer.body);
  return 0;
}

}  // namespace

int report_digest(const ReportOptions& options) {
  return print(options, "/api/v1/digest?days=" + std::to_string(options.days) +
                            (options.until.empty() ? "" : "&until=" + options.until));
}

int report_difference(const ReportOptions& options) {
  return print(options, "/api/v1/difference?reference=" + std::to_string(options.reference) +
                            "&build=" + std::to_string(options.build) +
                            "&least=" + std::to_string(options.least));
}

}  // namespace nightjar::cli
