#include "service/report/dry_run_tracker.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <stdexcept>
#include <system_error>

#include "storage/base/files.hpp"

namespace nightjar::service {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view comment_rule = "\n<!-- nightjar:comment -->\n\n---\n\n";

// "soft_actor_critic act: latency +23 %" -> "soft-actor-critic-act-latency-23", 60 characters at
// most.
std::string slug_of(const std::string& title) {
  std::string slug;
  for (const char c : title) {
    if (slug.size() == 60) break;
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte)) {
      slug += static_cast<char>(std::tolower(byte));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "issue" : slug;
}

// A YAML string in double quotes: a title may hold anything.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string read(const fs::path& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error("cannot read " + path.string());
  return std::move(*text);
}

// Issue files by number; other files of the directory are none of ours.
std::map<std::int64_t, fs::path> issues_in(const fs::path& directory) {
  std::map<std::int64_t, fs::path> issues;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool ours = error == std::errc{} && number > 0 && *end == '-' && name.ends_with(".md");
    if (ours && entry.is_regular_file()) issues[number] = entry.path();
  }
  return issues;
}

bool is_open(const std::string& text) {
  return text.substr(0, text.find("\n---\n")).find("\nstate: open") != std::string::npos;
}

// The directory may vanish or fill up and come back: nothing here is for ever.
template <class T, class Act>
Outcome<T> attempt(const Act& act) {
  try {
    return act();
  } catch (const std::exception& error) {
    return Transient{std::string("dry run: ") + error.what(), std::nullopt};
  }
}

Permanent no_such_issue(const fs::path& directory, std::int64_t issue) {
  return {"dry run: no issue " + std::to_string(issue) + " in " + directory.string()};
}

}  // namespace

DryRunTracker::DryRunTracker(fs::path directory) : directory_(fs::absolute(directory)) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (!fs::is_directory(directory_)) {
    throw std::runtime_error("cannot make the directory for reports " + directory_.string() + ": " +
                             error.message());
  }
}

Outcome<std::optional<Issue>> DryRunTracker::find_issue(const std::string& marker) {
  return attempt<std::optional<Issue>>([&]() -> Outcome<std::optional<Issue>> {
    for (const auto& [number, path] : issues_in(directory_)) {
      const std::string text = read(path);
      const auto body = text.substr(0, text.find(comment_rule));
      if (body.find(marker) != std::string::npos) {
        return std::optional<Issue>{Issue{number, path.string(), is_open(text)}};
      }
    }
    return std::optional<Issue>{};
  });
}

Outcome<Issue> DryRunTracker::open_issue(const std::string& title, const std::string& body,
                                         const std::vector<std::string>& labels) {
  return attempt<Issue>([&]() -> Outcome<Issue> {
    const auto issues = issues_in(directory_);
    const std::int64_t number = issues.empty() ? 1 : issues.rbegin()->first + 1;
    std::string text = "---\nnumber: " + std::to_string(number) + "\ntitle: " + quoted(title) +
                       "\nstate: open\nlabels: [";
    for (std::size_t i = 0; i < labels.size(); ++i) text += (i ? ", " : "") + quoted(labels[i]);
    const fs::path path = directory_ / (std::to_string(number) + "-" + slug_of(title) + ".md");
    write_durably(path, text + "]\n---\n\n" + body);
    return Issue{number, path.string(), true};
  });
}

Outcome<bool> DryRunTracker::has_comment(std::int64_t issue, const std::string& marker) {
  return attempt<bool>([&]() -> Outcome<bool> {
    const auto issues = issues_in(directory_);
    const auto it = issues.find(issue);
    if (it == issues.end()) return no_such_issue(directory_, issue);
    const std::string text = read(it->second);
    const auto comments = text.find(comment_rule);
    return comments != std::string::npos && text.find(marker, comments) != std::string::npos;
  });
}

Outcome<std::string> DryRunTracker::comment(std::int64_t issue, const std::string& body) {
  return attempt<std::string>([&]() -> Outcome<std::string> {
    const auto issues = issues_in(directory_);
    const auto it = issues.find(issue);
    if (it == issues.end()) return no_such_issue(directory_, issue);
    write_durably(it->second, read(it->second) + std::string(comment_rule) + body);
    return it->second.string();
  });
}

Outcome<Issue> DryRunTracker::close_issue(std::int64_t issue) {
  return attempt<Issue>([&]() -> Outcome<Issue> {
    const auto issues = issues_in(directory_);
    const auto it = issues.find(issue);
    if (it == issues.end()) return no_such_issue(directory_, issue);
    std::string text = read(it->second);
    if (is_open(text)) {
      const std::string open = "\nstate: open";
      text.replace(text.find(open), open.size(), "\nstate: closed");
      write_durably(it->second, text);
    }
    return Issue{issue, it->second.string(), false};
  });
}

}  // namespace nightjar::service
