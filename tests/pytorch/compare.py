"""Training steps of PyTorch with and without a plan, interleaved.

usage: compare.py [--steps N] PROFILE CELL...

PROFILE holds measurements of one environment, this machine's or another.
A CELL is NETWORK:PRECISION:LIMIT_MIB[:ROUNDS[:POLICY]] (1 round, powers of
two). It is recorded from the very program (step.py), measured into a copy of
PROFILE where that lacks something (all, if there is no such file), planned,
and run in turn, ROUNDS times:
  capped    cuDNN's legacy API, its workspaces capped to the limit
  planned   the same, with the plan
and once each, with whatever workspace PyTorch likes:
  uncapped  cuDNN's legacy API; what another choice of algorithms does to the
            loss, too
  default   PyTorch's default path, cuDNN's graph API

Prints a block a cell, the raw runs on standard error. Exit status 1: a cell
broke, or something is not as it must be, which its block says.

Needs ucudnn-plan on the path. Measures with the cuDNN of PyTorch's wheels when
there is one, else with the one that the loader finds.
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Beyond the capped run's: its own arena of workspaces and rounding up.
MEMORY_MIB = 70
# Timer noise: what is slower by less is not called slower.
SLOWER = 1.02


class Broken(Exception):
    """A command that failed."""


def run(command, **environment):
    """Standard output of a command."""
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise Broken("%s: exit status %d\n%s%s" % (
            " ".join(command), done.returncode, done.stdout[-2000:],
            done.stderr[-4000:]))
    return done.stdout


def digits(ms):
    """Three of them, or all before the point."""
    return "%.0f" % ms if ms >= 100 else "%#.3g" % ms


def show(path):
    """A profile or a plan."""
    return json.loads(run(["ucudnn-plan", "show", "--json", path]))


class Cell:
    def __init__(self, text, profile, scratch, steps):
        words = text.split(":")
        self.text, self.profile, self.scratch = text, profile, scratch
        self.network, self.precision, self.limit = words[:3]
        self.rounds = int(words[3]) if len(words) > 3 else 1
        self.policy = words[4] if len(words) > 4 else "power-of-two"
        self.steps = steps
        self.plan = os.path.join(scratch, "plan")
        self.stats = os.path.join(scratch, "stats")

    def step(self, steps, *words):
        return [sys.executable, os.path.join(HERE, "step.py"), self.network,
                self.precision, str(steps), *words]

    def run_steps(self, kind, first):
        """The result of one run, told on standard error."""
        command = self.step(self.steps, *["profile"] * first)
        environment = {"TORCH_CUDNN_V8_API_DISABLED":
                       "0" if kind == "default" else "1"}
        if kind in self.runs:
            environment["CUDNN_CONV_WSCAP_DBG"] = self.limit
        if kind == "planned":
            command = ["ucudnn-plan", "run", self.plan, "--"] + command
            environment["UCUDNN_STATS"] = self.stats
        result = json.loads(run(command, **environment).splitlines()[-1])
        print(self.text, kind, json.dumps(result), file=sys.stderr, flush=True)
        return result

    def make_plan(self):
        """Record, measure and plan; the plan as JSON."""
        net = os.path.join(self.scratch, "net.json")
        source = ["--profile", self.profile, "--policy", self.policy]
        run(["ucudnn-plan", "record", "-o", net, "--"] + self.step(1))
        run(["ucudnn-plan", "bench", net, "--quiet",
             "--no-runtime-compiled"] + source)
        # The last is this machine's, whether it was there or has come.
        environments = show(self.profile)["environments"]
        run(["ucudnn-plan", "plan", net, "-o", self.plan,
             "--environment", str(len(environments)),
             "--workspace-limit", self.limit + "M"] + source)
        return show(self.plan)

    def measure(self):
        self.planned = self.make_plan()
        self.runs = {"capped": [], "planned": []}
        for i in range(self.rounds):
            for kind, results in self.runs.items():
                results.append(self.run_steps(kind, i == 0))
        self.uncapped = self.run_steps("uncapped", False)
        self.default = self.run_steps("default", False)
        with open(self.stats, encoding="utf-8") as file:
            self.calls = file.read()

    # The block ----------------------------------------------------------

    def median(self, kind):
        ms = sorted(r["ms"] for r in self.runs[kind])
        return (ms[(len(ms) - 1) // 2] + ms[len(ms) // 2]) / 2

    def peak(self, kind):
        return max(r["peak_mib"] for r in self.runs[kind])

    def loss(self, kind):
        return self.runs[kind][0]["loss"]

    def count(self, word):
        return sum(int(n) for n in re.findall(word + r" +(\d+)", self.calls))

    def convolutions(self, kind, predicted_ns):
        measured = self.runs[kind][0].get("conv_ms")
        if measured is None or predicted_ns < 0:
            return "%s: not measured, or not all predicted" % kind
        predicted = predicted_ns / 1e6
        return "%s: predicted %s ms, measured %s ms: %+.1f %%" % (
            kind, digits(predicted), digits(measured),
            100 * (predicted / measured - 1))

    def faults(self):
        """What is not as it must be."""
        apart = abs(self.loss("planned") - self.loss("capped"))
        usual = abs(self.uncapped["loss"] - self.loss("capped"))
        measured = self.runs["planned"][0].get("conv_ms")
        return [text for text, bad in (
            ("no call ran as planned", self.count("executed") == 0),
            ("calls passed through", self.count("passed through") != 0),
            ("slower than capped", self.median("planned") >
             SLOWER * self.median("capped")),
            ("more memory", self.peak("planned") >
             self.peak("capped") + MEMORY_MIB),
            # nan is a fault
            ("another loss", not apart <=
             max(2 * usual, 1e-3 * abs(self.loss("capped")))),
            ("prediction off by more than 10 %", measured is not None and
             abs(self.planned["predicted_ns"] / 1e6 / measured - 1) > 0.1),
        ) if bad]

    def block(self):
        """Its text, and whether nothing is wrong."""
        kinds = "capped", "planned"
        capped, planned = (self.median(kind) for kind in kinds)
        peaks = [self.peak(kind) for kind in kinds]
        rounds = ["/".join(digits(r["ms"]) for r in self.runs[kind])
                  for kind in kinds]
        gain = "%.2fx" % (capped / planned)
        loss = self.loss("capped")
        faults = self.faults()
        return "\n    ".join([
            "%s %s, %s MiB an operation, sizes %s" % (
                self.network, self.precision, self.limit, self.policy),
            "step: %s ms capped, %s ms planned: %s (rounds %s, %s)" % (
                digits(capped), digits(planned), gain, *rounds),
            "any workspace: %s ms legacy, %s ms PyTorch's default path" % (
                digits(self.uncapped["ms"]), digits(self.default["ms"])),
            "convolutions " + self.convolutions(
                "capped", self.planned["undivided_ns"]),
            "convolutions " + self.convolutions(
                "planned", self.planned["predicted_ns"]),
            "peak: %.0f MiB capped, %.0f MiB planned: %+.0f MiB" % (
                *peaks, peaks[1] - peaks[0]),
            "loss: %.7g capped; planned %+.1e, uncapped %+.1e from it" % (
                loss, self.loss("planned") - loss,
                self.uncapped["loss"] - loss),
            "calls: %d as planned, %d passed through" % (
                self.count("executed"), self.count("passed through")),
            "| %s | %s MiB | %s | %s | %s | %s | %.0f, %.0f |" % (
                self.network, self.limit, self.precision, digits(capped),
                digits(planned), gain, *peaks),
            "FAULT: " + ", ".join(faults) if faults else "good"]), not faults


def compare(text, profile, steps):
    """Prints a cell's block; whether it is good."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "copy.profile")
        if os.path.exists(profile):
            shutil.copyfile(profile, copy)
        cell = Cell(text, copy, scratch, steps)
        try:
            cell.measure()
            block, good = cell.block()
        except (Broken, OSError, LookupError, ValueError) as broken:
            print("%s\n    FAULT: %s" % (text, broken), flush=True)
            return False
        print(block, flush=True)
        if cell.count("passed through"):
            print(cell.calls, flush=True)
        return good


def find_cudnn():
    """The wheel's cuDNN before others."""
    try:
        spec = importlib.util.find_spec("nvidia.cudnn")
    except ModuleNotFoundError:
        return
    if spec is not None and spec.submodule_search_locations:
        folders = [os.path.join(list(spec.submodule_search_locations)[0],
                                "lib")]
        folders += filter(None, [os.environ.get("LD_LIBRARY_PATH")])
        os.environ["LD_LIBRARY_PATH"] = ":".join(folders)


def main():
    words, steps = sys.argv[1:], 20
    if words[:1] == ["--steps"]:
        steps, words = int(words[1]), words[2:]
    if len(words) < 2:
        sys.exit(__doc__)
    find_cudnn()
    sys.exit(0 if all([compare(cell, words[0], steps)
                       for cell in words[1:]]) else 1)


main()
