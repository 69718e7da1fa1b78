// What one night shows of a series, for screening and for what comes after it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bisect/detection.hpp"
#include "bisect/evidence/evidence.hpp"
#include "bisect/noise_class.hpp"
#include "service/engine/context.hpp"
#include "storage/marks.hpp"
#include "storage/model/job.hpp"
#include "storage/model/night.hpp"
#include "storage/model/series.hpp"

namespace nightjar::service {

struct Observation {
  Series series;
  bisect::DetectionPolicy policy;  // adapted to `noise`
  evidence::Values tonight;
  std::vector<Level> levels;         // newest first, of up to 40 nights
  std::vector<double> level_values;  // of the last 14
  bisect::Screen screen;
  // The last night's build measured again, because the machine's facts changed since. Where both
  // builds are off the level, `again` takes the place of all levels before tonight, and `moved`
  // says by how much the machine moved it, as a ratio.
  std::optional<Level> again{};
  double moved = 1;
  std::string facts_changed{};  // "kernel 6.1.0 → 6.8.0"
  bool suspicious = false;      // a suspicion is open: tonight says nothing new and makes no level
  bool has_level = false;       // tonight made one already
  bool same_build = false;  // the newest level is of tonight's build: tonight compares no builds
  std::optional<storage::Improvement> improved{};  // that tonight shows for the second time
  bisect::SeriesNoise noise{};
  // Those of tonight's session that the series moves with. None if its level is of that session, or
  // if it was unclear for three nights.
  std::vector<ControlReading> controls{};

  bool worse() const { return screen.verdict == bisect::Screen::Verdict::suspect_worse; }
  bool better() const { return screen.verdict == bisect::Screen::Verdict::suspect_better; }
  bool unclear() const { return screen.verdict == bisect::Screen::Verdict::unclear; }
};

// What can move together: one metric on one machine class.
using Group = std::pair<MachineId, std::string>;
using Observations = std::map<Group, std::vector<Observation>>;

// All judged series that have runs in the night's usable sessions.
Observations observe(const EngineView& view, const Night& night, const std::vector<Job>& usable);
// Returns the observations of one metric; none if it is not judged. Their verdicts are the same.
// Their levels do not reach as far back as a creep does, and noise is unknown where no verdict
// depends on it.
Observations observe(const EngineView& view, const Night& night, const std::vector<Job>& usable,
                     const std::string& metric);

// Whether it exceeds twice the standard errors of a suspicion: required where no confirmation
// follows.
bool is_clear(const bisect::Screen& screen, const bisect::DetectionPolicy& policy);

// Tonight's location as the new level; nullopt if the series is under suspicion, or if its newest
// level is of the same build.
std::optional<Level> level_of(const Night& night, const Observation& observed);

// What moved together, if most of a group did: eight or more series of four or more unrelated
// models. Then the machine moved, or one cause moved them all.
// Unclear series count, but are not held. Where the group is together by them alone, and one is
// worse, `held` is there so that a few of it are looked into. Its levels stay: the control says
// that tonight's machine was another one, which is no level to begin again from.
struct MovedTogether {
  std::vector<const Observation*> held;  // worse or better, the clearest first; empty: none is
  std::size_t count = 0;                 // all that moved
  bool begins_again = false;             // they did without the unclear ones
};
MovedTogether moved_together(const std::vector<Observation>& group);

}  // namespace nightjar::service
