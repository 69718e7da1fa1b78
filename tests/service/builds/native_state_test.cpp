#include "service/builds/native_state.hpp"

#include <catch2/catch.hpp>

#include "service/builds/overlay.hpp"
#include "tests/support/literal_graph.hpp"

using namespace nightjar;
using namespace nightjar::service;

namespace {

// Counts how many folders are read.
struct Counting final : git::CommitGraph {
  explicit Counting(const git::CommitGraph& counted) : graph(counted) {}
  void fetch() override {}
  std::optional<git::Commit> find(const CommitSha& sha) const override { return graph.find(sha); }
  std::optional<CommitSha> resolve(std::string_view text) const override {
    return graph.resolve(text);
  }
  std::optional<std::vector<git::Commit>> range(const CommitSha& good,
                                                const CommitSha& bad) const override {
    return graph.range(good, bad);
  }
  std::vector<git::ChangedPath> changed_paths(const CommitSha& from,
                                              const CommitSha& to) const override {
    return graph.changed_paths(from, to);
  }
  std::vector<git::TreeEntry> entries(const CommitSha& tree) const override {
    ++folders;
    return graph.entries(tree);
  }
  std::optional<std::string> file(const CommitSha& commit, std::string_view path) const override {
    return graph.file(commit, path);
  }
  const git::CommitGraph& graph;
  mutable int folders = 0;
};

struct Tree {
  git::LiteralGraph graph;
  const std::string header = "torch/csrc/api/include/torch/nn.h";
  CommitSha first = graph.commit("main", "Begin",
                                 {{"torch/nn/linear.py", "1"},
                                  {"torch/csrc/engine.cpp", "1"},
                                  {header, "1"},
                                  {"aten/src/ATen/Add.cpp", "1"},
                                  {"docs/index.rst", "1"},
                                  {"test/test_nn.py", "1"}});
  CommitState of(const CommitSha& commit) const { return *NativeStates(graph, {}).of(commit); }
  CommitSha change(const git::LiteralGraph::Changes& changes) {
    return graph.commit("main", "Change", changes);
  }
  bool keeps_native(const git::LiteralGraph::Changes& changes) {
    const CommitSha before = *graph.resolve("main");
    return of(before).native == of(change(changes)).native;
  }
};

}  // namespace

TEST_CASE_METHOD(Tree, "what no compiler sees leaves the native state as it is") {
  CHECK(keeps_native({{"torch/nn/linear.py", "2"}}));
  CHECK(keeps_native({{"docs/index.rst", std::nullopt}, {"docs/new/page.rst", "1"}}));
  CHECK(keeps_native({{"test/cpp/api/nn.cpp", "1"}}));
  CHECK(keeps_native({{"torch/version.py", "1"}}));
  CHECK(of(first).rules == 1);
  CHECK_FALSE(NativeStates(graph, {}).of(*CommitSha::parse(std::string(40, '9'))));
}

TEST_CASE_METHOD(Tree, "what is compiled, its name and its place change the native state") {
  CHECK_FALSE(keeps_native({{"torch/csrc/engine.cpp", "2"}}));
  CHECK_FALSE(keeps_native({{"torch/csrc/new.cpp", "1"}}));
  CHECK_FALSE(keeps_native({{"torch/csrc/new.cpp", std::nullopt}, {"torch/csrc/other.cpp", "1"}}));
  CHECK_FALSE(keeps_native({{"torch/csrc/other.cpp", std::nullopt}}));
  CHECK_FALSE(keeps_native({{"third_party/fbgemm", "pin 2"}}));
  CHECK_FALSE(keeps_native({{".ci/docker/ci_commit_pins/triton.txt", "pin 2"}}));
  CHECK_FALSE(keeps_native({{"tools/autograd/derivatives.yaml", "1"}}));
}

TEST_CASE_METHOD(Tree,
                 "a header of the C++ front end changes the native state, not the libraries'") {
  const CommitSha later = change({{header, "2"}});
  CHECK(of(later).native != of(first).native);
  CHECK(of(later).library == of(first).library);
  const CommitSha core = change({{"c10/core/Device.h", "1"}});
  CHECK(of(core).library != of(later).library);
}

TEST_CASE_METHOD(Tree, "a revert returns to the older group, wherever it lies") {
  const CommitSha changed = change({{"torch/csrc/engine.cpp", "2"}, {"torch/nn/linear.py", "2"}});
  const CommitSha between = change({{"docs/index.rst", "2"}});
  const CommitSha reverted = change({{"torch/csrc/engine.cpp", "1"}});
  CHECK(of(changed).native == of(between).native);
  CHECK(of(reverted).native == of(first).native);
  CHECK(of(reverted).native != of(between).native);
}

TEST_CASE_METHOD(Tree, "the same content below another folder is another state") {
  const CommitSha moved =
      change({{"aten/src/ATen/Add.cpp", std::nullopt}, {"aten/src/ATen/native/Add.cpp", "1"}});
  CHECK(of(moved).native != of(first).native);
  // Folders of equal content are told apart by their paths: one of them is a test's.
  const CommitSha twins = change({{"torch/lib/a/x.cpp", "1"}, {"test/a/x.cpp", "1"}});
  const CommitSha one = change({{"test/a/x.cpp", std::nullopt}});
  CHECK(of(twins).native == of(one).native);
}

TEST_CASE_METHOD(Tree, "a folder that did not change is read once") {
  for (int i = 0; i < 50; ++i) change({{"aten/src/ATen/f" + std::to_string(i) + "/x.cpp", "1"}});
  const CommitSha many = *graph.resolve("main");
  const CommitSha next = change({{"torch/csrc/engine.cpp", "2"}});
  const Counting counting(graph);
  NativeStates states(counting, {});
  const auto before = states.of(many);
  CHECK(counting.folders > 50);
  counting.folders = 0;
  const auto after = states.of(next);
  CHECK(counting.folders == 3);  // the root, torch and torch/csrc
  CHECK(after->native == of(next).native);
  CHECK(before->native == of(many).native);
}
