// Which of the queued jobs that a runner can run goes first: the one with the higher priority. A
// night's jobs have that of any job, 0.
#pragma once

namespace nightjar::service::priority {

inline constexpr int confirmation = 20;
inline constexpr int search = 10;        // and the profiles of what it found
inline constexpr int fix = -5;           // the search for what got better
inline constexpr int calibration = -10;  // no verdict waits for it
inline constexpr int profile = -15;      // nor for the profiles of a night

}  // namespace nightjar::service::priority
