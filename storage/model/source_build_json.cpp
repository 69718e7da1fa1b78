// The protocol of builds from source: SourceSpec one way, SourceResult the other.
#include "storage/model/protocol.hpp"

namespace nightjar {
using nlohmann::json;

BOOST_DESCRIBE_STRUCT(SourceSpec, (), (repository, commit, recipe, recipe_sha256))
BOOST_DESCRIBE_STRUCT(CacheCounts, (), (hits, misses))
BOOST_DESCRIBE_STRUCT(CacheStatistics, (), (program, cxx, cuda))
BOOST_DESCRIBE_STRUCT(SourceResult, (),
                      (outcome, reason, wheel_file, sha256, seconds, compile_seconds, attempts,
                       warm, cache))

namespace {

void check_result(const SourceResult& result) {
  const bool built = result.outcome == SourceOutcome::built;
  if (built != result.sha256.has_value() || built == result.wheel_file.empty())
    reject_json("in 'sha256': what is built has a wheel, and nothing else has");
  if (built != result.reason.empty())
    reject_json("in 'reason': what is not built has one, and nothing else has");
  if (result.wheel_file.find('/') != std::string::npos)
    reject_json("in 'wheel_file': it is a name without a folder");
  if (!(result.seconds >= 0 && result.compile_seconds >= 0))
    reject_json("in 'seconds': a duration is at least 0");
}

}  // namespace

const Described<SourceSpec>& described(Parsed<SourceSpec>) {
  static const auto made =
      aggregate<SourceSpec>("SourceSpec", "What a builder makes a wheel of.",
                            {{"repository", "A URL, or a folder that the builder can read."},
                             {"recipe", "The text of the recipe, in TOML."}});
  return made;
}

const Described<CacheCounts>& described(Parsed<CacheCounts>) {
  static const auto made =
      aggregate<CacheCounts>("CacheCounts", "Compilations that a cache answered, or did not.",
                             {{"hits", "", {{"minimum", 0}}}, {"misses", "", {{"minimum", 0}}}});
  return made;
}

const Described<CacheStatistics>& described(Parsed<CacheStatistics>) {
  static const auto made =
      aggregate<CacheStatistics>("CacheStatistics", "What the compiler cache did during one build.",
                                 {{"program", "ccache or sccache; empty: there was none."}});
  return made;
}

const Described<SourceResult>& described(Parsed<SourceResult>) {
  static const auto made = aggregate<SourceResult>(
      "SourceResult", "What came of a build from source.",
      {{"reason", "Why there is no wheel; empty where there is one."},
       {"wheel_file", "The wheel's name; empty where there is none.", line_schema(400)},
       {"seconds", "All of it, fetching included.", {{"minimum", 0}}},
       {"compile_seconds", "Time of the recipe's commands.", {{"minimum", 0}}},
       {"attempts", "2: it failed, and was tried again from a clean folder.", {{"minimum", 0}}},
       {"warm", "The last attempt began from what an earlier build had left."}},
      check_result);
  return made;
}

void to_json(json& out, const SourceResult& result) {
  out = write_value(result);
}
void from_json(const json& in, SourceResult& result) {
  result = parse_json(in, Parsed<SourceResult>{});
}

}  // namespace nightjar
