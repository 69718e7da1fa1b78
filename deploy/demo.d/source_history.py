"""A day of torch_spline_conv as a git repository: the package's source distribution with generated
commits, some of them Python, some C++, one of them a slow-down in C++. Pure but for write()."""

import datetime
import random
import tarfile

import history
import people
from commits import Commit

ROOT_FOLDER = "torch_spline_conv-1.2.2/"
LEFT_OUT = ("PKG-INFO", "torch_spline_conv.egg-info/")  # made by packaging, not in the repository
WEIGHTING = "csrc/cpu/weighting_cpu.cpp"
BASIS = "csrc/cpu/basis_cpu.cpp"

# (subject, path, text, its replacement). Each finds its text whatever came before it.
EDITS = [
    ("Say what spline_basis returns", "torch_spline_conv/basis.py",
     "    return torch.ops.torch_spline_conv.spline_basis(",
     "    # The bases of each edge, and the weights that they belong to.\n"
     "    return torch.ops.torch_spline_conv.spline_basis("),
    ("Name the operator in spline_weighting", "torch_spline_conv/weighting.py",
     "    return torch.ops.torch_spline_conv.spline_weighting(",
     "    # csrc/weighting.cpp registers it.\n"
     "    return torch.ops.torch_spline_conv.spline_weighting("),
    ("Rename the degree in spline_conv", "torch_spline_conv/conv.py",
     "        deg = out.new_zeros(N).scatter_add_(0, row, ones)\n"
     "        out = out / deg.unsqueeze(-1).clamp_(min=1)\n",
     "        count = out.new_zeros(N).scatter_add_(0, row, ones)\n"
     "        out = out / count.unsqueeze(-1).clamp_(min=1)\n"),
    ("Unpack the edges at once", "torch_spline_conv/conv.py",
     "    row, col = edge_index[0], edge_index[1]\n    N, E, M_out =",
     "    row = edge_index[0]\n    col = edge_index[1]\n    N, E, M_out ="),
    ("Make the tested dtypes a tuple", "torch_spline_conv/testing.py",
     "dtypes = [torch.float, torch.double, torch.bfloat16]",
     "dtypes = (torch.float, torch.double, torch.bfloat16)"),
    ("Mark the dimensions of the weighting as constant", WEIGHTING,
     "  auto E = x.size(0);\n  auto M_in = x.size(1);\n  auto M_out = weight.size(2);\n",
     "  const auto E = x.size(0);\n  const auto M_in = x.size(1);\n"
     "  const auto M_out = weight.size(2);\n"),
    ("Spell out the sum of the weighting", WEIGHTING, "          v += tmp;",
     "          v = v + tmp;"),
    ("Spell out the gradient of the basis", WEIGHTING, "            b += w;",
     "            b = b + w;"),
    ("Mark the number of edges as constant in the basis", BASIS,
     "  auto E = pseudo.size(0);", "  const auto E = pseudo.size(0);"),
    ("Begin the basis as a fraction", BASIS, "b = (scalar_t)1.;", "b = (scalar_t)1.0;"),
    ("Keep cuda_version to its file", "csrc/version.cpp",
     "int64_t cuda_version() {", "static int64_t cuda_version() {"),
    ("Say in the README what it is for", "README.md", "# Spline", "<!-- for graphs -->\n# Spline"),
]
TEXTS = [  # whole files that no build sees
    ("Test an empty graph", "test/test_empty.py",
     "def test_empty():\n    assert not []\n"),
    ("Benchmark larger kernels", "benchmark/kernels.py", "KERNELS = [3, 5, 7]\n"),
    ("Keep notes of the release", "CHANGELOG.md", "# Changes\n\n- nothing yet\n"),
]
CULPRIT = (
    "Check the index of each weight", WEIGHTING,
    "          for (int64_t m_in = 0; m_in < M_in; m_in++) {\n            auto tmp =\n",
    "          for (int64_t m_in = 0; m_in < M_in; m_in++) {\n"
    "            CHECK_INPUT(wi >= 0 && wi < weight.size(0) && m_in < weight.size(1));\n"
    "            CHECK_INPUT(e < x.size(0) && m_out < weight.size(2) && s < basis.size(1));\n"
    "            auto tmp =\n")


def files_of(archive):
    """The files of the source distribution, as its repository has them: path to bytes."""
    with tarfile.open(archive) as tar:
        files = {member.name.removeprefix(ROOT_FOLDER): tar.extractfile(member).read()
                 for member in tar.getmembers() if member.isfile()}
    return {path: data for path, data in files.items() if not path.startswith(LEFT_OUT)}


def _edit(files, subject, path, old, new):
    if old.encode() not in files[path]:
        raise ValueError(f"the edit '{subject}' does not find its text in {path}")
    files[path] = files[path].replace(old.encode(), new.encode(), 1)
    return Commit(subject, f"In {path}.", {path: files[path]})


def draw_day(files, seed, start, end):
    """The commits of the day, between two times. One has the metric that it makes worse."""
    rng = random.Random(seed)
    kinds = [("edit", edit) for edit in EDITS] + [("text", text) for text in TEXTS]
    rng.shuffle(kinds)
    kinds.insert(rng.randrange(3, len(kinds) - 2), ("culprit", CULPRIT))
    files, day = dict(files), []
    for kind, made in kinds:
        if kind == "text":
            subject, path, text = made
            commit = Commit(subject, f"Adds {path}.", {path: text.encode()})
        else:
            commit = _edit(files, *made)
        commit.metric = "latency" if kind == "culprit" else None
        commit.author = rng.choice(people.NAMES)
        day.append(commit)
    times = sorted(rng.sample(range(start + 600, end), len(day) - 1)) + [end]
    for commit, at in zip(day, times):
        commit.at = at
    return day


def write(archive, repository, seed, today):
    """Writes the repository. Returns its commits, the last of yesterday first, and those planted:
    [{"commit", "metric", "subject"}]."""
    noon = int(datetime.datetime(today.year, today.month, today.day, 7, 30,
                                 tzinfo=datetime.timezone.utc).timestamp())
    files = files_of(archive)
    root = Commit("Import torch_spline_conv 1.2.2", "Its source distribution.", files,
                  people.NAMES[0], noon - 86400)
    day = draw_day(files, seed, noon - 86400, noon)
    history.make(repository)
    shas = history.write_main(repository, [root, *day])
    return shas, [{"commit": sha, "metric": commit.metric, "subject": commit.subject}
                  for sha, commit in zip(shas[1:], day) if commit.metric]
