"""What the tests of faults share: a place with an old trace and other people's files, and what must hold there afterwards."""
import os
import shutil
import subprocess

from programs import BIN, MINI, SOURCE, ProgramTest

OLD = ["--text", "An old trace"]
NEW = ["--head", "1"]
LONG = ["--text-file", SOURCE / "tests/reference/100-tokens.txt", "--format", "text,csv,npy"]


def content(path):
    """A file's bytes, or those of every file of a folder; None if there is nothing."""
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return path.read_bytes() if path.exists() else None


class Faults(ProgramTest):
    """Writes to `place`/cat, where an old trace or nothing stands, and beside it lie files of somebody else."""

    def setUp(self):
        super().setUp()
        self.old = content(self.trace("old", *OLD))
        self.new = content(self.trace("new", *NEW))
        self.count = 0

    def report(self, what):
        print(f"faults: {self.count} {what}", flush=True)

    def prepare(self, place, over_old):
        """An empty place with foreign files of tempting names, and perhaps an old trace."""
        shutil.rmtree(place, ignore_errors=True)
        (place / ".cat.77").mkdir(parents=True)
        for foreign in (".cat.77/notes.txt", ".cat.77/trace.json", ".cat.txt", "cat.csv.77"):
            (place / foreign).write_text("mine")
        self.foreign = content(place)
        if over_old:
            shutil.copytree(self.folder / "old", place / "cat")

    def command(self, out, arguments, program="onehead"):
        return [BIN / program, "trace", "--model", MINI, "--out", out, "--quiet", *map(str, arguments)]

    def run_in(self, place, arguments=NEW, program="onehead", **options):
        return subprocess.run(self.command(place / "cat", arguments, program), capture_output=True, text=True, check=False, **options)

    def expect_untouched(self, place):
        found = content(place)
        for name, mine in self.foreign.items():
            self.assertEqual(found.get(name), mine, name)

    def expect_old_or_new(self, place, over_old, new):
        self.assertIn(content(place / "cat"), [self.old if over_old else None, new])
        self.expect_untouched(place)

    def expect_refused(self, result, place, over_old, *words):
        """One line, and all is as it was: no temporary folder either."""
        self.assert_refused(result, 1, *words)
        self.assertEqual(content(place / "cat"), self.old if over_old else None)
        self.expect_untouched(place)
        self.assertEqual({entry.name for entry in place.iterdir()}, {name.split("/")[0] for name in self.foreign} | ({"cat"} if over_old else set()))
        self.count += 1

    def expect_tidy_after_one_more_run(self, place):
        self.assertEqual(subprocess.run(self.command(place / "cat", NEW), check=False).returncode, 0)
        self.assertEqual(content(place / "cat"), self.new)
        self.expect_untouched(place)
        self.assertEqual({entry.name for entry in place.iterdir()}, {"cat", ".cat.77", ".cat.txt", "cat.csv.77"})
