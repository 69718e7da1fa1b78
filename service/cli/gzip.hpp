// Files that were compressed, as an archive of results often is. Used wherever a file is read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace nightjar::cli {

bool is_gzip(std::string_view text);
// Without the ending ".gz": its name tells what the file is all the same.
std::filesystem::path without_gz(const std::filesystem::path& path);
// Runs the program gzip. Throws std::invalid_argument if there is none, if the file is damaged, or
// if it holds more than `most` bytes.
std::string from_gzip(const std::string& text, std::size_t most);

}  // namespace nightjar::cli
