#include "service/builds/origin.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "storage/builds.hpp"
#include "storage/provenance.hpp"

namespace nightjar::service {
namespace {

constexpr double least_change = .02;    // of a file's size that is worth a line
constexpr std::size_t most_single = 4;  // files of one wheel only that are named

using Words = std::set<std::string>;

// "https://.../<run>/<environment>/artifacts.zip..." is CI's, by the environment's name.
std::string ci_environment(const std::string& url) {
  const auto archive = url.find("/artifacts.zip");
  const auto before = archive == 0 || archive == std::string::npos ? std::string::npos
                                                                   : url.rfind('/', archive - 1);
  return before == std::string::npos ? "" : url.substr(before + 1, archive - before - 1);
}

// Definitions, warnings and folders say what is compiled, and commits change them. The others say
// how.
Words flags_for_code(const std::string& flags) {
  Words kept;
  std::istringstream words(flags);
  for (std::string word; words >> word;)
    if (!word.starts_with("-D") && !word.starts_with("-W") && !word.starts_with("-I"))
      kept.insert(word);
  return kept;
}

Words all_words(const std::string& flags) {
  std::istringstream words(flags);
  Words all;
  for (std::string word; words >> word;) all.insert(word);
  return all;
}

bool is_known(const KnownWheel& wheel) {
  return wheel.provenance && wheel.provenance->trouble.empty();
}

template <class Texts>
std::string joined_texts(const Texts& texts, const char* between = ", ") {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : between) + text;
  return all;
}

std::string place_of(const KnownWheel& wheel) {
  const Build& build = wheel.build;
  if (build.kind == BuildKind::nightly) return "a nightly";
  if (build.kind == BuildKind::source)
    return "made from source" + (wheel.recipe ? " by recipe " + wheel.recipe->brief() : "");
  const std::string environment = ci_environment(build.url);
  return "a wheel of CI" + (environment.empty() ? "" : "'s " + environment);
}

std::string in_megabytes(std::int64_t bytes) {
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(bytes < 1'000'000 ? 0 : 1);
  if (bytes < 10'000)
    text << bytes << " bytes";
  else if (bytes < 1'000'000)
    text << static_cast<double>(bytes) / 1e3 << " KB";
  else
    text << static_cast<double>(bytes) / 1e6 << " MB";
  return text.str();
}

std::string in_percent(std::int64_t before, std::int64_t after) {
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(1);
  const double change = 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
  text << (change < 0 ? "-" : "+") << std::abs(change) << " %";
  return text.str();
}

Words missing_in(const Words& others, const Words& words) {
  Words missing;
  std::set_difference(words.begin(), words.end(), others.begin(), others.end(),
                      std::inserter(missing, missing.end()));
  return missing;
}

void add_words(const std::string& what, const Words& before, const Words& after,
               std::vector<std::string>& lines) {
  const Words gone = missing_in(after, before), added = missing_in(before, after);
  if (!gone.empty()) lines.push_back(what + " of the wheel before only: " + joined_texts(gone));
  if (!added.empty()) lines.push_back(what + " of the new wheel only: " + joined_texts(added));
}

std::string or_unnamed(const std::string& text) {
  return text.empty() ? "a program that it does not name" : text;
}

using Files = std::map<std::string, WheelFile>;

Files files_of(const Provenance& provenance) {
  Files files;
  for (const WheelFile& file : provenance.files) files[file.name] = file;
  return files;
}

void add_single(const Files& files, const Files& others, const std::string& where,
                std::vector<std::string>& lines) {
  std::size_t count = 0;
  for (const auto& [name, file] : files)
    if (!others.count(name) && ++count <= most_single)
      lines.push_back(name + " (" + in_megabytes(file.size_bytes) + ") is in " + where + " only");
  if (count > most_single)
    lines.push_back(std::to_string(count - most_single) + " more files are in " + where + " only");
}

void add_files(const Provenance& before, const Provenance& after, std::vector<std::string>& lines) {
  const Files old = files_of(before), now = files_of(after);
  add_single(now, old, "the new wheel", lines);
  add_single(old, now, "the wheel before", lines);
  int small = 0;
  std::vector<std::pair<double, std::string>> sizes;
  for (const auto& [name, file] : now) {
    const auto other = old.find(name);
    if (other == old.end() || other->second == file) continue;
    const std::int64_t was = other->second.size_bytes, is = file.size_bytes;
    const double change =
        was > 0 && is > 0 ? std::abs(std::log(static_cast<double>(is) / static_cast<double>(was)))
        : is == was       ? 0
                          : 1;
    if (change >= least_change && was > 0)
      sizes.emplace_back(change, name + " has " + in_megabytes(is) + ", before " +
                                     in_megabytes(was) + " (" + in_percent(was, is) + ")");
    else if (file.kind == WheelFileKind::bundled)
      lines.push_back("the bundled library " + name + " has another content");
    else
      ++small;
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [change, line] : sizes) lines.push_back(std::move(line));
  if (small > 0)
    lines.push_back(std::to_string(small) + (small == 1 ? " other file has" : " other files have") +
                    " another content, and nearly the same size");
}

void add_provenance(const KnownWheel& before, const KnownWheel& after,
                    std::vector<std::string>& lines) {
  for (const auto& [wheel, which] :
       {std::pair(&before, "the wheel before"), std::pair(&after, "the new wheel")})
    if (!is_known(*wheel))
      lines.push_back(std::string("how ") + which + " was made is not known" +
                      (wheel->provenance ? ": " + wheel->provenance->trouble : ""));
  if (!is_known(before) || !is_known(after)) return;
  const Provenance &old = *before.provenance, &now = *after.provenance;
  add_words("compilers", {old.compilers.begin(), old.compilers.end()},
            {now.compilers.begin(), now.compilers.end()}, lines);
  if (old.flags.empty() == now.flags.empty())
    add_words("compiler flags", all_words(old.flags), all_words(now.flags), lines);
  if (old.generator != now.generator)
    lines.push_back("it was packed by " + or_unnamed(now.generator) + ", before by " +
                    or_unnamed(old.generator));
  add_words("tags", {old.tags.begin(), old.tags.end()}, {now.tags.begin(), now.tags.end()}, lines);
  add_files(old, now, lines);
}

}  // namespace

std::optional<KnownWheel> wheel_under(const storage::Database& db, const Build& build) {
  std::optional<Build> wheel = build;
  for (int i = 0; wheel && wheel->base && i < 4; ++i) wheel = storage::find_build(db, *wheel->base);
  if (!wheel || wheel->base) return std::nullopt;
  KnownWheel known{*std::move(wheel)};
  if (known.build.sha256) known.provenance = storage::find_provenance(db, *known.build.sha256);
  if (known.build.kind == BuildKind::source)
    known.recipe = storage::recipe_of_build(db, known.build.id);
  return known;
}

std::string wheel_origin(const KnownWheel& wheel) {
  if (!is_known(wheel))
    return "unknown: " +
           (wheel.build.sha256 ? wheel.build.sha256->str() : std::to_string(wheel.build.id.value));
  const Provenance& made = *wheel.provenance;
  std::string key = place_of(wheel) + "\nvariant: " + wheel.build.variant +
                    "\ncompilers: " + joined_texts(made.compilers) +
                    "\nflags: " + joined_texts(flags_for_code(made.flags), " ") +
                    "\npacked by: " + made.generator + "\ntags: " + joined_texts(made.tags);
  for (const WheelFile& file : made.files) {
    if (file.kind == WheelFileKind::bundled) key += "\nbundled: " + file.name + " " + file.digest;
    if (file.kind == WheelFileKind::foreign) key += "\nforeign: " + file.name;
  }
  return key;
}

std::vector<std::string> wheel_differences(const KnownWheel& before, const KnownWheel& after,
                                           std::size_t most) {
  std::vector<std::string> lines;
  const std::string old = place_of(before), now = place_of(after);
  if (old != now) lines.push_back("it is " + now + ", before it was " + old);
  if (before.build.variant != after.build.variant)
    lines.push_back("it is of variant " + after.build.variant + ", before of " +
                    before.build.variant);
  add_provenance(before, after, lines);
  if (lines.size() > most) {
    const std::size_t rest = lines.size() - (most - 1);
    lines.resize(most - 1);
    lines.push_back("and " + std::to_string(rest) + " more differences");
  }
  return lines;
}

std::vector<std::string> wheel_differences(const storage::Database& db, BuildId before,
                                           BuildId after) {
  const auto old = storage::find_build(db, before), now = storage::find_build(db, after);
  const auto one = old ? wheel_under(db, *old) : std::nullopt;
  const auto other = now ? wheel_under(db, *now) : std::nullopt;
  if (!one || !other) return {};
  return wheel_differences(*one, *other);
}

}  // namespace nightjar::service
