#include "runner/process/spawn.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

#include "storage/base/child.hpp"

namespace nightjar::runner {

Spawned spawn(const ProcessSpec& spec, const Confinement* confinement, const MemoryGroup* group) {
  Spawned out;
  const auto refuse = [&](int error) -> Spawned&& {
    out.error = "cannot start " + spec.command.at(0) + ": " + std::strerror(error);
    return std::move(out);
  };
  auto input = open_pipe(), output = open_pipe(), protocol = open_pipe();
  if (!input || !output || !protocol) return refuse(errno);
  ::fcntl(input->read.get(), F_SETFL, 0);  // the child's end blocks, ours does not
  ::fcntl(input->write.get(), F_SETFL, O_NONBLOCK);
  const int heard = output->write.get(), reported = protocol->write.get();
  std::vector<int> descriptors{input->read.get(), heard, heard, reported};
  if (spec.output_is_protocol) descriptors = {input->read.get(), reported, heard};
  ChildSpec child{.command = spec.command,
                  .environment = {},
                  .descriptors = std::move(descriptors),
                  .folder = spec.folder,
                  .cpus = spec.cpus,
                  .nice = spec.nice,
                  .expendable = true};
  if (group) child.group = group->entrance();
  // Confined, the variables are the command's alone: LD_LIBRARY_PATH names what is not trusted.
  if (confinement) {
    child.command = confined_command(spec, *confinement);
    child.folder = "/";
  } else {
    for (const auto& [name, value] : spec.environment)
      child.environment.push_back(name + "=" + value);
  }
  const Child started = start_child(child);
  if (started.error != 0) return refuse(started.error);
  out.pid = started.pid;
  out.input = std::move(input->write);
  out.output = std::move(output->read);
  out.protocol = std::move(protocol->read);
  return out;
}

}  // namespace nightjar::runner
