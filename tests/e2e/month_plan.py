"""What is planted in a month, day by day, and what should be heard of it."""

from month import Cause, date_of, workloads_of
from month_ear import Said

BOTH, GPUS = ("epyc", "xeon"), ("h100", "a100")
SLOW, FINE = "slow\n", "fine\n"
CAUSES = {cause.name: cause for cause in (
    Cause("gather", "torch/gather.py", "slow", "python/dlrm/**", {"factors": {"latency": 1.15}},
          BOTH),
    Cause("cache", "torch/cache.py", "slow", "python/resnet18/**",
          {"factors": {"peak_cpu_memory": 1.2}}, BOTH),
    Cause("import", "torch/broken.py", "slow", "**",
          {"status": "broken_environment", "reason": "ImportError: cannot import name '_C'"},
          (*BOTH, "h100")),
    Cause("triton", "triton/__init__.py", "3.5.0", "python/gpt2/**",
          {"factors": {"latency": 1.18}}, ("h100",)),
    Cause("kernel", "torch/lib/compiled.txt", "kernel: slow", "python/unet/**",
          {"factors": {"latency": 1.12}}, BOTH),
    Cause("crash", "torch/crash.py", "slow", "python/lstm/**",
          {"status": "crashed", "reason": "Segmentation fault"}, BOTH),
    Cause("result", "torch/result.py", "slow", "python/alexnet/**", {"checksum": 1.5}, BOTH),
    Cause("memory", "torch/memory.py", "slow", "python/bert/**",
          {"status": "out_of_memory", "reason": "CUDA out of memory"}, ("h100",)),
    Cause("range", "torch/lib/compiled.txt", "range: slow", "python/mobilenet/**",
          {"factors": {"latency": 1.2}}, BOTH),
    Cause("faster", "torch/faster.py", "slow", "python/bert/**", {"factors": {"latency": .85}},
          BOTH),
    Cause("late", "torch/late.py", "slow", "python/gpt2/**", {"factors": {"latency": 1.25}}, BOTH),
    Cause("both", "torch/both.py", "slow", "python/dlrm/**", {"factors": {"latency": 1.2}},
          ("h100",)),
    Cause("hang", "torch/hang.py", "slow", "python/alexnet/**",
          {"status": "timed_out", "reason": "no end after 300 s"}, ("h100",)),
    Cause("buffer", "torch/buffer.py", "slow", "python/lstm/**",
          {"factors": {"peak_gpu_memory": 1.3}}, ("h100",)),
    Cause("tiles", "torch/tiles.py", "slow", "python/alexnet/**",
          {"factors": {"kernel_time": 1.01}}, GPUS),
    Cause("networkx", "networkx/__init__.py", "3.5", "python/lstm/**",
          {"factors": {"latency": 1.2}}, ("h100",)),
    Cause("jinja2", "jinja2/__init__.py", "3.1.6", "python/dlrm/**",
          {"factors": {"latency": 1.2}}, ("h100",)),
)}


class Plan:
    """Each day's method plants something before the day's nightly, and says in its first line what.
    """

    def __init__(self, month):
        self.month = month
        self.expected = []
        self.closings = []  # (day, name, day of the repair)
        self.what = {}  # by cause, what its issue names
        self.begin_day()
        month.causes = list(CAUSES.values())

    def begin_day(self):
        self.publish = self.month.publish  # of today's nightly
        self.is_measured = True

    def expect(self, day, kind, what, series=()):
        self.expected.append(Said(date_of(day), kind, tuple(what), frozenset(series)))

    def expect_issue(self, name, day, kind, metric, what, classes=None):
        self.what[name] = tuple(what)
        self.expect(day, kind, what, [one for one in CAUSES[name].series(metric)
                                      if one[0] in (classes or CAUSES[name].classes)])

    def all_expected(self):
        """With what could not be known before: which commits may have been repairs."""
        return self.expected + [
            Said(date_of(day), "closed", self.what[name] + tuple(self.month.commits_of[repaired]),
                 frozenset()) for day, name, repaired in self.closings]

    # ---- what days are made of
    def begin(self, name, day, kind, metric, subject):
        """A commit that begins a cause."""
        self.month.change(CAUSES[name].file, SLOW, subject)
        self.expect_issue(name, day, kind, metric, [subject])

    def end(self, name, day, subject, closed):
        """A commit that ends it; `closed`: the day whose night is the third good one."""
        file = CAUSES[name].file
        self.month.change(file, FINE, subject)
        self.repaired(name, day, closed)

    def repaired(self, name, day, closed):
        self.expect(day, "back", self.what[name])
        self.closings.append((closed, name, day))

    # ---- the month
    def day_4(self, m):
        """a Python commit slows dlrm down on two machine classes"""
        self.begin("gather", 4, "source", "latency", "Gather carefully")

    def day_5(self, m):
        """kernels of two GPUs, of a variant each, take 1 % longer"""
        self.begin("tiles", 5, "source", "kernel_time", "Tile once more")

    def day_6(self, m):
        """it is repaired"""
        self.end("gather", 6, "Gather quickly", 9)  # night 8 has no latency

    def day_7(self, m):
        """a Python commit takes more memory"""
        self.begin("cache", 7, "source", "peak_cpu_memory", "Cache everything")

    def day_8(self, m):
        """the nightly cannot be imported"""
        self.begin("import", 8, "failure", "failures", "Import a name that is gone")
        self.expect(8, "operator", ["could not be imported in any run"])

    def day_9(self, m):
        """it can again"""
        self.end("import", 9, "Import what is there", 12)

    def day_10(self, m):
        """no nightly"""
        self.publish, self.is_measured = lambda day: None, False

    def day_11(self, m):
        """kernels are as fast again"""
        self.end("tiles", 11, "Tile as before", 13)

    def day_12(self, m):
        """a kernel update that changes nothing"""
        m.restart_hosts("xeon-1", kernel="6.8.0-50")

    def day_13(self, m):
        """triton's pin moves, and triton slows gpt2 down"""
        m.requires[0] = "triton==3.5.0"
        m.change(".ci/docker/ci_commit_pins/triton.txt", "3.5.0\n", "Move the pin of triton")
        self.expect_issue("triton", 13, "environment", "latency",
                          ["triton 3.4.0 → 3.5.0", "Move the pin of triton"])

    def day_14(self, m):
        """a native commit slows unet down; two nightlies cannot tell it from the wheel"""
        m.change("torch/csrc/kernel.cpp", "kernel: slow\n", "Compile a kernel for everybody")
        self.expect_issue("kernel", 14, "range", "latency", ["Compile a kernel for everybody"])

    def day_15(self, m):
        """it is reverted"""
        m.change("torch/csrc/kernel.cpp", "kernel: fine\n", 'Revert "Compile a kernel"')
        self.repaired("kernel", 15, 17)

    def day_16(self, m):
        """lstm crashes"""
        self.begin("crash", 16, "failure", "failures", "Assert what is not so")

    def day_17(self, m):
        """alexnet gives another result"""
        self.begin("result", 17, "failure", "failures", "Round the other way")

    def day_18(self, m):
        """lstm's crash is repaired"""
        self.end("crash", 18, "Assert what is so", 20)

    def day_19(self, m):
        """a kernel update that makes everything 20 % slower"""
        m.restart_hosts("epyc-1", "epyc-2", kernel="6.8.0-60", slower=1.2)
        self.expect_machine(19)

    def expect_machine(self, day):
        for name in workloads_of("epyc"):
            self.expect(day, "machine", ["kernel 6.8.0-45 → 6.8.0-60"],
                        [("epyc", name, "latency")])

    def day_20(self, m):
        """bert runs out of memory on GPUs; a host becomes noisy"""
        m.restart_hosts("xeon-1", noisier=6.0)
        self.begin("memory", 20, "failure", "failures", "Keep every activation")

    def day_21(self, m):
        """the nightly is listed and cannot be fetched"""
        self.publish, self.is_measured = lambda day: m.publish(day, tag=None), False
        self.expect(21, "operator", ["404"])

    def day_22(self, m):
        """the operator asks for a digest; networkx's pin moves and slows lstm down"""
        m.configure("report", unattributed="digest")
        m.requires[2] = "networkx==3.5"
        m.change("requirements.txt", "networkx==3.5\n", "Move the pin of networkx")
        self.expect_issue("networkx", 22, "digest", "latency",
                          ["networkx 3.4 → 3.5", "Move the pin of networkx"])

    def day_23(self, m):
        """two native commits without builds between them; the host is well again"""
        m.restart_hosts("xeon-1", noisier=1.0)
        m.change("torch/csrc/range.cpp", "range: slow\n", "Range over more")
        m.change("torch/range.py", "# more\n", "Say what ranges are")
        m.change("torch/csrc/other.cpp", "other\n", "Compile something else")
        self.expect_issue("range", 23, "range", "latency", [
            "Range over more", "Say what ranges are", "Compile something else"])

    def day_24(self, m):
        """an improvement"""
        m.change("torch/faster.py", SLOW, "Do less")
        for one in CAUSES["faster"].series("latency"):
            self.expect(24, "improvement", [], [one])

    def day_25(self, m):
        """a commit slows gpt2 down while one machine class is away"""
        m.take_away("xeon-1")
        m.change("torch/late.py", SLOW, "Generate more")
        self.expect_issue("late", 25, "source", "latency", ["Generate more"], ["epyc"])

    def day_26(self, m):
        """the machine class is back and sees the same"""
        m.start_host("xeon-1")
        self.expect(26, "joined", self.what["late"])

    def day_27(self, m):
        """sympy's pin moves and changes nothing; a commit slows dlrm down"""
        m.requires[1] = "sympy==1.14.0"
        m.change(".ci/docker/requirements-ci.txt", "sympy==1.14.0\n", "Move the pin of sympy")
        self.begin("both", 27, "source", "latency", "Embed twice")

    def day_28(self, m):
        """the operator names a Python that no wheel is for"""
        m.configure("source", python_tag="cp399")
        self.is_measured = False
        self.expect(28, "operator", ["for cp399; check [source] index, variant and python_tag"])

    def day_29(self, m):
        """that is mended; alexnet hangs on GPUs"""
        m.configure("source", python_tag="cp311")
        self.begin("hang", 29, "failure", "failures", "Wait for an event")

    def day_30(self, m):
        """bert fits GPUs again"""
        self.end("memory", 30, "Keep some activations", 32)

    def day_31(self, m):
        """lstm takes more GPU memory"""
        self.begin("buffer", 31, "source", "peak_gpu_memory", "Buffer ahead")

    def day_32(self, m):
        """jinja2's pin moves and slows dlrm down: the same digest tells it"""
        m.requires[3] = "jinja2==3.1.6"
        m.change("requirements.txt", "networkx==3.5\njinja2==3.1.6\n", "Move the pin of jinja2")
        self.expect(32, "joined", ["jinja2 3.1.6", "Move the pin of jinja2"])

    def day_33(self, m):
        """no nightly for five days, by the service's clock"""
        self.publish, self.is_measured = lambda day: None, False
        m.clock.set(5 * 86_400)
        for variant in ("cpu", "cu126"):
            self.expect(33, "operator", [f"variant {variant} for cp311 has been listed for 5 days"])
