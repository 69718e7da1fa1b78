#include <algorithm>
#include <array>

#include "service/builds/overlay.hpp"

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

// Installed as it is. torch/csrc holds generators, torch/version.py is written by the build.
bool is_installed_python(std::string_view path) {
  if (!path.starts_with("torch/") && !path.starts_with("functorch/")) return false;
  if (path.starts_with("torch/csrc/") || path.starts_with("functorch/csrc/")) return false;
  return path.ends_with(".py") || path.ends_with(".pyi") || path.ends_with(".py.jinja");
}

}  // namespace

PathEffect classify(std::string_view path) {
  if (path == "torch/version.py")
    return PathEffect::none;  // what a tree says there is not installed
  if (is_build_recipe(path)) return PathEffect::native;
  if (is_documentation(path) || is_test_or_ci(path)) return PathEffect::none;
  return is_installed_python(path) ? PathEffect::python : PathEffect::native;
}

double risk_prior(std::span<const git::ChangedPath> changed) {
  const bool harmless = std::all_of(
      changed.begin(), changed.end(),
      [](const git::ChangedPath& each) { return classify(each.path) == PathEffect::none; });
  return harmless ? .05 : 1;
}

std::vector<double> risk_prior(const git::CommitGraph& graph,
                               std::span<const git::Commit> commits) {
  std::vector<double> prior;
  for (const git::Commit& commit : commits)
    prior.push_back(commit.parents.empty()
                        ? 1
                        : risk_prior(graph.changed_paths(commit.parents.front(), commit.sha)));
  return prior;
}

}  // namespace nightjar::service
