// Which chat is told of findings, and how. Part of the service's configuration.
#pragma once

#include <filesystem>

#include "storage/model/enum.hpp"

namespace nightjar::service {

// slack, mattermost: {"text": ...}, in the markup of each. json: the message's fields.
NIGHTJAR_ENUM(ChatFormat, slack, mattermost, json);

struct ChatConfig {                   // [chat]
  std::filesystem::path url_file;     // its first line is the webhook's address; empty: no chat
  std::filesystem::path secret_file;  // what messages are signed with; empty: they are not
  ChatFormat format = ChatFormat::json;
  bool is_on() const { return !url_file.empty(); }
};

}  // namespace nightjar::service
