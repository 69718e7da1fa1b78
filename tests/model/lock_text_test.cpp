#include "storage/model/lock_text.hpp"

#include <catch2/catch.hpp>

using namespace nightjar;

namespace {

const std::string pinned_hash = "    --hash=sha256:" + std::string(64, 'a');
const std::string pinned_text =
    "--index-url https://last.test/simple\n--extra-index-url https://first.test\n\nnumpy==2.1.0 "
    "\\\n" +
    pinned_hash + " \\\n" + pinned_hash + "\ntorch==2.10.0+cpu \\\n" + pinned_hash + "\n";

}  // namespace

TEST_CASE("a lock as uv writes it is read, and written as it was") {
  const auto lock = parse_lock_text(pinned_text);
  REQUIRE(lock);
  CHECK(lock->indexes ==
        std::vector<std::string>{"https://first.test", "https://last.test/simple"});
  REQUIRE(lock->packages.size() == 2);
  CHECK(lock->packages[0].hashes.size() == 2);
  CHECK(lock->packages[1].package == LockedPackage{"torch", "2.10.0+cpu"});
  CHECK(text_of(*lock) == pinned_text);
  CHECK(parse_lock_text("")->packages.empty());
}

TEST_CASE("a lock with another line is none") {
  const auto line =
      GENERATE(as<std::string>(), "-e /tmp/x", "-r other.txt", "--find-links /tmp",
               "--no-binary :all:", "--trusted-host a.test", "numpy", "numpy==1", "numpy==1 \\",
               "numpy>=1 \\\n    --hash=sha256:", "numpy @ https://a.test/numpy.whl",
               "./numpy-1-py3-none-any.whl", "# a comment", "numpy==1 ; python_version > '3' \\",
               "--index-url https://user:secret@a.test/simple", "--extra-index-url file:///tmp",
               "--index-url https://a.test --find-links /tmp");
  CAPTURE(line);
  CHECK_FALSE(parse_lock_text(pinned_text + line + "\n"));
  CHECK_FALSE(parse_lock_text(pinned_text + line + "\n" + pinned_hash + " -e /tmp\n"));
  CHECK_FALSE(parse_lock_text(pinned_text + line + " \\\n    --hash=md5:00\n"));
}
