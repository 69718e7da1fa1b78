// A project as small as one can be: a package with one C unit, in a real git repository, whose
// script compiles it into a warm folder and writes a wheel that is right.
#pragma once

#include <cstdlib>
#include <string>

#include "runner/make/make_wheel.hpp"
#include "tests/support/scratch.hpp"

namespace nightjar::runner {

inline constexpr const char* tiny_script = R"(
import base64, glob, hashlib, os, subprocess, sys, zipfile
os.makedirs("warm", exist_ok=True); os.makedirs("dist", exist_ok=True)
unit = "warm/unit.o"
if not os.path.exists(unit) or os.path.getmtime(unit) < os.path.getmtime("unit.c"):
    subprocess.run(["cc", "-c", "unit.c", "-o", unit], check=True)
    print("compiled")
files = {path: open(path, "rb").read() for path in sorted(glob.glob("tiny/*.py"))}
files["tiny/unit.o"] = open(unit, "rb").read()
files["tiny-1.0.dist-info/METADATA"] = b"Name: tiny\nVersion: 1.0\nRequires-Dist: absent_package>=1\n\n"
record = "".join("%s,sha256=%s,%d\n" % (path,
    base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode(), len(text))
    for path, text in files.items())
with zipfile.ZipFile("dist/tiny-1.0-py3-none-any.whl", "w") as wheel:
    for path, text in files.items(): wheel.writestr(path, text)
    wheel.writestr("tiny-1.0.dist-info/RECORD", record + "tiny-1.0.dist-info/RECORD,,\n")
)";

inline constexpr const char* tiny_recipe = R"(
name = "tiny"
module = "tiny"
commands = ["python make.py"]
wheel = "dist/tiny-*.whl"
keep = ["warm"]
)";

class TinyProject {
 public:
  TinyProject() {
    write("make.py", tiny_script);
    write("unit.c", "int unit(void) { return 1; }\n");
    write("tiny/__init__.py", "VALUE = 1\n");
    git("init --quiet -b main .");
    first = commit("Begin");
  }

  void write(const std::string& path, const std::string& text) { spit(repository() / path, text); }
  std::string commit(const std::string& message) {
    git("add -A");
    git("commit --quiet --allow-empty -m '" + message + "'");
    return head();
  }
  std::string commit(const std::string& path, const std::string& text) {
    write(path, text);
    return commit("Change " + path);
  }
  std::string head() {
    git("rev-parse HEAD > '" + (scratch / "head").string() + "'");
    return slurp(scratch / "head").substr(0, 40);
  }
  void git(const std::string& command) const {
    const std::string line = "git -C '" + repository().string() +
                             "' -c user.name=N -c user.email=n@e -c protocol.file.allow=always " +
                             command;
    if (std::system(line.c_str()) != 0) throw std::runtime_error(line);
  }
  std::filesystem::path repository() const { return scratch / "repository"; }

  MakeWheel order(const std::string& revision, const std::string& recipe = tiny_recipe) const {
    return {parse_recipe(recipe, "tiny.toml"),
            repository().string(),
            revision,
            scratch / "work",
            scratch / "out",
            "/usr/bin/python3",
            [](const std::string&) {}};
  }
  MadeWheel make(const std::string& revision, const std::string& recipe = tiny_recipe) const {
    return make_wheel(order(revision, recipe), {});
  }

  const Scratch scratch;
  std::string first;
};

}  // namespace nightjar::runner
