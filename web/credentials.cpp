#include "web/credentials.hpp"

#include <algorithm>
#include <openssl/evp.h>
#include <sstream>
#include <stdexcept>

#include "storage/base/files.hpp"
#include "storage/base/redaction.hpp"
#include "web/text.hpp"

namespace nightjar::web {
namespace {

Credentials& credentials_of_process() {
  static Credentials all;
  return all;
}

}  // namespace

std::string basic_authorization(const Login& login) {
  const std::string plain = login.user + ":" + login.password;
  std::string encoded(4 * ((plain.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                     reinterpret_cast<const unsigned char*>(plain.data()),
                                     static_cast<int>(plain.size()));
  encoded.resize(static_cast<std::size_t>(length));
  return "Basic " + encoded;
}

Credentials Credentials::read(const std::filesystem::path& file) {
  constexpr std::size_t most = 1 << 20;
  const auto text = read_file(file, most);
  if (!text)
    throw std::runtime_error("cannot read credentials from " + file.string() +
                             ": it cannot be opened, or has more than 1 MiB");
  return parse(*text, file.string());
}

Credentials Credentials::parse(std::string_view text, const std::string& name) {
  Credentials credentials;
  std::istringstream lines{std::string(text)};
  int number = 0;
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto wrong = [&](const std::string& what) {
      return std::runtime_error(name + ":" + std::to_string(number) + ": " + what);
    };
    std::istringstream in(line);
    for (std::string word; in >> word && !word.starts_with('#');) {
      words.push_back(word);
      if (words.size() % 2 == 1 && word != "machine" && word != "login" && word != "password")
        throw wrong("an entry is \"machine HOST login USER password PASSWORD\"");
      if (words.size() % 2 == 1) continue;
      const std::string& key = words[words.size() - 2];
      if (key == "machine")
        credentials.entries_.push_back({lower_case(word), {}});
      else if (credentials.entries_.empty())
        throw wrong("an entry begins with \"machine HOST\"");
      else
        (key == "login" ? credentials.entries_.back().login.user
                        : credentials.entries_.back().login.password) = word;
    }
  }
  if (words.size() % 2 == 1)
    throw std::runtime_error(name + ":" + std::to_string(number) + ": the last entry is cut off");
  return credentials;
}

const Login* Credentials::find(const Origin& origin) const {
  const std::string with_port = origin.host + ":" + std::to_string(origin.port);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.machine == origin.host || entry.machine == with_port;
  });
  return found == entries_.end() ? nullptr : &found->login;
}

void set_credentials(Credentials credentials) {
  for (const auto& entry : credentials.entries_) keep_login(entry.login.user, entry.login.password);
  credentials_of_process() = std::move(credentials);
}

const Credentials& credentials() {
  return credentials_of_process();
}

}  // namespace nightjar::web
