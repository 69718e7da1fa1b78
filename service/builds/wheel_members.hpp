// The members of a wheel, each read once from its beginning to its end and never held in memory
// whole. Used by wheel.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "storage/base/wheel_record.hpp"

namespace nightjar::service {

// Something is wrong with the wheel itself, and trying again will not help. The message is a
// sentence without the path.
struct BadWheel : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// How many bytes the text of the member with this name may have; 0: its text is not wanted.
using TextLimit = std::function<std::size_t(const std::string& name)>;

// wanted_texts: the other members are listed without size and hash, and not looked into.
enum class Reading { whole, wanted_texts };

struct WheelMembers {
  Contents files;                            // of all of them
  std::map<std::string, std::string> texts;  // of those that were wanted
};

// Reads the whole archive, and so sees one that was cut off or damaged anywhere. Of members with
// one name the last counts, as for pip and uv; with another content it is refused, since tools may
// differ in which they take. Throws BadWheel, also for a member that has no business in a wheel, or
// std::runtime_error with the path if the file cannot be opened, or once `stop` is requested: an
// archive of megabytes may unpack to what takes minutes.
WheelMembers read_members(const std::filesystem::path& wheel, const TextLimit& most_text,
                          Reading reading = Reading::whole, const std::stop_token& stop = {});

}  // namespace nightjar::service
