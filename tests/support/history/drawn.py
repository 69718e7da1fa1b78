"""What is true in a made history: machine classes, workloads, commits, and the changes that commits
bring. Drawn from a seed; everything measured follows from it."""

import dataclasses
import datetime
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "deploy" / "demo.d"))

import people

VARIANT = "cu130"
DAY = datetime.timedelta(days=1)
GIB = 2 ** 30

# Name, facts, noise of a session and how fast it is.
CLASSES = [
    ("epyc", {"cpu_model": "AMD EPYC 9R14", "cpu_count": "8", "gpu": "none"}, .004, 1.0),
    ("xeon", {"cpu_model": "Intel Xeon Platinum 8488C", "cpu_count": "8", "gpu": "none"},
     .006, 1.1),
    ("a100", {"cpu_model": "AMD EPYC 7V12", "cpu_count": "24", "gpu": "NVIDIA A100-SXM4-40GB"},
     .005, 1.2),
    ("h100", {"cpu_model": "Intel Xeon Platinum 8480C", "cpu_count": "26",
              "gpu": "NVIDIA H100 80GB HBM3"}, .004, .9),
    ("l4", {"cpu_model": "Intel Xeon Platinum 8481C", "cpu_count": "8", "gpu": "NVIDIA L4"},
     .009, 1.9),
    ("rtx", {"cpu_model": "AMD EPYC 7443P", "cpu_count": "16",
             "gpu": "NVIDIA GeForce RTX 4090"}, .007, 1.0),
]
CPU_CLASSES, GPU_CLASSES = (0, 1), (2, 3, 4, 5)
VISION, VISION_CLASSES = ("vit_b16", "detr_resnet50"), (2, 4)
BACKENDS = ("eager", "inductor", "inductor-reduce-overhead")

SUBJECTS = [
    "[inductor] Fuse pointwise ops into {} reductions", "[dynamo] Guard on {} only once",
    "Use a strided loop in {} on CPU", "[MPS] Add {} for integer types",
    "Fix a dtype promotion in {}", "[export] Serialise {} by its qualified name",
    "Move {} to the structured kernel", "[ROCm] Enable {} tests", "Add a missing check to {}",
    "[inductor] Pad the inner dimension of {}", "Update the pin of {}",
    "[aot autograd] Keep fewer activations for {}", "Vectorise {} for bfloat16",
    "[c10d] Coalesce {} over buckets", "Deprecate the old signature of {}",
    "[docs] Explain when {} copies", "[caching allocator] Round {} blocks to 2 MiB",
    "Speed up {} for channels-last input", "[CI] Shard the tests of {}", "Revert \"Speed up {}\"",
]
WORDS = ["softmax", "layer_norm", "scatter_add", "index_put", "cumsum", "embedding_bag", "conv2d",
         "upsample", "batch_norm", "attention", "gelu", "foreach_add", "addmm", "max_pool2d",
         "gather", "nll_loss", "group_norm", "matmul", "all_reduce", "clip_grad_norm"]


# What may make a metric worse, by device and backend where that matters. A commit that does nothing
# of the kind is blamed for nothing.
WORSE = {
    "latency": {
        "cpu": ["Use a strided loop in {} on CPU", "Check the arguments of {} before each call"],
        "cuda": ["Launch {} with fewer threads a block", "Synchronise after {} to check indices"],
        "inductor": ["[inductor] Fuse pointwise ops into {} reductions",
                     "[inductor] Pad the inner dimension of {}"]},
    "peak_gpu_memory": ["[autograd] Keep the input of {} for the backward pass",
                        "[caching allocator] Round {} blocks to 2 MiB"],
    "compile_time": ["[inductor] Autotune {} over more configurations",
                     "[dynamo] Guard on {} at each call"],
}
BETTER = {"latency": "Speed up {}", "peak_gpu_memory": "[autograd] Keep fewer activations for {}",
          "compile_time": "[dynamo] Guard on {} only once"}
# What a device computes in.
PRECISIONS = {"cpu": {"fp32", "bf16"}, "cuda": {"fp32", "bf16", "fp16"}}


@dataclasses.dataclass
class Commit:
    index: int
    sha: str
    subject: str
    author: str
    at: datetime.datetime
    night: int  # the first night whose build has it


@dataclasses.dataclass
class Change:
    """A step that the commit brings to some series, and takes away at `end` (a commit's index)."""
    commit: int
    end: int
    factor: float
    metric: str
    workloads: frozenset
    state: str = ""
    machine: int | None = None  # the only class that shows it; None: all that measure the workloads

    @property
    def is_chance(self):
        """No commit did it."""
        return self.state in ("dismissed", "unconfirmed")

    @property
    def fix(self):
        """The step to the better that it is or ends with; None: neither."""
        if self.state == "recovered":
            return dataclasses.replace(self, commit=self.end, factor=1 / self.factor)
        return self if self.state == "better" else None


@dataclasses.dataclass
class Workload:
    id: int
    name: str
    seconds: float
    bytes: float
    noise: float
    classes: tuple
    metrics: tuple
    fails: str = ""  # how each of its runs ends; empty: it is measured

    @property
    def device(self):
        return self.name.split("/")[3]


class Truth:
    """Days, commits, workloads and changes of one history."""

    def __init__(self, random, nights, workloads, now):
        self.random, self.now = random, now
        # Nothing of the newest night is later than seven hours after its begin, or than now.
        today = (now - datetime.timedelta(hours=7.5)).replace(hour=0, minute=30, second=0,
                                                              microsecond=0)
        self.days = [today - DAY * (nights - 1 - n) for n in range(nights)]
        self.commits = []
        self._models = {}  # name -> seconds and bytes of an iteration
        self._causes = set()  # commits that change something
        self.workloads = self._workloads(workloads)
        self._commits()
        self.changes = self._changes()
        self._by_series = {}
        for change in self.changes:
            for workload in change.workloads:
                self._by_series.setdefault((workload, change.metric), []).append(change)

    def _workloads(self, count):
        """The catalog's own names on their device, and on GPUs in more precisions and backends."""
        file = ROOT / "runner" / "workloads" / "workloads.json"
        names = [item["name"] for item in json.loads(file.read_text())["items"]]
        names = [n for n in names if not n.startswith("native/")]
        parts = [n.split("/") for n in names]
        for precision, backend in (("fp32", "eager"), ("bf16", "eager"), ("bf16", "inductor"),
                                   ("fp16", "inductor"), ("fp32", "inductor")):
            names += ["/".join((*p[:3], "cuda", precision, p[5], backend)) for p in parts]
        names += ["/".join((*p[:3], "cpu", "fp32", p[5], "inductor")) for p in parts]
        names = [n for n in dict.fromkeys(names)
                 if n.split("/")[4] in PRECISIONS[n.split("/")[3]]]
        cpu = [n for n in names if "/cpu/" in n]
        gpu = [n for n in names if "/cuda/" in n]
        self.random.shuffle(cpu), self.random.shuffle(gpu)
        share = min(len(cpu), max(2, count * 2 // 5))
        all = sorted(cpu[:share] + gpu[:max(1, count - share)])
        return [self._workload(i + 1, n) for i, n in enumerate(all)] + self._vision(len(all))

    def _vision(self, known):
        """A corner of the vision tables: models by batch and backend, one that is too large."""
        names = [f"hf/{model}-small/eval/cuda/fp16/b{batch}/{backend}"
                 for model in VISION for batch in (1, 4, 16) for backend in BACKENDS]
        made = [dataclasses.replace(self._workload(known + 1 + i, n), classes=VISION_CLASSES)
                for i, n in enumerate(names)]
        for workload in made:
            batch = int(workload.name.split("/")[5][1:])
            workload.seconds *= batch ** .8
            if batch == 16 and VISION[-1] in workload.name:
                workload.fails, workload.metrics = "out_of_memory", ("failures",)
        return made

    def _workload(self, id, name):
        cuda, compiled = "/cuda/" in name, "/inductor" in name
        metrics = ["latency", "peak_gpu_memory" if cuda else "peak_cpu_memory", "failures"]
        if compiled:
            metrics.append("compile_time")
        some = self.random.sample(GPU_CLASSES if cuda else CPU_CLASSES,
                                  self.random.choice((1, 2, 2)))
        # Backends of one model differ by a factor, not by chance.
        model = self._models.setdefault(name.split("/")[1], (
            self.random.lognormvariate(-4, 1.1), self.random.lognormvariate(0, .9) * GIB))
        seconds = model[0] * (.3 if cuda else 1) * (2.6 if "/train/" in name else 1)
        seconds *= self.random.uniform(.5, 1.05) if compiled else 1
        seconds *= 1 if "/fp32/" in name else .6
        return Workload(id, name, seconds, model[1] * (self.random.uniform(.8, 1.1)
                                                       if compiled else 1),
                        self.random.lognormvariate(-4.6, .5), tuple(sorted(some)), tuple(metrics))

    def _commits(self):
        """Two days of seven are quiet, whatever today is: one seed draws the same every day."""
        number = 151000
        for night, day in enumerate(self.days):
            busy = self.random.randint(9, 26) if night % 7 < 5 else self.random.randint(3, 8)
            at = day - DAY + datetime.timedelta(hours=1)
            for _ in range(busy):
                number += self.random.randint(1, 9)
                at += datetime.timedelta(minutes=self.random.randint(5, 22 * 60 // busy))
                subject = self.random.choice(SUBJECTS).format(self.random.choice(WORDS))
                self.commits.append(Commit(len(self.commits), "", f"{subject} (#{number})",
                                           self.random.choice(people.NAMES), at, night))

    def of_night(self, night):
        return [c for c in self.commits if c.night == night]

    def _changes(self):
        """About one step in nine nights; the newest nights have one in each state that passes."""
        draw, last = self.random, len(self.days) - 1
        ends = ["reported"] * 8 + ["recovered"] * 8 + [
            "better"] * 5 + ["range", "merged", "inconclusive", "unattributed", "dismissed",
                             "dismissed", "unconfirmed"]
        # Each state once at least, however short the history is.
        wanted = list(dict.fromkeys(ends)) + [
            draw.choice(ends) for _ in range(max(0, last // 9 - len(set(ends))))]
        draw.shuffle(wanted)
        # The first one is reported, so that there is one that others can be merged into.
        wanted.remove("reported")
        wanted.insert(0, "reported")
        span = max(1, (last - 6) // len(wanted))
        made = [self._change(4 + i * span + draw.randrange(span), state)
                for i, state in enumerate(wanted) if 4 + (i + 1) * span < last]
        fresh = [(last - 1, "reported"), (last - 1, "better"), (last - 1, "bisecting"),
                 (last, "confirmed"), (last, "suspected")]
        return made + [self._change(night, state) for night, state in fresh]

    def _change(self, night, state):
        draw = self.random
        some = [c for c in self.of_night(night)[1:-1] or self.of_night(night)
                if c.index not in self._causes]
        commit = draw.choice(some or self.of_night(night))
        metric = draw.choice(["latency"] * 5 + ["peak_gpu_memory", "compile_time"])
        if state in ("dismissed", "unconfirmed"):
            metric = "latency"  # a disturbed machine takes longer, and no more memory
        able = [w for w in self.workloads if metric in w.metrics and not w.fails]
        metric = metric if metric in able[0].metrics else "latency"
        seed = draw.choice(able)
        like = [w for w in able if w.device == seed.device and
                (w.name.split("/")[1] == seed.name.split("/")[1] or
                 w.name.split("/")[2:] == seed.name.split("/")[2:])]
        some = {w.id for w in draw.sample(like, min(len(like), draw.choice((1, 2, 4, 9))))}
        factor = 1 + draw.choice((.12, .14, .16, .18, .25, .4)) * draw.uniform(.9, 1.1)
        if state == "better":
            factor = 1 / factor
        if state in ("dismissed", "unconfirmed"):
            factor = 1.0
        end = len(self.commits)
        if state in ("recovered", "inconclusive"):
            # Early enough that nights after it make levels again.
            back = max(night + 1, min(len(self.days) - 6, night + draw.randint(2, 20)))
            end = self.of_night(back)[0].index
        hit = frozenset(some | {seed.id})
        # The finding has one class, and says of the others that they do not show it.
        machine = None if state == "better" else self.workloads[min(hit) - 1].classes[0]
        made = Change(commit.index, end, factor, metric, hit, state, machine)
        if not made.is_chance:
            self._name_cause(made, self.workloads[min(hit) - 1])
        return made

    def _name_cause(self, change, lead):
        """Gives the commit a subject that says what it did, and its repair one that says so."""
        self._causes.add(change.commit)
        commit, device = self.commits[change.commit], lead.device
        word = WORDS[commit.index % len(WORDS)]
        number = commit.subject.rpartition(" ")[2]
        if change.state == "better":
            commit.subject = f"{BETTER[change.metric].format(word)} {number}"
            return
        choice = WORSE[change.metric]
        if isinstance(choice, dict):
            choice = choice["inductor" if "/inductor" in lead.name else device]
        commit.subject = f"{choice[commit.index % len(choice)].format(word)} {number}"
        if change.end < len(self.commits):
            repair = self.commits[change.end]
            self._causes.add(change.end)
            repair.subject = (f'Revert "{commit.subject.rpartition(" ")[0]}" '
                              f'{repair.subject.rpartition(" ")[2]}')

    def level(self, workload, metric, machine, commit):
        """What an undisturbed run on this commit says, in the metric's unit."""
        base = {"latency": workload.seconds * CLASSES[machine][3],
                "compile_time": 4 + 900 * workload.seconds}.get(metric, workload.bytes)
        for change in self._by_series.get((workload.id, metric), ()):
            if change.commit <= commit < change.end and change.machine in (None, machine):
                base *= change.factor
        return base

    def run(self, workload, metric, machine, commit, session=1.0):
        """One run's value: `session` is what all runs of its session share."""
        if metric == "failures":
            return 1.0  # it passes
        level = self.level(workload, metric, machine, commit)
        if "memory" in metric:
            return level * (1 + abs(self.random.gauss(0, .0008)))
        return level * session * (1 + self.random.gauss(0, workload.noise))
