#include "service/cli/metric_direction.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "storage/model/workload.hpp"

namespace nightjar::cli {
namespace {

using WordSet = std::set<std::string_view>;

// Which word of a name says what. Names of parameters count too: batch_size is none to judge.
const WordSet time_words{"s",      "sec",     "secs",       "second",      "seconds",      "min",
                         "minute", "minutes", "hour",       "hours",       "ms",           "msec",
                         "msecs",  "millis",  "us",         "millisecond", "milliseconds", "usec",
                         "usecs",  "micros",  "ns",         "microsecond", "microseconds", "nsec",
                         "nsecs",  "nanos",   "nanosecond", "nanoseconds"};
// What a rate may also be taken of: tokens per joule.
const WordSet spent{"watt", "watts", "w", "joule", "joules", "j", "dollar", "usd", "kwh", "wh"};
// With seconds behind them these are rates: samples_sec.
const WordSet item_words{"tokens",   "tok",      "samples", "images", "imgs",    "img",
                         "requests", "reqs",     "req",     "frames", "queries", "iterations",
                         "iters",    "it",       "items",   "steps",  "rows",    "words",
                         "records",  "examples", "ops"};
const WordSet rate_words{
    "throughput", "throughputs", "tput",     "goodput",   "bandwidth", "bw",    "flops", "mflops",
    "gflops",     "tflops",      "pflops",   "flop",      "mflop",     "gflop", "tflop", "tops",
    "iops",       "tps",         "qps",      "rps",       "fps",       "ips",   "sps",   "bps",
    "kbps",       "mbps",        "gbps",     "tbps",      "mibps",     "gibps", "mfu",   "hfu",
    "mbu",        "speedup",     "speedups", "framerate", "hitrate"};
// Rates unless a cost follows: an accuracy is good, and accuracy_time is a time.
const WordSet merits{"accuracy",    "acc",         "score",       "scores",    "efficiency",
                     "speed",       "f1",          "auc",         "auroc",     "bleu",
                     "rouge",       "psnr",        "ssim",        "recall",    "reward",
                     "utilization", "utilisation", "util",        "hits",      "saved",
                     "savings",     "gain",        "improvement", "occupancy", "quality"};
// The same with one of shares behind them: hit_rate.
const WordSet good_words{"hit",    "pass",     "passed",      "success",    "acceptance",
                         "accept", "accepted", "compression", "completion", "win"};
const WordSet shares{"rate", "ratio", "share", "fraction", "pct", "percent", "percentage"};
// Less of these is better, even a second: errors_per_second.
const WordSet bad{"error",   "errors", "err",        "loss",      "losses",      "fail",
                  "fails",   "failed", "failure",    "failures",  "miss",        "misses",
                  "missed",  "drop",   "drops",      "dropped",   "slowdown",    "overhead",
                  "stall",   "stalls", "timeouts",   "ppl",       "perplexity",  "wer",
                  "cer",     "mse",    "rmse",       "mae",       "lag",         "jitter",
                  "retries", "aborts", "faults",     "evictions", "preemptions", "violations",
                  "leak",    "leaks",  "leaked",     "crashes",   "missrate",    "rejected",
                  "penalty", "spills", "regressions"};
const WordSet cost_words{
    "latency",      "latencies", "time",    "times",       "timing",     "duration", "durations",
    "elapsed",      "delay",     "wait",    "wall",        "walltime",   "runtime",  "cputime",
    "memory",       "mem",       "peakmem", "cmem",        "gmem",       "vram",     "rss",
    "maxrss",       "footprint", "usage",   "size",        "sizes",      "cycles",   "instruction",
    "instructions", "ttft",      "tpot",    "itl",         "e2el",       "energy",   "power",
    "cost",         "costs",     "allocs",  "allocations", "recompiles", "breaks"};
const WordSet size_words{"byte", "bytes", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib"};
// Neither more nor less of these is better: how values spread, and what was asked for.
const WordSet neither{"std",      "stdev",     "stddev",    "variance", "var",     "cv",
                      "target",   "limit",     "threshold", "budget",   "timeout", "deadline",
                      "baseline", "expected",  "timestamp", "free",     "avail",   "available",
                      "seed",     "remaining", "requested"};
const WordSet setting_words{"batch",  "world",  "vocab", "block",  "chunk",    "page",
                            "tile",   "window", "input", "output", "sequence", "seq",
                            "hidden", "sample", "grid",  "group"};
// Whose use is no good in itself.
const WordSet resources{"memory", "mem", "vram", "cache", "cpu", "disk", "swap", "ram"};

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c));
}
bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c));
}

// In lower case, cut at each character that is no letter and at "tokensPer|Second"; "/" is "per".
std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins = i > 0 && is_upper(c) && !is_upper(text[i - 1]) && is_alnum(text[i - 1]);
    if ((!is_alnum(c) || begins) && !words.back().empty()) words.emplace_back();
    if (c == '/') {
      words.back() = "per";
      words.emplace_back();
    }
    if (is_alnum(c)) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

class NameReader {
 public:
  explicit NameReader(const std::string& text) : words_(words_in(text)) {}

  Direction direction() const {
    const auto cost_behind = [&](int at) {
      return last(cost_words) > at || last(bad) > at ? Direction::lower_is_better
                                                     : Direction::higher_is_better;
    };
    if (last(neither) >= 0 || is_setting()) return Direction::unknown;
    if (const int at = last(rate_words); at >= 0) return cost_behind(at);
    if (last(bad) >= 0) return Direction::lower_is_better;
    if (is_rate()) return Direction::higher_is_better;
    if (const int at = std::max(last(merits), last_pair(good_words, shares)); at >= 0)
      return is_used_resource() ? Direction::unknown : cost_behind(at);
    return is_cost() ? Direction::lower_is_better : Direction::unknown;
  }

 private:
  // Where the last such word stands; -1: nowhere.
  int last(const WordSet& list) const {
    int at = static_cast<int>(words_.size()) - 1;
    while (at >= 0 && !list.contains(words_[static_cast<std::size_t>(at)])) --at;
    return at;
  }
  int last_pair(const WordSet& first, const WordSet& second) const {
    int at = static_cast<int>(words_.size()) - 2;
    for (; at >= 0; --at)
      if (const auto i = static_cast<std::size_t>(at);
          first.contains(words_[i]) && second.contains(words_[i + 1]))
        break;
    return std::max(at, -1);
  }
  bool is_rate() const {
    return last_pair({"per"}, time_words) >= 0 || last_pair({"per"}, spent) >= 0 ||
           last_pair(item_words, {"s", "sec", "secs", "second", "seconds"}) >= 0;
  }
  bool is_setting() const {
    return last_pair(setting_words, {"size", "sizes"}) >= 0 ||
           last_pair({"start", "end"}, {"time"}) >= 0;
  }
  bool is_used_resource() const {
    return last_pair(resources, {"util", "utilization", "utilisation"}) >= 0;
  }
  // "min" is rather the least, and "s" a second only at the end and in "s/it".
  bool is_cost() const {
    if (last(cost_words) >= 0 || last(size_words) >= 0) return true;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const bool ends = i + 1 == words_.size() || words_[i + 1] == "per";
      if (time_words.contains(words_[i]) && words_[i] != "min" && (words_[i] != "s" || ends))
        return true;
    }
    return false;
  }

  std::vector<std::string> words_;
};

}  // namespace

bool is_named_by(const std::vector<std::string>& globs, const std::string& metric) {
  // A name such as "GB/s" has no parts, so that `*` matches all of it.
  const auto whole = [](std::string text) {
    std::replace(text.begin(), text.end(), '/', '\n');
    return text;
  };
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return glob_match(whole(glob), whole(metric));
  });
}

Direction direction_of(const std::string& metric, const std::string& unit) {
  const Direction named = NameReader(metric).direction();
  return named == Direction::unknown ? NameReader(unit).direction() : named;
}

Direction direction_of(const std::string& metric, const std::string& unit,
                       const ChosenDirections& chosen) {
  if (is_named_by(chosen.higher, metric)) return Direction::higher_is_better;
  if (is_named_by(chosen.lower, metric)) return Direction::lower_is_better;
  return direction_of(metric, unit);
}

}  // namespace nightjar::cli
