"""Where output goes, and what is said on the way: nothing that somebody still needs is lost, and an exit code stays what it is."""
import json
import signal
import subprocess
import time
import unittest

import numpy

from programs import BIN, MINI, SOURCE, ProgramTest, onehead

LONG = SOURCE / "tests/reference/100-tokens.txt"


def shell(line, **options):
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, check=False, **options)


class Streams(ProgramTest):
    def test_a_standard_error_that_takes_nothing_changes_no_exit_code(self):
        for program, wrong in ((BIN / "onehead", "nonsense"), (BIN / "2_scores", "--nonsense")):
            for to in ("2>&-", "2>/dev/full"):
                self.assertEqual(shell(f"{program} {wrong} {to}").returncode, 2)
            self.assertEqual(shell(f"{program} --help >&- 2>&-").returncode, 1)

    def test_a_closed_standard_output_does_not_become_a_file(self):
        self.assertEqual(shell(f"{BIN}/onehead trace --model {MINI} --out {self.folder}/cat >&-").returncode, 1)
        self.assertEqual(onehead("compare", self.folder / "cat", self.trace("again")).returncode, 0)

    def test_descriptors_are_written_through(self):
        both = self.folder / "both.txt"
        both.write_text("earlier\n")
        for out in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertEqual(shell(f"{BIN}/onehead heads --model {MINI} --out {out} >> {both}").returncode, 0)
        self.assertTrue(both.read_text().startswith("earlier\n"))
        self.assertEqual(both.read_text().count("layer,head,"), 3)

    def test_texts_from_pipes(self):
        for line in ("printf 'The cat\\n' | {} --text-file -", "{} --text-file <(printf 'The cat\\r\\n')"):
            shown = shell(line.format(f"{BIN}/onehead tokens --model {MINI}")).stdout
            self.assertEqual([row.split()[1] for row in shown.splitlines()[1:]], ["464", "3797"])


class Kept(ProgramTest):
    def test_a_folder_with_another_programs_trace_json(self):
        perf = self.folder / "perf"
        perf.mkdir()
        for name, text in (("trace.json", '{"traceEvents": []}'), ("trace.txt", "mine"), ("tokens.csv", "mine")):
            (perf / name).write_text(text)
        self.assert_refused(onehead("trace", "--model", MINI, "--out", perf), 1, "perf", "trace.json of something else")
        self.assertEqual((perf / "trace.txt").read_text(), "mine")

    def test_neighbours_with_names_of_numbers(self):
        for name in (".cat.1", ".cat.2024"):
            self.trace(name)
        self.trace("cat")
        self.trace("cat")
        self.assertEqual({entry.name for entry in self.folder.iterdir()}, {".cat.1", ".cat.2024", "cat"})

    def test_no_output_goes_over_an_input(self):
        cat = self.trace("cat")
        text = self.folder / "text.txt"
        text.write_text("The cat")
        model = self.folder / "model"
        model.mkdir()
        for file in MINI.iterdir():
            (model / file.name).write_bytes(file.read_bytes())
        for command, file in ((["compare", cat, cat, "--csv"], cat / "trace.json"), (["compare", cat, cat, "--html"], cat / "trace.txt"),
                              (["worked", "scores", "1", "0", "--model", model, "--csv"], model / "config.json"),
                              (["worked", "scores", "1", "0", "--model", model, "--csv"], model / "vocab.json"),
                              (["excerpt", "--model", model, "--out"], model / "model.safetensors"),
                              (["heads", "--model", MINI, "--text-file", text, "--out"], text)):
            before = file.read_bytes()
            self.assert_refused(onehead(*command, file), 2 if command[0] == "compare" else 1, file.name, "one that it reads")
            self.assertEqual(file.read_bytes(), before)

    def test_modes(self):
        cat, csv = self.trace("cat"), self.folder / "table.csv"
        cat.chmod(0o700)
        (cat / "08_scores.csv").chmod(0o600)
        csv.write_text("old")
        csv.chmod(0o640)
        self.trace("cat")
        self.assertEqual(onehead("heads", "--model", MINI, "--out", csv).returncode, 0)
        self.assertEqual([path.stat().st_mode & 0o777 for path in (cat, cat / "08_scores.csv", csv)], [0o700, 0o600, 0o640])

    def test_names_that_are_not_plain(self):
        self.assert_refused(onehead("trace", "--model", MINI, "--out", ".", cwd=self.folder), 1, "the folder that you are in")
        (self.folder / "a" / "b").mkdir(parents=True)
        (self.folder / "lnk").symlink_to("a/b")
        self.assertEqual(onehead("trace", "--model", MINI, "--quiet", "--out", "lnk/../x", cwd=self.folder).returncode, 0)
        self.assertTrue((self.folder / "a" / "x" / "trace.json").exists())
        self.trace("n" * 255)
        self.trace("n" * 255)
        self.assert_refused(onehead("trace", "--model", MINI, "--out", self.folder / ("n" * 256)), 1, "name too long")


class Signals(ProgramTest):
    def test_nothing_stays_of_a_run_that_is_ended(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            for moment in range(12):
                process = subprocess.Popen([BIN / "onehead", "trace", "--model", MINI, "--out", self.folder / "cat", "--quiet",
                                            "--text-file", LONG, "--format", "text,csv,npy"])
                time.sleep(0.02 * moment)
                process.send_signal(number)
                self.assertIn(process.wait(), (0, -number))
                self.assertLessEqual({entry.name for entry in self.folder.iterdir()}, {"cat"})

    def test_a_signal_that_is_ignored_stays_ignored(self):
        line = f"trap '' HUP; {BIN}/onehead trace --model {MINI} --text-file {LONG} --out {self.folder}/cat --quiet & sleep 0.05; kill -HUP $!; wait $!"
        self.assertEqual(shell(line).returncode, 0)


class Words(ProgramTest):
    def test_empty_values(self):
        for option in ("--model", "--out", "--experiment", "--tokens", "--text", "--format", "--head"):
            self.assert_refused(onehead("trace", option, ""), 2, option, "an empty one")
        self.assert_refused(onehead("compare", "", ""), 2, "an empty one")

    def test_a_word_too_many_is_named(self):
        self.assert_refused(onehead("trace", "--text", "The", "cat", "sat"), 2, "'cat'", "quotes")

    def test_ids_as_python_prints_them(self):
        facts = json.loads((self.trace("cat", "--tokens", "[464, 3797]") / "trace.json").read_text())
        self.assertEqual((facts["token_ids"], facts["tokens"]), ([464, 3797], ["'The'", "' cat'"]))

    def test_help_and_version(self):
        self.assertEqual(onehead("help").stdout, onehead("--help").stdout)
        self.assertEqual(onehead("help", "trace").stdout, onehead("trace", "--help").stdout)
        self.assertEqual(onehead("-v").stdout, onehead("--version").stdout)


class Traces(ProgramTest):
    def test_bytes_are_text(self):
        lines = (self.trace("cat", "--text", "The cat and") / "tokens.csv").read_text().splitlines()
        self.assertEqual(lines[3], r"2,290,' and',\x20\x61\x6e\x64")

    def test_a_trace_of_version_0_1_0_is_read_and_replaced(self):
        old, new = self.trace("old"), self.trace("new")
        facts = json.loads((old / "trace.json").read_text())
        del facts["tokens"]
        (old / "trace.json").write_text(json.dumps(facts))
        (old / "tokens.csv").write_text((old / "tokens.csv").read_text().replace("\\x", ""))
        self.assertEqual(onehead("compare", old, new).returncode, 0)
        self.trace("old")
        self.assertEqual((old / "tokens.csv").read_bytes(), (new / "tokens.csv").read_bytes())

    def test_arrays_alone_have_labels(self):
        out = self.trace("arrays", "--format", "npy")
        self.assertIn("' cat'", onehead("compare", out, out).stdout)

    def test_a_reader_sees_one_whole_trace(self):
        scaled, sharp, changing = self.trace("scaled"), self.trace("sharp", "--experiment", "unscaled"), self.trace("changing")
        line = f"{BIN}/onehead trace --model {MINI} --quiet --out {changing}"
        writer = subprocess.Popen(["bash", "-c", f"while {line} --experiment unscaled && {line}; do :; done"])
        try:
            found = [onehead("compare", changing, scaled) for _ in range(60)]
        finally:
            writer.terminate()
            writer.wait()
        expected = {onehead("compare", one, scaled).stdout.replace(str(one), "A") for one in (scaled, sharp)}
        expected.add(onehead("compare", scaled, scaled).stdout.replace(f"A  {scaled}", "A  A"))
        self.assertEqual([result.stderr for result in found], [""] * len(found))
        self.assertLessEqual({result.stdout.replace(str(changing), "A") for result in found}, expected)


class Checks(ProgramTest):
    def reference(self, name, array):
        numpy.save(self.folder / name, array)
        return self.folder / name

    def test_references_as_people_save_them(self):
        arrays, cat = self.trace("arrays", "--format", "npy"), self.trace("cat")
        masked, q, pattern = (numpy.load(arrays / f"{step}.npy") for step in ("10_masked_scores", "05_q", "11_softmax"))
        self.assertEqual(onehead("check", cat, self.reference("q.npy", q.astype("<f2")), "--step", "q").returncode, 0)
        finite = numpy.where(numpy.isinf(masked), numpy.float32(-3.4028235e38), masked)
        result = onehead("check", cat, self.reference("masked.npy", finite), "--step", "masked_scores")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("15 masked cells", result.stdout)
        heads = self.reference("heads.npy", numpy.stack([pattern, pattern * 0, pattern * 0])[None])
        self.assertEqual(onehead("check", cat, heads).returncode, 0)
        self.assertEqual(onehead("check", cat, heads, "--part", "1").returncode, 1)
        pattern[2, 1] = numpy.nan
        self.assertEqual(onehead("check", cat, self.reference("nan.npy", pattern), "--atol", "inf").returncode, 1)
        self.assert_refused(onehead("check", cat, self.folder / "all.npz"), 2, ".npz", "numpy.save")


if __name__ == "__main__":
    unittest.main()
