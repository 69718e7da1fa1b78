// How a wheel was made, as far as the wheel itself tells: who compiled and packed it, and the files
// that no commit explains. Used to tell wheels apart that were compiled in different ways, and to
// say what differs between two of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/model/enum.hpp"
#include "storage/model/hex.hpp"

namespace nightjar {

// own: a library or program that was compiled from the project's sources. bundled: a library of
// another project that is packed with it, such as an OpenMP runtime. foreign: any other file that
// is neither in the commit's tree nor a header.
NIGHTJAR_ENUM(WheelFileKind, own, bundled, foreign);

struct WheelFile {
  std::string name;
  std::int64_t size_bytes = 0;
  std::string digest;  // as RECORD has it, base64 of SHA-256; empty: RECORD does not say
  WheelFileKind kind = WheelFileKind::own;
  bool operator==(const WheelFile&) const = default;
};

struct Provenance {
  Sha256 wheel;
  std::string generator = {};               // WHEEL's, "setuptools (81.0.0)"; empty: not said
  std::vector<std::string> tags = {};       // WHEEL's, sorted
  std::vector<std::string> compilers = {};  // that its libraries name, sorted; empty: none is named
  std::string flags = {};                   // of the C++ compiler; empty: not found
  std::vector<WheelFile> files = {};        // by name
  int more_files = 0;                       // beyond those that are kept
  std::string trouble = {};                 // why it could not be read: then nothing else is known
  bool operator==(const Provenance&) const = default;
};

}  // namespace nightjar
