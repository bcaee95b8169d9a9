"""Files that other commands write, and pages on the terminal: an earlier file stays until the new one is whole, and what
could not be written is an error. Prints how many faults it made."""
import errno
import itertools
import os
import pathlib
import resource
import shutil
import subprocess
import unittest

from faults import Faults, content
from programs import BIN, MINI, onehead, run


def failing(*arguments, **variables):
    """The command with failing_calls.cpp linked into it."""
    return run("onehead_failing", *arguments, env={**os.environ, **variables})


class Tables(Faults):
    """The files that other commands write: the earlier one stays until the new one is whole."""

    def commands(self, out):
        return [["worked", "scores", "4", "1", "--model", MINI, "--csv", out], ["heads", "--model", MINI, "--out", out],
                ["compare", self.folder / "new", self.folder / "new", "--csv", out], ["excerpt", "--model", MINI, "--out", out]]

    def test_each_call_fails_or_is_the_last(self):
        place, out = self.folder / "tables", self.folder / "tables" / "table"
        for command in self.commands(out):
            place.mkdir()
            self.assertEqual(failing(*command, CALLS=str(self.folder / "calls")).returncode, 0)
            calls = int((self.folder / "calls").read_text())
            shutil.rmtree(place)
            for at, fault, old in itertools.product(range(1, calls + 1), (str(errno.ENOSPC), "kill"), (b"old", None)):
                place.mkdir()
                if old is not None:
                    out.write_bytes(old)
                result = failing(*command, FAULT_AT=str(at), FAULT=fault)
                self.assertEqual(content(out), old)
                if fault != "kill":
                    self.assert_refused(result, 2 if command[0] == "compare" else 1, "table")
                    self.assertEqual(len(list(place.iterdir())), int(old is not None))
                shutil.rmtree(place)
                self.count += 1
        self.report("calls failed or were the last, in tables and excerpts")

    def test_limits_and_places(self):
        out, link = self.folder / "table", self.folder / "link"
        for command in self.commands(out):
            out.write_bytes(b"old")
            limited = onehead(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)))
            self.assertEqual(limited.stderr.count("File too large"), 1)
            self.assertEqual(out.read_bytes(), b"old")
            self.assertEqual(onehead(*command[:-1], "/dev/full").stderr.count("No space left on device"), 1)
            self.assertTrue(pathlib.Path("/dev/full").is_char_device())
            self.assertIn("directory", onehead(*command[:-1], self.folder).stderr)
            link.unlink(missing_ok=True)
            link.symlink_to(out)
            self.assertEqual(onehead(*command[:-1], link).returncode, 0)
            self.assertTrue(link.is_symlink())
            self.assertNotEqual(out.read_bytes(), b"old")
            self.count += 3
        self.report("limits and places of tables and excerpts")


class Page(Faults):
    def test_a_page_that_cannot_be_printed(self):
        """The exit code says so, for the command and the lessons."""
        for command in ([BIN / "onehead", "trace", "--model", MINI], [BIN / "onehead", "--help"],
                        [BIN / "1_query_key_value", "--model", MINI, "--out", self.folder / "lesson"]):
            with open("/dev/full", "wb") as full:
                result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assert_refused(result, 1)
            self.count += 1
        self.report("pages that could not be printed")


if __name__ == "__main__":
    unittest.main()
