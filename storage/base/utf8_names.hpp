// Lets libarchive read the names of members as they are, whatever locale a program was started in.
// Used wherever an archive is opened; holds for the thread that made it.
#pragma once

#include <locale.h>

namespace nightjar {

// Without UTF-8 in the thread's locale libarchive drops a name that is not ASCII. The rest of the
// process keeps its locale.
class Utf8Names {
 public:
  Utf8Names();
  ~Utf8Names();
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_ = nullptr, before_ = nullptr;
};

}  // namespace nightjar
