#include "service/builds/wheel.hpp"

#include <algorithm>

#include "storage/base/foreign_text.hpp"
#include "web/text.hpp"

namespace nightjar::service {

namespace {

std::string_view trim_field(std::string_view text) {
  constexpr std::string_view space = " \t\r";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

// Takes the next line off `text`.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

// The text between quotes, when that is all there is; escapes do not occur in versions.
std::optional<std::string> string_literal(std::string_view text) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"')) return std::nullopt;
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (text.back() != text[0] || inside.find_first_of("'\"\\") != std::string_view::npos)
    return std::nullopt;
  return std::string(inside);
}

constexpr std::size_t longest_member_text = 1u << 20;  // bytes of WHEEL and of a version file
constexpr std::size_t most_requirements = 10'000;      // lines of METADATA

// The wheel's .dist-info folder, known once a member of it came.
class InfoFolder {
 public:
  // "/RECORD" of "torch-2.15.0.dist-info/RECORD"; empty: it is in no such folder. Throws if it is
  // in a second one: installers want exactly one, and of each there would be texts to keep.
  std::string rest_of(const std::string& member) {
    const std::string folder = member.substr(0, member.find('/'));
    if (folder.size() == member.size() || !folder.ends_with(".dist-info")) return "";
    if (name_.empty()) name_ = folder;
    if (folder != name_)
      throw BadWheel("it has two .dist-info folders, " + in_quotes(name_) + " and " +
                     in_quotes(folder));
    return member.substr(folder.size());
  }
  const std::string& name() const {
    if (name_.empty()) throw BadWheel("it has no .dist-info folder, and so no METADATA");
    return name_;
  }

 private:
  std::string name_;
};

std::size_t most_text_of(const std::string& rest_in_info) {
  if (rest_in_info == "/METADATA") return most_metadata;
  if (rest_in_info == "/RECORD") return most_record;
  return rest_in_info == "/WHEEL" ? longest_member_text : 0;
}

const std::string& text_of(const WheelMembers& members, const std::string& name) {
  const auto found = members.texts.find(name);
  if (found == members.texts.end()) throw BadWheel("it has no " + name);
  return found->second;
}

// Other files of .dist-info may be missing, but not those that say how to install the wheel. A
// builder's own script may make a wheel without WHEEL, which our runners do not need.
void check_record(const WheelMembers& members, const std::string& info, bool laid_over) {
  try {
    const Record record = parse_record(text_of(members, info + "/RECORD"));
    const std::string tags = info + "/WHEEL";
    if (record.contains(tags) && !members.files.contains(tags))
      throw BadWheel("RECORD lists " + tags + ", which is missing");
    if (const auto misfit = record_misfit(record, members.files, laid_over))
      throw BadWheel("it does not fit its RECORD: " + *misfit);
  } catch (const MalformedRecord& malformed) {
    throw BadWheel(malformed.what());
  }
}

void refuse_requirement(std::string_view text, WheelFacts& facts) {
  if (facts.unreadable.empty()) facts.unreadable = unreadable_requirement(text);
}

void read_requirement(std::string_view text, WheelFacts& facts) {
  if (facts.requires_dist.size() >= most_requirements) {
    facts.unreadable = "its METADATA requires more than 10,000 packages";
    return;
  }
  if (auto requirement = Requirement::parse(text))
    facts.requires_dist.push_back(*std::move(requirement));
  else
    refuse_requirement(text, facts);
  const auto end = std::min(text.find_first_of(" ;<>=!~(["), text.size());
  std::string& requirement = facts.requirements[std::string(text.substr(0, end))];
  if (!requirement.empty()) requirement += ", ";  // the same package under another marker
  requirement += trim_field(text.substr(end));
}

void read_tags(std::string_view text, WheelFacts& facts) {
  while (!text.empty()) {
    const std::string_view line = trim_field(take_line(text));
    if (line.starts_with("Tag:")) facts.tags.emplace_back(trim_field(line.substr(4)));
  }
}

}  // namespace

// Lines as mail has them: a name in any case, and a line that begins with a space goes on with the
// field before it. No requirement is passed over: one that cannot be read makes `unreadable`.
void read_metadata(std::string_view text, WheelFacts& facts) {
  bool is_in_requirement = false;
  while (!text.empty()) {
    const std::string_view raw = take_line(text), line = trim_field(raw);
    if (raw.empty() || raw == "\r") return;  // the description follows
    const bool goes_on = raw.front() == ' ' || raw.front() == '\t';
    if (goes_on && is_in_requirement) refuse_requirement(line, facts);
    if (goes_on) continue;
    const auto colon = std::min(line.find(':'), line.size());
    const std::string name = web::lower_case(trim_field(line.substr(0, colon)));
    const std::string_view value = trim_field(line.substr(std::min(colon + 1, line.size())));
    if (name == "name") facts.metadata_name = value;
    if (name == "version") facts.metadata_version = value;
    is_in_requirement = name == "requires-dist";
    if (is_in_requirement) read_requirement(value, facts);
  }
}

std::optional<VersionFile> parse_version_file(std::string_view text) {
  VersionFile file;
  bool has_version = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim_field(line.substr(0, line.find_first_of(":=")));
    const auto value = string_literal(trim_field(line.substr(equals + 1)));
    if (name == "__version__" && value) {
      file.version = *value;
      has_version = true;
    }
    if (name == "git_version") file.git_version = value;
    if (name == "cuda") file.cuda = value;
    if ((name == "hip" || name == "rocm") && value) file.hip = value;
    if (name == "xpu") file.xpu = value;
  }
  return has_version ? std::optional(file) : std::nullopt;
}

WheelFacts read_wheel(const std::filesystem::path& file, const std::string& version_file,
                      bool laid_over, const std::stop_token& stop) {
  InfoFolder folder;
  const auto most_text = [&](const std::string& name) {
    const std::size_t most = most_text_of(folder.rest_of(name));
    return name == version_file ? std::max(most, longest_member_text) : most;
  };
  const WheelMembers members = read_members(file, most_text, Reading::whole, stop);
  const std::string info = folder.name();
  WheelFacts facts;
  read_metadata(text_of(members, info + "/METADATA"), facts);
  if (facts.metadata_version.empty()) throw BadWheel("it has no METADATA with a version");
  if (const auto tags = members.texts.find(info + "/WHEEL"); tags != members.texts.end())
    read_tags(tags->second, facts);
  check_record(members, info, laid_over);
  if (version_file.empty()) return facts;
  const auto version = parse_version_file(text_of(members, version_file));
  if (!version) throw BadWheel("its " + version_file + " does not say __version__");
  facts.version_file = *version;
  return facts;
}

WheelFacts read_metadata_of(const std::filesystem::path& file) {
  InfoFolder folder;
  const auto of_metadata = [&](const std::string& name) {
    return folder.rest_of(name) == "/METADATA" ? most_metadata : 0;
  };
  const WheelMembers members = read_members(file, of_metadata, Reading::wanted_texts);
  WheelFacts facts;
  read_metadata(text_of(members, folder.name() + "/METADATA"), facts);
  return facts;
}

}  // namespace nightjar::service
