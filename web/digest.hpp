// SHA-256 of bytes that come piece by piece; for downloads.
#pragma once

#include <memory>
#include <string_view>

#include "storage/model/hex.hpp"

namespace nightjar::web {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  void add(std::string_view bytes);
  Sha256 finish();  // once, last

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nightjar::web
