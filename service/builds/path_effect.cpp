#include <algorithm>
#include <array>

#include "service/builds/overlay.hpp"
#include "storage/base/digest.hpp"

namespace nightjar::service {

namespace {

template <std::size_t n>
bool starts_with_any(std::string_view path, const std::array<std::string_view, n>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return path.starts_with(prefix); });
}

// Recipes and pins of the wheels themselves, among files that are CI's otherwise: what they change,
// an overlay would not show.
bool is_build_recipe(std::string_view path) {
  constexpr std::array<std::string_view, 7> recipes = {
      ".ci/docker/",
      ".ci/manywheel/",
      ".ci/wheel/",
      ".ci/pytorch/build",
      ".ci/libtorch/",
      ".github/scripts/generate_binary_build_matrix",
      ".github/workflows/generated-linux-binary"};
  return starts_with_any(path, recipes);
}

bool is_documentation(std::string_view path) {
  constexpr std::array<std::string_view, 5> root = {"CODEOWNERS", "LICENSE", "NOTICE",
                                                    "CITATION.cff", "GLOSSARY"};
  return path.starts_with("docs/") || path.ends_with(".md") || path.ends_with(".rst") ||
         starts_with_any(path, root);
}

bool is_test_or_ci(std::string_view path) {
  constexpr std::array<std::string_view, 17> folders = {
      "test/",       "tests/",         "benchmarks/",  "mypy_plugins/", "tools/linter/",
      "tools/test/", "tools/testing/", "tools/stats/", ".ci/",          ".github/",
      ".circleci/",  ".devcontainer/", ".vscode/",     ".claude/",      "pytest.ini",
      "mypy",        "pyrefly.toml"};
  constexpr std::array<std::string_view, 8> dot_files = {".lintrunner",    ".flake8",
                                                         ".clang-",        ".gitignore",
                                                         ".gitattributes", ".git-blame-ignore-revs",
                                                         ".editorconfig",  ".pre-commit"};
  const bool native_test =
      !path.starts_with("torch/") && path.find("/test/") != std::string_view::npos;
  return starts_with_any(path, folders) || starts_with_any(path, dot_files) || native_test;
}

// What setup.py lists as package_data and no compiler reads. Its globs, where `folder` holds the
// file itself.
bool is_package_data(std::string_view path) {
  struct Data {
    std::string_view folder, suffix;
  };
  constexpr std::array<Data, 14> data = {{{"torch/", "py.typed"},
                                          {"torch/_inductor/codegen/", ".h"},
                                          {"torch/_inductor/codegen/aoti_runtime/", ".h"},
                                          {"torch/_inductor/codegen/aoti_runtime/", ".cpp"},
                                          {"torch/_inductor/", "script.ld"},
                                          {"torch/_inductor/kernel/templates/", ".jinja"},
                                          {"torch/_export/serde/", ".yaml"},
                                          {"torch/_export/serde/", ".thrift"},
                                          {"torch/utils/benchmark/utils/", ".cpp"},
                                          {"torch/utils/benchmark/utils/valgrind_wrapper/", ".cpp"},
                                          {"torch/utils/benchmark/utils/valgrind_wrapper/", ".h"},
                                          {"torch/utils/model_dump/", "skeleton.html"},
                                          {"torch/utils/model_dump/", "code.js"},
                                          {"torch/utils/model_dump/", ".mjs"}}};
  if (path == "torch/_dynamo/graph_break_registry.json") return true;
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  return std::any_of(data.begin(), data.end(), [&](const Data& one) {
    return folder == one.folder && path.substr(folder.size()).ends_with(one.suffix);
  });
}

// Installed as it is. torch/csrc holds generators, torch/version.py is written by the build.
bool is_installed(std::string_view path) {
  if (!path.starts_with("torch/") && !path.starts_with("functorch/")) return false;
  if (path.starts_with("torch/csrc/") || path.starts_with("functorch/csrc/")) return false;
  return path.ends_with(".py") || path.ends_with(".pyi") || path.ends_with(".py.jinja") ||
         is_package_data(path);
}

// Whether it is a header of LibTorch's C++ front end. Other headers that the wheel ships (c10,
// ATen, torch/csrc) are included by nearly all that is compiled, so they are native.
bool is_front_end_header(std::string_view path) {
  return path.starts_with("torch/csrc/api/include/") &&
         (path.ends_with(".h") || path.ends_with(".hpp") || path.ends_with(".cuh"));
}

PathEffect effect_in_pytorch(std::string_view path) {
  if (path == "torch/version.py")
    return PathEffect::none;  // what a tree says there is not installed
  if (is_build_recipe(path)) return PathEffect::native;
  if (is_documentation(path) || is_test_or_ci(path)) return PathEffect::none;
  if (is_front_end_header(path)) return PathEffect::header;
  return is_installed(path) ? PathEffect::python : PathEffect::native;
}

// What most projects keep outside of their package for people and for CI.
bool is_beside_the_code(std::string_view path) {
  constexpr std::array<std::string_view, 19> folders_and_files = {
      "test/",     "tests/",       "benchmark/",  "benchmarks/",   "example/",
      "examples/", "docs/",        "doc/",        ".ci/",          ".github/",
      ".gitlab",   ".circleci/",   ".vscode/",    ".gitignore",    ".gitattributes",
      ".flake8",   ".pre-commit-", ".clang-tidy", ".readthedocs.y"};
  constexpr std::array<std::string_view, 10> texts = {
      "README",  "CHANGELOG",    "CHANGES",  "LICENSE",    "NOTICE",
      "AUTHORS", "CONTRIBUTING", "CITATION", "CODEOWNERS", "SECURITY"};
  const bool in_root = path.find('/') == std::string_view::npos;
  return starts_with_any(path, folders_and_files) || path.ends_with(".md") ||
         path.ends_with(".rst") || (in_root && starts_with_any(path, texts));
}

PathEffect effect_in(const Project& project, std::string_view path) {
  if (!project.version_file.empty() && path == project.version_file) return PathEffect::none;
  const bool installed =
      std::any_of(project.overlay.begin(), project.overlay.end(),
                  [&](const std::string& folder) { return path.starts_with(folder); });
  if (installed)  // data that the package reads may be anything
    return path.ends_with(".py") || path.ends_with(".pyi") ? PathEffect::python
                                                           : PathEffect::native;
  return is_beside_the_code(path) ? PathEffect::none : PathEffect::native;
}

constexpr int pytorch_rules = 1;  // rises when effect_in_pytorch() puts a path elsewhere
constexpr int other_rules = 1;    // the same for effect_in()

}  // namespace

PathEffect classify(std::string_view path, const Project& project) {
  return project.is_pytorch() ? effect_in_pytorch(path) : effect_in(project, path);
}

std::string installed_path(std::string_view path, const Project& project) {
  const bool header = classify(path, project) == PathEffect::header;
  return (header ? "torch/include/" : "") + std::string(path);
}

int path_rules(const Project& project) {
  if (project.is_pytorch()) return pytorch_rules;
  std::vector<std::string> folders = project.overlay;
  std::sort(folders.begin(), folders.end());
  Digest rules;  // of all that effect_in() looks at
  rules.add(std::to_string(other_rules) + '\0' + project.version_file + '\0');
  for (const std::string& folder : folders) rules.add(folder + '\0');
  const auto number = std::stoul(rules.hex().str().substr(0, 8), nullptr, 16);
  return static_cast<int>(number >> 2 | 1u << 30);  // far from PyTorch's small numbers
}

double risk_prior(std::span<const git::ChangedPath> changed, const Project& project) {
  const bool harmless =
      std::all_of(changed.begin(), changed.end(), [&](const git::ChangedPath& each) {
        return classify(each.path, project) == PathEffect::none;
      });
  return harmless ? .05 : 1;
}

std::vector<double> risk_prior(const git::CommitGraph& graph, std::span<const git::Commit> commits,
                               const Project& project) {
  std::vector<double> prior;
  for (const git::Commit& commit : commits)
    prior.push_back(
        commit.parents.empty()
            ? 1
            : risk_prior(graph.changed_paths(commit.parents.front(), commit.sha), project));
  return prior;
}

}  // namespace nightjar::service
