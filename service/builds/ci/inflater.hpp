// Unpacks one zip member block by block, however it is packed, and holds it against what the
// directory declares. Pure but for its own state; used by RemoteZip.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "service/builds/ci/zip_format.hpp"

namespace nightjar::service::ci {

class Inflater {
 public:
  // `write` gets the unpacked blocks in order.
  Inflater(const ZipMember& member, std::function<void(std::string_view)> write);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The next packed bytes, cut anywhere. Throws Unusable as soon as they unpack to more than the
  // member declares, or to nothing that makes sense.
  void add(std::string_view packed);
  // Throws Unusable unless all of the member has come and its CRC-32 is right.
  void finish() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::service::ci
