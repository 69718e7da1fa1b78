// The files of web/ui, put into the program by embed.cmake. Internal to the API.
#pragma once

#include <span>
#include <string_view>

namespace nightjar::service::api {

struct EmbeddedFile {
  std::string_view path;  // "index.html"
  std::string_view content;
};
std::span<const EmbeddedFile> embedded_files();

}  // namespace nightjar::service::api
