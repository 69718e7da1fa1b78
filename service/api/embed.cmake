# cmake -DOUTPUT=FILE.cpp "-DFILES=path=file;..." -P embed.cmake: writes embedded_files().
set(arrays "")
set(entries "")
set(number 0)
foreach(pair ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${pair}")
  set(path "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char file_${number}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${path}\", {file_${number}, sizeof file_${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made by service/api/embed.cmake.
#include \"service/api/embedded.hpp\"

namespace nightjar::service::api {
namespace {
${arrays}
constexpr EmbeddedFile files[] = {
${entries}};
}  // namespace

std::span<const EmbeddedFile> embedded_files() { return files; }

}  // namespace nightjar::service::api
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
