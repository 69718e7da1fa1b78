#include "service/builds/requirement.hpp"

#include <algorithm>
#include <array>

#include "service/project.hpp"
#include "storage/model/lock_text.hpp"

namespace nightjar::service {
namespace {

constexpr std::size_t longest_requirement = 4000;
constexpr std::size_t shown_requirement = 120;
constexpr int deepest_marker = 20;  // parentheses within one another

constexpr std::array<std::string_view, 8> version_operators{
    "===", "~=", "==", "!=", "<=", ">=", "<", ">"};
constexpr std::array<std::string_view, 18> marker_variables{"python_version",
                                                            "python_full_version",
                                                            "os_name",
                                                            "sys_platform",
                                                            "platform_release",
                                                            "platform_system",
                                                            "platform_version",
                                                            "platform_machine",
                                                            "platform_python_implementation",
                                                            "implementation_name",
                                                            "implementation_version",
                                                            "extra",
                                                            "os.name",
                                                            "sys.platform",
                                                            "platform.version",
                                                            "platform.machine",
                                                            "python_implementation",
                                                            "platform.python_implementation"};

bool may_stand_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

// Whether a version in a specifier may have this character, including those of "1.*".
bool may_stand_in_version(char c) {
  return may_stand_in_word(c) || c == '+' || c == '!' || c == '*';
}

// What a marker compares with. It has no quote, no backslash and no line break.
bool may_stand_in_value(char c) {
  return may_stand_in_word(c) || std::string_view(" +!*,()<>=~").find(c) != std::string_view::npos;
}

// Reads one requirement from left to right. Each function appends what it read to `text`, and
// returns false where the line is no requirement.
class RequirementReader {
 public:
  explicit RequirementReader(std::string_view line) : rest_(line) {}

  bool read() {
    const std::string_view name = word();
    if (!is_package_name(name)) return false;
    text += normalized_name(std::string(name));  // without dots: no file has it
    return extras() && versions() && marker() && is_at_end();
  }
  std::string text;

 private:
  void skip_spaces() {
    const auto first = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(std::min(first, rest_.size()));
  }
  bool is_at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  template <class MayStand>
  std::string_view take_while(MayStand may_stand) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), may_stand);
    const auto taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view word() {
    skip_spaces();
    return take_while(may_stand_in_word);
  }
  // A keyword of a marker, which is a whole word.
  bool take_word(std::string_view wanted) {
    const std::string_view before = rest_;
    if (word() == wanted) return true;
    rest_ = before;
    return false;
  }

  bool extras() {
    if (!take("[")) return true;
    if (take("]")) return true;
    text += "[";
    do {
      const std::string_view extra = word();
      if (!is_package_name(extra)) return false;
      text += (text.ends_with('[') ? "" : ",") + normalized_name(std::string(extra));
    } while (take(","));
    text += "]";
    return take("]");
  }

  // ">=1,<2", also in parentheses, as old packages have it, or with a comma at its end.
  bool versions() {
    const bool in_parentheses = take("(");
    for (bool is_first = true;; is_first = false) {
      const auto found = std::find_if(version_operators.begin(), version_operators.end(),
                                      [this](std::string_view one) { return take(one); });
      if (found == version_operators.end()) break;
      skip_spaces();
      const std::string_view version = take_while(may_stand_in_version);
      if (version.empty()) return false;
      text += (is_first ? "" : ",") + std::string(*found) + std::string(version);
      if (!take(",")) break;
    }
    return !in_parentheses || take(")");
  }

  bool marker() {
    if (!take(";")) return true;
    text += " ; ";
    return condition(0);
  }

  // One or more comparisons, joined by "and" and "or".
  bool condition(int depth) {
    if (depth > deepest_marker) return false;
    while (true) {
      if (take("(")) {
        text += "(";
        if (!condition(depth + 1) || !take(")")) return false;
        text += ")";
      } else if (!comparison()) {
        return false;
      }
      if (take_word("and"))
        text += " and ";
      else if (take_word("or"))
        text += " or ";
      else
        return true;
    }
  }

  bool comparison() { return operand() && comparator() && operand(); }

  bool comparator() {
    for (const std::string_view one : version_operators) {
      if (!take(one)) continue;
      text += " " + std::string(one) + " ";
      return true;
    }
    const bool is_negated = take_word("not");
    if (!take_word("in")) return false;
    text += is_negated ? " not in " : " in ";
    return true;
  }

  bool operand() {
    skip_spaces();
    if (rest_.empty()) return false;
    const char quote = rest_.front();
    if (quote == '"' || quote == '\'') {
      rest_.remove_prefix(1);
      text += "\"" + std::string(take_while(may_stand_in_value)) + "\"";
      if (!rest_.starts_with(quote)) return false;
      rest_.remove_prefix(1);
      return true;
    }
    const std::string_view variable = word();
    text += variable;
    return std::find(marker_variables.begin(), marker_variables.end(), variable) !=
           marker_variables.end();
  }

  std::string_view rest_;
};

}  // namespace

std::optional<Requirement> Requirement::parse(std::string_view line) {
  RequirementReader reader(line);
  if (line.size() > longest_requirement || !reader.read()) return std::nullopt;
  Requirement requirement;
  requirement.text_ = std::move(reader.text);
  return requirement;
}

std::optional<Requirement> exactly(const LockedPackage& package) {
  if (!is_package_name(package.name) || !is_package_version(package.version)) return std::nullopt;
  return Requirement::parse(package.name + "==" + package.version);
}

std::string unreadable_requirement(std::string_view line) {
  std::string shown(line.substr(0, shown_requirement));
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "its METADATA requires '" + shown + (line.size() > shown_requirement ? "..." : "") +
         "', which is no name of a package with versions and a marker";
}

}  // namespace nightjar::service
