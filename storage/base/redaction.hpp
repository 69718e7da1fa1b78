// The secrets of this process, kept out of what others say. Whoever reads a secret tells it here,
// and one_line(), through which all text of others comes, leaves it out. Used from any thread.
#pragma once

#include <string>
#include <string_view>

namespace nightjar {

// Remembers a token, a password or a key for as long as the process lives. Ignores one of fewer
// than eight characters: it would hide common words.
void keep_secret(const std::string& secret);
// Remembers a password, and what HTTP's Basic authentication sends for it. Without a password the
// user's name is a token.
void keep_login(const std::string& user, const std::string& password);
// The same for the login in an address, "http://user:p%40ss@proxy:80", if it has one.
void keep_login_in(std::string_view url);

// Puts "***" in place of each secret, also where it is percent-encoded, escaped with backslashes,
// or in base64.
std::string without_secrets(std::string text);

// Leaves the user name and password out of each URL in the text.
std::string without_credentials(std::string_view text);

}  // namespace nightjar
