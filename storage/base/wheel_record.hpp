// A wheel's RECORD lists what it installs, with hashes and sizes. It shows whether a wheel is
// whole. Used by the service when it proves a wheel, and by runners when they unpack one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nightjar {

// Bytes of the texts that describe a wheel. PyTorch's RECORD has 2 MB, and its METADATA 40 KB.
constexpr std::size_t most_record = 32u << 20, most_metadata = 8u << 20;
constexpr std::size_t most_files = 400'000;  // of a wheel

struct FileContent {
  std::string sha256;  // hexadecimal
  std::int64_t bytes = 0;
};
using Contents = std::map<std::string, FileContent>;  // by path in the wheel or the environment

struct RecordEntry {
  std::string sha256;       // hexadecimal; empty: RECORD gives none, or a hash of another kind
  std::int64_t bytes = -1;  // -1: RECORD gives none
};
using Record = std::map<std::string, RecordEntry>;  // by path, with slashes

struct MalformedRecord : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads what pip and uv read: also with a byte order mark, with backslashes in paths, and with
// padded hashes. Throws MalformedRecord.
Record parse_record(std::string_view text);
// The other way.
std::string record_text(const Record& record);

// What is wrong with the first file that is missing or differs from RECORD; nullopt: all fit.
// Files of .dist-info and byte code may differ or be missing, as pip and uv allow: tools rewrite
// them after RECORD was written. PyTorch's CI lays the Python files of a commit over an older wheel
// and leaves RECORD as it was: where `laid_over`, these may differ too.
std::optional<std::string> record_misfit(const Record& record, const Contents& contents,
                                         bool laid_over = false);

}  // namespace nightjar
