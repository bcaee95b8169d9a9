"""Runs the programs under test. The environment says where they are: ONEHEAD_BIN, and the checkout: ONEHEAD_SOURCE."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["ONEHEAD_BIN"])
SOURCE = pathlib.Path(os.environ["ONEHEAD_SOURCE"])
MINI = SOURCE / "data" / "gpt2-mini"
SHARED = SOURCE.parent / "shared"


def run(program, *arguments, **options):
    """The finished process; output as text."""
    command = [BIN / program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def is_sanitized():
    """Whether the programs are built with AddressSanitizer, which needs memory of its own."""
    return b"__asan_init" in (BIN / "onehead").read_bytes()


def measured(*arguments, address_space=-1):
    """A finished onehead, the seconds of processor time that it took, and the most memory that it had, in MB."""
    with tempfile.NamedTemporaryFile() as report:
        script = pathlib.Path(__file__).with_name("measure.py")
        command = [sys.executable, "-S", "-E", script, report.name, str(address_space), BIN / "onehead", *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, errors="backslashreplace", timeout=120, check=False)
        code, seconds, megabytes = map(float, report.read().split())
    result.returncode = int(code)
    return result, seconds, megabytes


def bytes_of(field):
    """A token's bytes from the column `bytes`: \\x20\\x63 for " c"."""
    if not re.fullmatch(r"(\\x[0-9a-f]{2})+", field):
        raise ValueError(field)
    return bytes.fromhex(field.replace("\\x", ""))


def onehead(*arguments, **options):
    return run("onehead", *arguments, **options)


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, name, *arguments):
        """Traces with the bundled model into a folder and returns it."""
        out = self.folder / name
        result = onehead("trace", "--model", MINI, "--out", out, "--quiet", *arguments)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        return out

    def assert_refused(self, result, code, *words):
        """One line on stderr that says all of the words, and that exit code."""
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_refused_cheaply(self, code, words, *arguments):
        """The same, nothing on stdout, and little memory and time. Returns the MB taken; 0 where sanitizers take more."""
        result, seconds, megabytes = measured(*arguments)
        self.assert_refused(result, code, *words)
        self.assertEqual(result.stdout, "")
        self.assertLess(len(result.stderr), 1200)
        if is_sanitized():
            return 0
        self.assertLess(megabytes, 64)
        self.assertLess(seconds, 1)
        return megabytes
