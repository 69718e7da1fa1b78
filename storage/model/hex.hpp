// Hashes as types that cannot be wrong: a git commit (40 hex digits) and a SHA-256 (64).
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nightjar {

// Exactly `digits` lower-case hexadecimal digits. Upper case is accepted by parse() and folded.
template <std::size_t digits>
class Hex {
 public:
  // nullopt unless `text` is exactly `digits` hexadecimal digits.
  static std::optional<Hex> parse(std::string_view text) {
    if (text.size() != digits) return std::nullopt;
    Hex hex;
    for (char c : text) {
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return std::nullopt;
      hex.text_.push_back(c);
    }
    return hex;
  }
  const std::string& str() const { return text_; }
  std::string brief() const { return text_.substr(0, 12); }
  auto operator<=>(const Hex&) const = default;

 private:
  Hex() = default;
  std::string text_;
};

using CommitSha = Hex<40>;
using Sha256 = Hex<64>;

}  // namespace nightjar
