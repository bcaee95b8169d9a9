"""Whole processes, timed from outside, in turn: what one round measures is compared with the same round only."""
import os
import shutil
import statistics
import time
from dataclasses import dataclass


@dataclass
class Timed:
    seconds: float
    output: str


@dataclass
class Contender:
    command: list
    environment: dict


def run(contender, out):
    """Runs a command to its end; OUT among its arguments is a folder that is not there yet."""
    shutil.rmtree(out, ignore_errors=True)
    arguments = [out if argument == "OUT" else str(argument) for argument in contender.command]
    reader, writer = os.pipe()
    start = time.perf_counter()
    process = os.posix_spawnp(arguments[0], arguments, {**os.environ, **contender.environment},
                              file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    os.close(writer)
    with os.fdopen(reader) as pipe:
        output = pipe.read()
    _, status = os.waitpid(process, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{' '.join(arguments)} ends with {os.waitstatus_to_exitcode(status)}")
    return Timed(seconds, output)


def in_turn(contenders, rounds, out):
    """Each contender once a round, after one round that is not counted: {name: [Timed of each round]}."""
    timed = {name: [] for name in contenders}
    for counted in [False] + [True] * rounds:
        for name, contender in contenders.items():
            result = run(contender, out)
            if counted:
                timed[name].append(result)
    shutil.rmtree(out, ignore_errors=True)
    return timed


@dataclass
class Spread:
    """The median of what the rounds say, and the least and most."""
    median: float
    least: float
    most: float

    @staticmethod
    def of(values):
        values = list(values)
        return Spread(statistics.median(values), min(values), max(values))

    def text(self, digits=3):
        return f"{self.median:.{digits}g} ({self.least:.{digits}g} to {self.most:.{digits}g})"


def seconds(timed):
    return Spread.of(result.seconds for result in timed)


def ratio(ours, other):
    return Spread.of(a.seconds / b.seconds for a, b in zip(ours, other))
