#include "runner/build/locked_packages.hpp"

#include <fstream>
#include <thread>

#include <catch2/catch.hpp>

#include "runner/build/unpack.hpp"
#include "runner/process/failure.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/source_tree.hpp"
#include "tests/web/bad_peer.hpp"

using namespace nightjar;
using namespace nightjar::runner;
namespace fs = std::filesystem;

TEST_CASE("An index that breaks off gives the job back, and one that stands still can be left") {
  using web::Manner;
  const auto manner = GENERATE(Manner::stalls, Manner::drips, Manner::half_closes, Manner::resets);
  CAPTURE(static_cast<int>(manner));
  const web::BadPeer index(manner,
                           "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                           "Content-Length: 100000\r\n\r\n");
  const Scratch folder;
  std::ofstream(folder / "lock") << "--index-url " << index.url() << "/simple\n"
                                 << "helper==1.0 \\\n    --hash=sha256:" << std::string(64, '0')
                                 << "\n";
  const auto tools = nightjar::test::source_tree() / ".cache/tools/bin";
  const Installer with{(tools / "uv").string(), tools / "python", folder / "cache", {}};
  std::stop_source stop;
  const auto install = [&] {
    install_locked(with, folder / "lock", folder / "packages", stop.get_token());
  };
  if (manner == Manner::half_closes || manner == Manner::resets) {
    CHECK_THROWS_AS(install(), TransientFailure);
    return;
  }
  const std::jthread ending([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    stop.request_stop();
  });
  CHECK_THROWS_AS(install(), Stopped);
}

TEST_CASE("A lock with a line that is none of ours is refused before uv is started") {
  const auto line = GENERATE(
      as<std::string>(), "-e /tmp", "-r /etc/passwd", "--find-links /tmp",
      "--no-binary :all:", "helper @ https://host.test/helper.whl", "./helper-1.0-py3-none-any.whl",
      "helper==1.0", "--extra-index-url file:///tmp", "/tmp/evil", "git+http://evil/a",
      "evil==1.0 @ file:///a", "evil", "evil>=1", "  -e /tmp/evil", "-c /tmp/a", "==1", "evil[x",
      "# a comment", "--extra-index-url https://user:secret@host.test/simple");
  CAPTURE(line);
  const Scratch folder;
  std::ofstream(folder / "lock") << "--index-url http://127.0.0.1:9/simple\n"
                                 << "helper==1.0 \\\n    --hash=sha256:" << std::string(64, '0')
                                 << "\n"
                                 << line << "\n";
  const Installer with{"/bin/false", "python3", folder / "cache", {}};
  CHECK_THROWS_AS(install_locked(with, folder / "lock", folder / "packages", {}), BrokenArchive);
}

TEST_CASE("A package stands beside the build, and lays nothing into it") {
  const Scratch scratch;
  const auto put = [&](const std::string& path) {
    fs::create_directories((scratch / path).parent_path());
    std::ofstream(scratch / path) << "x";
  };
  for (const char* path :
       {"build/torch/__init__.py", "build/torch/include/ATen/ATen.h", "build/shared/ours.py",
        "packages/numpy/__init__.py", "packages/shared/theirs.py", "packages/bin/tool"})
    put(path);
  CHECK_NOTHROW(require_apart(scratch / "packages", scratch / "build"));
  const std::string wrong = GENERATE("torch/include/ATen/ATen.h", "torch/include/more.h",
                                     "shared/ours.py", "torch", "shared");
  CAPTURE(wrong);
  put("wrong/" + wrong);
  CHECK_THROWS_AS(require_apart(scratch / "wrong", scratch / "build"), BrokenArchive);
}
