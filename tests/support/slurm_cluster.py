"""A real Slurm on this one machine: a controller and several node daemons, as root, on loopback, in
a folder of their own."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

# slurmd keeps no cgroups here, and every node takes this machine for its own. cred_expire is also
# how long a preempted job waits until it may start again.
CONFIGURATION = """\
ClusterName=nightjar
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
DefMemPerCPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=5
GresTypes=gpu
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} CPUs=2 RealMemory=1000 \
Gres=gpu:1 State=UNKNOWN
PartitionName=pilots Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


def missing():
    """Why there can be no Slurm here; empty: there can."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root here"
    for program in ("slurmctld", "slurmd", "sbatch", "squeue"):
        if not shutil.which(program):
            return f"there is no {program}; deploy/build --tests installs it"
    return ""


def free_ports(count):
    """Finds `count` neighbouring ports that are free now; Slurm takes a range."""
    for first in range(26000 + os.getpid() % 3000, 32000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise OSError("no free ports for Slurm")


class Cluster:
    """Nodes n1 to nN with one pretended GPU each; partitions pilots and urgent, which preempts."""

    def __init__(self, folder, nodes=3):
        self.folder = pathlib.Path(folder)
        self.names = [f"n{number}" for number in range(1, nodes + 1)]
        for name in ("state", "log", *(f"spool/{node}" for node in self.names)):
            (self.folder / name).mkdir(parents=True)
        port = free_ports(nodes + 1)
        (self.folder / "gres.conf").write_text(
            f"NodeName=n[1-{nodes}] Name=gpu File=/dev/null\n")
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, host=socket.gethostname(), controller=port,
                                 nodes=f"n[1-{nodes}]", ports=f"[{port + 1}-{port + nodes}]"))
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        self.daemons = {}

    def start(self):
        self.start_controller()
        for node in self.names:
            self._start(node, "slurmd", "-D", "-N", node)
        self.wait("idle nodes", lambda: self.states() == {"idle"})

    def start_controller(self):
        self._start("slurmctld", "slurmctld", "-D")
        self.wait("the controller", lambda: self.call("scontrol", "ping", check=False)[0] == 0)

    def _start(self, name, *command):
        log = open(self.folder / "log" / name, "ab")
        self.daemons[name] = subprocess.Popen(command, stdout=log, stderr=log,
                                              env=self.environment, start_new_session=True)

    def stop_controller(self):
        self._end("slurmctld", signal.SIGTERM)

    def stop(self):
        if "slurmctld" in self.daemons:
            self.call("scancel", "--user=root", check=False)
            self.wait("jobs to end", lambda: not self.jobs(check=False))
        for name in list(self.daemons):
            self._end(name, signal.SIGTERM)

    def _end(self, name, how):
        process = self.daemons.pop(name)
        process.send_signal(how)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def call(self, *command, check=True):
        """(exit code, output) of one of Slurm's commands."""
        done = subprocess.run([str(word) for word in command], env=self.environment, text=True,
                              capture_output=True, timeout=60)
        assert not check or done.returncode == 0, f"{command}: {done.stderr}\n{self.tail()}"
        return done.returncode, done.stdout.strip()

    def jobs(self, name="", check=True):
        """Jobs that have not ended: {id, name, state, node}."""
        keys = ("id", "name", "state", "node")
        code, text = self.call("squeue", "--noheader", "--format=%i|%j|%T|%N", check=check)
        lines = text.splitlines() if code == 0 else []
        found = [dict(zip(keys, line.split("|"))) for line in lines]
        return [job for job in found if name in ("", job["name"])]

    def running(self, name=""):
        return [job for job in self.jobs(name) if job["state"] == "RUNNING"]

    def states(self):
        return set(self.call("sinfo", "--noheader", "--format=%t")[1].split())

    def wait(self, what, condition, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(.1)
        raise AssertionError(f"waited {seconds} s for {what}\n{self.tail()}")

    def tail(self):
        return "".join(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}\n"
                       for log in sorted((self.folder / "log").iterdir()))
