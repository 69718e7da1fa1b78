// Says once that something fails, and once that it works again, however often it is tried. Used by
// what runs again and again: the engine's steps, the daemon's ticks, requests while the database is
// broken.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace nightjar::service {

// Usable from any thread.
class Complaints {
 public:
  // Logs it unless this was the last thing said of `what`. The error is any text of others.
  void fails(const std::string& what, const std::string& with);
  // Logs that `what` works again if it had failed.
  void works(const std::string& what);
  // By what fails now.
  std::map<std::string, std::string> current() const;
  std::optional<std::string> find(const std::string& what) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> failing_;
};

}  // namespace nightjar::service
