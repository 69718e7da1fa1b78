// Runs one workload inside the LibTorch that it was compiled against: `nightjar-native < request`,
// or --list. Exit status 0: it answered, with a result or an error; 2: wrong use.
#include <iostream>
#include <iterator>
#include <string>

#include "harness/process.hpp"
#include "harness/run.hpp"

using namespace nightjar::workloads;

namespace {

int answer(const Channel& channel) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Request request = parse_request(text);
  const Definition definition = find_definition(request.workload, request.version, request.tiny);
  Ready ready = identity();
  ready.settings = settings(request.threads);
  channel.ready(ready);
  channel.result(run(request, definition));
  return 0;
}

int list() {
  for (const auto& name : native_names()) std::cout << name << '\n';
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const bool wants_list = count == 2 && std::string(arguments[1]) == "--list";
  if (count > 1 && !wants_list) {
    std::cerr << "nightjar-native takes a request on standard input, or --list\n";
    return 2;
  }
  steady_allocator();
  const Channel channel;
  try {
    return wants_list ? list() : answer(channel);
  } catch (const BadRequest& error) {
    channel.error("failed", error.what());
    return 2;
  } catch (const std::exception& error) {
    const auto [status, reason] = judge(error);
    channel.error(status, reason);
    return 0;
  }
}
