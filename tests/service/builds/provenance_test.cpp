#include "service/builds/provenance.hpp"

#include <catch2/catch.hpp>

#include "service/builds/origin.hpp"
#include "tests/service/builds/elf_file.hpp"
#include "tests/service/builds/support.hpp"
#include "tests/support/literal_graph.hpp"

using namespace nightjar;
using namespace nightjar::service;
using nightjar::test::library;

namespace {

const std::string gcc13("\0GCC: (GNU) 13.3.1\0", 19);

struct ReadWheel {
  git::LiteralGraph graph;
  CommitSha commit = graph.commit(
      "main", "Begin",
      {{"torch/__init__.py", "#"}, {"torch/csrc/unit.cpp", "//"}, {"torch/template.jinja", "{}"}});

  Provenance of(nightjar::test::Members members) const {
    const nightjar::test::ScratchFolder folder;
    nightjar::test::write_zip(folder / "wheel", members);
    Build build;
    build.commit = commit;
    build.sha256 = Sha256::parse(std::string(64, 'a'));
    return read_provenance(build, folder / "wheel", graph, Project{});
  }
};

std::vector<std::string> names_of(const Provenance& provenance, WheelFileKind kind) {
  std::vector<std::string> names;
  for (const WheelFile& file : provenance.files)
    if (file.kind == kind) names.push_back(file.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a wheel tells its packer, its tags and the compilers of its libraries") {
  const Provenance found = ReadWheel().of(
      {{"torch/lib/libtorch_cpu.so", library(".comment", gcc13 + "clang version 18.1.8" + '\0')},
       {"torch/lib/libc10.so", library(".comment", gcc13)},
       {"torch-2.dist-info/WHEEL",
        "Wheel-Version: 1.0\r\nGenerator: setuptools (81.0.0)\r\nTag: cp311-cp311-linux_x86_64\n"
        "Tag: cp311-cp311-linux_x86_64\n"}});
  CHECK(found.trouble.empty());
  CHECK(found.generator == "setuptools (81.0.0)");
  CHECK(found.tags == Names{"cp311-cp311-linux_x86_64"});
  CHECK(found.compilers == Names{"GCC: (GNU) 13.3.1", "clang version 18.1.8"});
  CHECK(found.flags.empty());
}

TEST_CASE("the flags of the compiler are found in a library, wherever a block ends") {
  const std::string flags = " -fvisibility-inlines-hidden -DUSE_X -O2 -Wall";
  for (const std::size_t before : {0u, 262'100u, 262'144u, 700'000u}) {
    const std::string text = std::string(before, 'x') + '\0' + flags + '\0' + "the next text";
    const Provenance found =
        ReadWheel().of({{"torch/lib/libtorch_cpu.so", library(".rodata", text)}});
    CHECK(found.flags == flags);
  }
}

TEST_CASE("files are told apart by who explains them") {
  const Provenance found = ReadWheel().of({{"torch/__init__.py", "#"},
                                           {"torch/template.jinja", "{}"},
                                           {"torch/generated.py", "#"},
                                           {"torch/include/ATen/ATen.h", "//"},
                                           {"torch/lib/toolchain.txt", "gcc-14\n"},
                                           {"torch/lib/libc10.so", "c10"},
                                           {"torch/_C.cpython-311-x86_64-linux-gnu.so", "C"},
                                           {"torch/bin/protoc", "program"},
                                           {"torch/lib/libgomp.so.1", "omp"},
                                           {"torch/lib/libopenblas.so", "blas"},
                                           {"torch.libs/libgfortran-8f1e9814.so.5.0.0", "f"},
                                           {"torch-2.dist-info/METADATA", "Name: torch"}});
  CHECK(names_of(found, WheelFileKind::own) == Names{"torch/_C.cpython-311-x86_64-linux-gnu.so",
                                                     "torch/bin/protoc", "torch/lib/libc10.so"});
  CHECK(names_of(found, WheelFileKind::bundled) == Names{"torch.libs/libgfortran-8f1e9814.so.5.0.0",
                                                         "torch/lib/libgomp.so.1",
                                                         "torch/lib/libopenblas.so"});
  CHECK(names_of(found, WheelFileKind::foreign) ==
        Names{"torch/generated.py", "torch/lib/toolchain.txt"});
  CHECK(found.more_files == 0);
}

TEST_CASE("Python files outside the tree say nothing where the tree has packages elsewhere") {
  const Provenance found = ReadWheel().of({{"vision/__init__.py", "#"}, {"vision/data.bin", "1"}});
  CHECK(names_of(found, WheelFileKind::foreign) == Names{"vision/data.bin"});
}

TEST_CASE("a file has the size of its content and RECORD's digest") {
  const Provenance found =
      ReadWheel().of({{"torch/lib/libgomp.so.1", "1234567"},
                      {"torch/lib/notes, two.txt", "12"},
                      {"torch-2.dist-info/RECORD",
                       "torch/lib/libgomp.so.1,sha256=abc,7\n"
                       "\"torch/lib/notes, two.txt\",sha256=def,2\ntorch-2.dist-info/RECORD,,\n"}});
  REQUIRE(found.files.size() == 2);
  CHECK(found.files[0] == WheelFile{"torch/lib/libgomp.so.1", 7, "abc", WheelFileKind::bundled});
  CHECK(found.files[1] == WheelFile{"torch/lib/notes, two.txt", 2, "def", WheelFileKind::foreign});
}

TEST_CASE("of very many files the foreign ones are counted beyond what is kept") {
  nightjar::test::Members members{{"torch/lib/libc10.so", "c10"}};
  for (int i = 0; i < 1009; ++i) members.emplace_back("torch/data/" + std::to_string(i), "1");
  const Provenance found = ReadWheel().of(members);
  CHECK(found.files.size() == 1000);
  CHECK(found.more_files == 10);
  CHECK(names_of(found, WheelFileKind::own) == Names{"torch/lib/libc10.so"});
}

TEST_CASE("a wheel that cannot be read says why, and nothing else") {
  const nightjar::test::ScratchFolder folder;
  const auto file = nightjar::test::write_file(folder / "wheel", "no zip");
  ReadWheel world;
  Build build;
  build.commit = world.commit;
  build.sha256 = Sha256::parse(std::string(64, 'a'));
  const Provenance broken = read_provenance(build, file, world.graph, Project{});
  CHECK_FALSE(broken.trouble.empty());
  CHECK(broken.files.empty());
  build.commit = CommitSha::parse(std::string(40, '9'));
  CHECK(read_provenance(build, file, world.graph, Project{}).trouble ==
        "commit 999999999999 is not known here");
}
