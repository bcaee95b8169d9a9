"""Runs the whole comparison and writes docs/performance.md; with --smoke, each part once and nothing is written."""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import make_weights
import report
from timing import Contender, in_turn, run, seconds

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
BIN = TOP / "build/release/bin"
MINI = TOP / "data/gpt2-mini"
WORK = TOP / "build/bench"
OUT = str(WORK / "out")
TRACE = WORK / "trace"
NEXT = WORK / "next.csv"
NEWER_KERNEL = {"OPENBLAS_CORETYPE": "SkylakeX"}
WORDS = "the cat sat on a mat and dog ran to his house with some food while it was dark".split()


def text_of(n):
    """A text of n tokens: each of these words is one."""
    draw = random.Random(n)
    return "The" + "".join(" " + draw.choice(WORDS) for _ in range(n - 1))


def ours(model, text, layer=0, out="OUT"):
    return Contender([BIN / "onehead", "trace", "--model", model, "--layer", layer, "--text", text, "--out", out,
                      "--quiet"], {})


def peer(name, model, environment=None, what=()):
    program = [BIN / "bench" / name] if name == "xtensor_peer" else ["/usr/bin/python3", HERE / f"{name}.py"]
    return Contender([*program, model, TRACE, "OUT", *what], environment or {})


def next_token(model, text):
    return Contender([BIN / "onehead", "next", "--model", model, "--text", text, "--csv", NEXT], {})


def expect_same_steps(model, text, layer, peers):
    """The trace that the peers take their tokens from; stops if one of them computes something else."""
    run(ours(model, text, layer, TRACE), TRACE)
    for name, contender in peers.items():
        run(contender, OUT)
        for step in ("11_softmax", "16_residual_after"):
            if name == "torch" and step != "11_softmax":
                continue
            theirs = np.load(OUT + ".npy") if name == "torch" else np.loadtxt(f"{OUT}/{step}.csv", delimiter=",", ndmin=2)
            columns = range(3, 3 + theirs.shape[1])
            mine = np.loadtxt(TRACE / f"{step}.csv", delimiter=",", skiprows=1, usecols=columns, ndmin=2)
            worst = np.max(np.abs(theirs - mine) / (1 + np.abs(mine)))
            if not worst < 1e-3:
                raise SystemExit(f"{name} computes another {step}: it differs by {worst:.2g}")


def compare(model, text, layer, peers, rounds, others=None):
    expect_same_steps(model, text, layer, peers)
    return in_turn({"onehead": ours(model, text, layer), **peers, **(others or {})}, rounds, OUT)


def compare_next(model, text, peers, rounds, others=None):
    """The same for the next token: first whether the five likeliest are as likely."""
    run(ours(model, text, 0, TRACE), TRACE)
    run(next_token(model, text), OUT)
    mine = [float(line.rsplit(",", 1)[1]) for line in NEXT.read_text(encoding="utf-8").splitlines()[1:]]
    for name, contender in peers.items():
        run(contender, OUT)
        theirs = np.load(OUT + ".npy") if name == "torch" else np.loadtxt(f"{OUT}/next.csv", delimiter=",")[:, 1]
        if not np.allclose(theirs, mine, rtol=1e-3, atol=1e-6):
            raise SystemExit(f"{name} expects another token: {theirs} where this program has {mine}")
    return in_turn({"onehead": next_token(model, text), **peers, **(others or {})}, rounds, OUT)


def worth(text, rounds):
    """What every head of gpt2-mini is worth, beside one next token on the same text."""
    every_head = Contender([BIN / "onehead", "heads", "--worth", "--model", MINI, "--text", text], {})
    return in_turn({"onehead": every_head, "next": next_token(MINI, text)}, rounds, OUT)


def inside(model, least_seconds):
    """What Google Benchmark measures: {name: {counter: value}}."""
    command = [BIN / "bench/inside", "--benchmark_format=json", f"--benchmark_min_time={least_seconds}"]
    found = subprocess.run(command, check=True, capture_output=True, env={**os.environ, "ONEHEAD_BENCH_MODEL": str(model)})
    return {result["name"].removesuffix("/real_time"): result for result in json.loads(found.stdout)["benchmarks"]}


def stages(model, layer, text, runs):
    command = [BIN / "bench/stages", model, str(layer), text, OUT, str(runs)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in found.stdout.splitlines()]


def growth(model, rounds):
    """Seconds without files, from 64 to 1024 tokens, in turn."""
    sizes = (64, 128, 256, 512, 1024)
    contenders = {n: Contender(ours(model, text_of(n)).command[:-3] + ["--row", "1"], {}) for n in sizes}
    return {n: seconds(timed) for n, timed in in_turn(contenders, rounds, OUT).items()}


def peak_mb(contender):
    """The most memory that it holds, as the tests of the programs measure it."""
    with tempfile.NamedTemporaryFile() as report:
        run(Contender(["/usr/bin/python3", TOP / "tests/cli/measure.py", report.name, -1, *contender.command], {}), OUT)
        return float(report.read().split()[2])


def smoke():
    peers = {"numpy": peer("numpy_peer", MINI)}
    compare(MINI, text_of(6), 1, peers, 1)
    compare_next(MINI, text_of(6), {"numpy": peer("numpy_peer", MINI, what=["next"])}, 1)
    worth(text_of(6), 1)
    inside(MINI, 0.001)
    stages(MINI, 1, text_of(6), 1)
    for what in (1, "next"):
        run(Contender([BIN / "bench/read_weights", MINI, what], {}), OUT)
    peak_mb(ours(MINI, text_of(6)))
    print("bench: everything runs, and numpy computes the same")


def whole():
    model = WORK / "gpt2-small"
    make_weights.main(str(model), str(MINI))
    numpy = {"numpy": peer("numpy_peer", model), "numpy, SkylakeX": peer("numpy_peer", model, NEWER_KERNEL)}
    long, short = text_of(1024), text_of(8)
    measured = {
        "six": in_turn({"onehead": ours(MINI, "The cat sat on the mat"), "hello": Contender([BIN / "bench/hello"], {})}, 40, OUT),
        "block 0": compare(model, long, 0, {**numpy, "xtensor": peer("xtensor_peer", model)}, 3),
        "peak": peak_mb(ours(model, long)),
        "layer 11, 8": compare(model, short, 11, numpy, 9, {"read": Contender([BIN / "bench/read_weights", model, 11], {})}),
        "layer 11, 1024": compare(model, long, 11, {**numpy, "torch": peer("torch_peer", model)}, 3),
        "next": compare_next(model, short, {"numpy": peer("numpy_peer", model, what=["next"]),
                                            "numpy, SkylakeX": peer("numpy_peer", model, NEWER_KERNEL, ["next"]),
                                            "torch": peer("torch_peer", model, what=["next"])},
                             9, {"read": Contender([BIN / "bench/read_weights", model, "next"], {})}),
        "next peak": peak_mb(next_token(model, short)),
        "worth": worth(text_of(20), 9),
        "growth": growth(model, 5),
        "inside": inside(model, 0.5),
        "stages of 6": stages(MINI, 0, "The cat sat on the mat", 20),
        "stages of 1024": stages(model, 0, long, 5),
    }
    page = TOP / "docs/performance.md"
    page.write_text(report.page(measured, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    smoke() if "--smoke" in sys.argv else whole()
