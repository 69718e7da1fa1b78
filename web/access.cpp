#include "web/access.hpp"

#include <stdexcept>

#include "storage/base/files.hpp"
#include "storage/base/foreign_text.hpp"
#include "storage/base/redaction.hpp"
#include "storage/model/address.hpp"
#include "storage/model/foreign_json.hpp"
#include "storage/model/json.hpp"

namespace nightjar::web {
namespace {
// Characters of what a service says of a failure, and of what something in between does.
constexpr std::size_t longest_detail = 2000, other = 200;
}  // namespace

std::string service_address(std::string url) {
  if (const auto address = Address::parse(url)) return address->text();
  throw std::invalid_argument(url.find('@') == std::string::npos
                                  ? shown_url(url) + " is no http:// or https:// address"
                                  : "is no address without a user name and a password");
}

std::string token_in(const std::filesystem::path& file) {
  const auto text = read_file(file);
  if (!text) throw std::invalid_argument("cannot read the token file " + file.string());
  const auto begin = text->find_first_not_of(" \t\r\n");
  if (begin == std::string::npos)
    throw std::invalid_argument("the token file " + file.string() + " is empty");
  const auto token = text->substr(begin, text->find_last_not_of(" \t\r\n") - begin + 1);
  if (token.find_first_of(" \t\r\n") != std::string::npos)
    throw std::invalid_argument("the token file " + file.string() + " holds more than one word");
  keep_secret(token);
  return token;
}

std::string problem_detail(const std::string& body) {
  const auto json = parse_foreign(body);
  if (json.is_object())
    for (const char* name : {"detail", "title"})
      if (const auto found = json.find(name); found != json.end() && found->is_string())
        return shortened(found->get<std::string>(), longest_detail);
  return shortened(body.substr(0, 4 * other), other);
}

}  // namespace nightjar::web
