"""The command as a user runs it: what it writes, what it refuses, and its exit codes."""
import json
import os
import subprocess
import unittest
from csv import DictReader

import numpy

from programs import BIN, MINI, SHARED, SOURCE, ProgramTest, onehead
from tiny_model import safetensors, tensors, varied, write_tiny

STEPS = ["01_token_embedding", "02_position_embedding", "03_residual", "04_normalized", "05_q", "06_k", "07_v", "08_scores",
         "09_scaled_scores", "10_masked_scores", "11_softmax", "12_blend", "13_output_projection", "14_other_heads",
         "15_projection_bias", "16_residual_after"]


class Trace(ProgramTest):
    def test_writes_every_step(self):
        out = self.trace("cat")
        files = {f"{step}.csv" for step in STEPS} | {"tokens.csv", "trace.txt", "trace.json"}
        self.assertEqual({entry.name for entry in out.iterdir()}, files)

    def test_says_what_the_design_promises_of_row_4(self):
        page = onehead("trace", "--model", MINI).stdout
        self.assertRegex(page, r"08 scores +13\.00 +14\.78 +-0\.08 +-1\.66 +7\.84 +14\.78")
        self.assertRegex(page, r"09 scaled_scores +1\.62 +1\.85 +-0\.01 +-0\.21 +0\.98 +1\.85")
        self.assertRegex(page, r"10 masked_scores +1\.62 +1\.85 +-0\.01 +-0\.21 +0\.98 +-inf")
        self.assertRegex(page, r"11 softmax +\.320 +\.399 +\.062 +\.051 +\.168 +0\n")
        sharp = onehead("trace", "--model", MINI, "--experiment", "unscaled").stdout
        self.assertRegex(sharp, r"11 softmax +\.144 +\.856 +\.000 +\.000 +\.001 +0\n")

    def test_describes_the_run(self):
        facts = json.loads((self.trace("cat", "--head", "1", "--row", "2") / "trace.json").read_text())
        self.assertEqual(facts["schema"], "onehead-trace")
        self.assertEqual(facts["token_ids"], [464, 3797, 3332, 319, 262, 2603])
        self.assertEqual((facts["layer"], facts["head"], facts["row"]), (0, 1, 2))
        self.assertEqual([step["file"] for step in facts["steps"]], [f"{step}.csv" for step in STEPS])
        self.assertEqual(facts["steps"][10]["shape"], [6, 6])

    def test_a_deeper_head_has_no_embeddings(self):
        out = self.trace("deep", "--layer", "3", "--head", "2")
        self.assertFalse((out / "01_token_embedding.csv").exists())
        self.assertTrue((out / "03_residual.csv").exists())

    def test_the_same_run_gives_the_same_bytes_whatever_the_threads(self):
        first = self.trace("one", "--text-file", SOURCE / "data/texts/fox.txt", "--layer", "2", "--threads", "1")
        second = self.trace("two", "--text-file", SOURCE / "data/texts/fox.txt", "--layer", "2", "--threads", "2")
        for file in first.iterdir():
            self.assertEqual(file.read_bytes(), (second / file.name).read_bytes(), file.name)

    def test_a_text_file_is_taken_byte_by_byte_but_for_its_final_newline(self):
        text = self.folder / "text.txt"
        for content, ids in {"The cat": [464, 3797], "The cat\n": [464, 3797], "The cat\r\n": [464, 3797], "The cat\n\n": [464, 3797, 198],
                             "The cat\n ": [464, 3797, 198, 220], "\nThe cat": [198, 464, 3797]}.items():
            text.write_bytes(content.encode())
            facts = json.loads((self.trace("file", "--text-file", text) / "trace.json").read_text())
            self.assertEqual(facts["token_ids"], ids, content)

    def test_replaces_a_trace_and_nothing_else(self):
        out = self.trace("cat")
        self.trace("cat", "--head", "1")
        self.assertIn('"head": 1', (out / "trace.json").read_text())
        (out / "notes.txt").write_text("mine")
        result = onehead("trace", "--model", MINI, "--out", out)
        self.assert_refused(result, 1, "notes.txt")
        self.assertEqual((out / "notes.txt").read_text(), "mine")
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["cat"])

    def test_leaves_nothing_half_written(self):
        self.assert_refused(onehead("trace", "--model", MINI, "--head", "3", "--out", self.folder / "x"), 2, "--head: expected one from 0 to 2, found 3")
        self.assert_refused(onehead("trace", "--model", MINI, "--out", "/proc/x"), 1, "/proc")
        (self.folder / "file").write_text("mine")
        self.assert_refused(onehead("trace", "--model", MINI, "--out", self.folder / "file"), 1, "not a folder")
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["file"])

    def test_without_out_it_writes_nothing(self):
        self.assertEqual(onehead("trace", "--model", MINI, cwd=self.folder).returncode, 0)
        self.assertEqual(list(self.folder.iterdir()), [])


class Refusals(ProgramTest):
    def refuse(self, code, words, *arguments):
        self.assert_refused(onehead(*arguments), code, *words)

    def test_wrong_use(self):
        self.refuse(2, ["--text", "empty"], "trace", "--model", MINI, "--text", "")
        self.refuse(2, ["513", "512"], "trace", "--model", MINI, "--tokens", ",".join(["464"] * 513))
        self.refuse(2, ["--head: expected one from 0 to 2, found 3"], "trace", "--model", MINI, "--head", "3")
        self.refuse(2, ["--head", "-1"], "trace", "--model", MINI, "--head=-1")
        self.refuse(2, ["--head", "one"], "trace", "--model", MINI, "--head", "one")
        self.refuse(2, ["--layer: expected one of", "0, 1, 2, 3, found 4"], "trace", "--model", MINI, "--layer", "4")
        self.refuse(2, ["--row: expected one from 0 to 5, found 6"], "trace", "--model", MINI, "--row", "6")
        self.refuse(2, ["--foo"], "trace", "--foo")
        self.refuse(2, ["--%original_token%"], "trace", "--%original_token%")
        self.refuse(2, ["experiment", "unscaled"], "trace", "--model", MINI, "--experiment", "scaled")
        self.refuse(2, ["--format", "text, csv, npy"], "trace", "--model", MINI, "--out", self.folder / "x", "--format", "pdf")
        self.refuse(2, ["--text", "--tokens"], "trace", "--model", MINI, "--text", "a", "--tokens", "1")
        self.refuse(2, ["50257"], "trace", "--model", MINI, "--tokens", "50257")
        self.refuse(2, ["dance"], "dance")
        self.assertEqual(onehead().returncode, 2)

    def test_bad_models(self):
        self.refuse(1, ["nowhere"], "trace", "--model", self.folder / "nowhere")
        self.refuse(1, ["config.json"], "trace", "--model", self.folder)
        for file in MINI.iterdir():
            os.symlink(file, self.folder / file.name)
        (self.folder / "model.safetensors").unlink()
        (self.folder / "model.safetensors").write_bytes((MINI / "model.safetensors").read_bytes()[:100000])
        self.refuse(1, ["model.safetensors", "23054976", "download it again"], "trace", "--model", self.folder)

    def test_text_that_is_not_utf8(self):
        text = self.folder / "text.txt"
        text.write_bytes(b"The \xff cat")
        self.refuse(2, ["--text-file: byte 4"], "trace", "--model", MINI, "--text-file", text)

    def test_the_option_that_was_given_is_named(self):
        mini = ["--model", MINI]
        for option, arguments in (("--tokens: expected", ["trace", *mini, "--tokens", "464,99999"]), ("--change: expected one from 0 to 5, found 9", ["causality", *mini, "--change", "9=dog"]),
                                  ("--change: byte 1", ["causality", *mini, "--text", "The cat", "--change", b"1=a\xff"]),
                                  ("--append: byte 0", ["causality", *mini, "--append", b"\xff"]), ("--text: byte 0", ["tokens", *mini, "--text", b"\xff"])):
            result = subprocess.run([BIN / "onehead", *arguments], capture_output=True, text=True, check=False)
            self.assert_refused(result, 2, "onehead: " + option)

    @unittest.skipUnless(os.geteuid() == 0, "SKIPPED: only root can become somebody else")
    def test_a_model_that_may_not_be_read_is_not_said_to_be_missing(self):
        model = write_tiny(self.folder / "tiny")
        self.folder.chmod(0o755)
        model.chmod(0o700)
        result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", BIN / "onehead", "trace", "--model", model], capture_output=True, text=True, check=False)
        self.assert_refused(result, 1, "Permission denied")


class Compare(ProgramTest):
    def test_equal_runs(self):
        result = onehead("compare", self.trace("a"), self.trace("b"))
        self.assertEqual(result.returncode, 0)
        lines = [line.split() for line in result.stdout.splitlines()]
        for step in STEPS:  # width 192, head width 64, 6 rows
            name = step[3:]
            of = {"q": 6 * 64, "k": 6 * 64, "v": 6 * 64, "blend": 6 * 64, "scores": 36, "scaled_scores": 36, "masked_scores": 36,
                  "softmax": 36, "projection_bias": 192}.get(name, 6 * 192)
            self.assertIn([step, "0", str(of), str(of)], lines)
        self.assertIn("every value is bit-identical", result.stdout)

    def test_scaled_against_unscaled(self):
        csv = self.folder / "steps.csv"
        result = onehead("compare", self.trace("a"), self.trace("b", "--experiment", "unscaled"), "--csv", csv)
        self.assertEqual(result.returncode, 1)
        self.assertIn("sharper in 5 of 6 rows: in effect it reads 1.5 rows instead of 3.1, as means over all 6 rows", " ".join(result.stdout.split()))
        rows = dict(line.split(",", 1) for line in csv.read_text().splitlines())
        self.assertEqual(rows["08_scores"], "0,,,36,36")
        self.assertTrue(rows["11_softmax"].startswith("0.65"))

    def test_two_heads_are_said_to_be_two(self):
        words = lambda *names: " ".join(onehead("compare", *names).stdout.split())
        a, deeper = self.trace("a"), self.trace("deeper", "--layer", "3", "--head", "2")
        self.assertIn("these are two heads: layer 0, head 0 and layer 3, head 2; B is sharper", words(a, deeper))
        self.assertNotIn("two heads", words(a, self.trace("b", "--experiment", "unscaled")))
        tiny = []
        for gain in (1, 1.25):
            folder = self.folder / str(gain)
            folder.mkdir()
            model = write_tiny(folder / "tiny")
            (model / "model.safetensors").write_bytes(safetensors(tensors() | {"h.0.ln_1.weight": varied(4, middle=gain)}))
            tiny.append(folder / "out")
            self.assertEqual(onehead("trace", "--model", model, "--text", "the cat", "--out", tiny[-1], "--quiet").returncode, 0)
        self.assertIn("these are two models, both named tiny; ", words(*tiny))

    def test_a_replaced_piece_of_a_character_is_said_to_be_one(self):
        words = lambda pos: " ".join(onehead("causality", "--model", MINI, "--text", "The cat \U0001F600 mat", "--change", f"{pos}=dog").stdout.split())
        self.assertIn("(a piece of a character was replaced; its other pieces stay)", words(3))
        self.assertNotIn("piece", words(1))

    def test_tolerance(self):
        a, b = self.trace("a"), self.trace("b", "--experiment", "unscaled")
        self.assertEqual(onehead("compare", a, b, "--tolerance", "1").returncode, 1)
        self.assertEqual(onehead("compare", a, b, "--tolerance", "1000").returncode, 0)

    def test_refuses_other_tokens_and_what_is_no_trace(self):
        self.assert_refused(onehead("compare", self.trace("a"), self.trace("b", "--text", "The dog")), 2, "tokens")
        self.assert_refused(onehead("compare", self.trace("c"), self.folder), 2, "trace.json")
        self.assert_refused(onehead("compare", self.trace("d")), 2, "the second trace folder", "compare A B")


class Others(ProgramTest):
    def test_tokens(self):
        result = onehead("tokens", "The unhappiness", "--model", MINI)
        self.assertEqual([line.split()[1] for line in result.stdout.splitlines()[1:]], ["464", "14274", "42661"])

    def test_help_and_version(self):
        self.assertIn("trace", onehead("--help").stdout)
        self.assertRegex(onehead("--version").stdout, r"^onehead \d+\.\d+\.\d+\n$")
        for command in ["trace", "heads", "experiments", "compare", "causality", "worked", "check", "tokens", "excerpt", "next"]:
            result = onehead(command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("examples:", result.stdout)

    def test_experiments_all_run(self):
        names = [line for line in onehead("experiments").stdout.splitlines() if not line.startswith(" ")]
        self.assertGreaterEqual(len(names), 7)
        for name in names:
            self.trace(name, "--experiment", name)

    def test_worked_ends_in_the_number_of_the_trace(self):
        csv = self.folder / "score.csv"
        result = onehead("worked", "scores", "4", "1", "--model", MINI, "--csv", csv)
        self.assertEqual(result.returncode, 0)
        self.assertIn("14.784137, the same, to the last bit", result.stdout)
        self.assertEqual(len(csv.read_text().splitlines()), 1 + 64 + 1)

    def test_causality(self):
        for change in (["--change", "1=dog"], ["--change", "5=rug"], ["--append", "and slept"], ["--change", "4=the"]):
            for layer in ("0", "3"):
                result = onehead("causality", "--model", MINI, "--layer", layer, *change)
                self.assertEqual(result.returncode, 0, result.stdout)
        self.assert_refused(onehead("causality", "--model", MINI, "--change", "1=unhappiness"), 2, "positions shift")

    def test_heads(self):
        csv = self.folder / "heads.csv"
        result = onehead("heads", "--model", MINI, "--text-file", SOURCE / "data/texts/fox.txt", "--sort", "previous", "--out", csv)
        self.assertEqual(result.returncode, 0)
        lines = [line.split() for line in result.stdout.splitlines()]
        header = next(n for n, words in enumerate(lines) if words[:1] == ["head"])
        shown = lines[header + 1:header + 1 + 12]
        self.assertEqual(sorted(words[0] for words in shown), [f"{layer}.{head}" for layer in range(4) for head in range(3)])
        previous = [float(words[lines[header].index("previous")]) for words in shown]
        self.assertEqual(previous, sorted(previous, reverse=True))
        self.assertEqual(shown[0][0], "0.2")
        with csv.open(newline="") as file:
            rows = list(DictReader(file))
        self.assertEqual([f"{row['layer']}.{row['head']}" for row in rows], [words[0] for words in shown])
        pattern = numpy.load(self.trace("previous", "--text-file", SOURCE / "data/texts/fox.txt", "--head", "2", "--format", "npy") / "11_softmax.npy")
        self.assertAlmostEqual(float(rows[0]["previous"]), numpy.diagonal(pattern, -1).mean(), places=5)

    def test_what_a_text_gives_no_occasion_to_measure_is_empty(self):
        csv = self.folder / "heads.csv"
        for text, empty in (("Hi", "self previous first induction duplicate entropy effective_rows strongest query key"),
                            ("a b", "induction duplicate strongest query key"), ("a b c", "induction duplicate"), ("a a a", "induction"), ("a a a a", "")):
            result = onehead("heads", "--model", MINI, "--text", text, "--out", csv, "--sort", "strongest")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertNotIn("nan", result.stdout)
            with csv.open(newline="") as file:
                rows = list(DictReader(file))
            self.assertEqual(len(rows), 12)
            for row in rows:
                self.assertEqual({name for name, value in row.items() if value == "" and not name.endswith("_pos")}, set(empty.split()), text)
            strongest = [float(row["strongest"]) for row in rows if row["strongest"]]
            self.assertEqual(strongest, sorted(strongest, reverse=True))
        self.assertIn("(1 token)", onehead("heads", "--model", MINI, "--text", "Hi").stdout)

    def test_an_excerpt_traces_to_the_same_bytes(self):
        for layer in ("0", "3"):
            file = self.folder / f"{layer}.safetensors"
            self.assertEqual(onehead("excerpt", "--model", MINI, "--layer", layer, "--out", file).returncode, 0)
            whole = self.trace("whole", "--layer", layer, "--head", "1")
            part = self.folder / "part"
            self.assertEqual(onehead("trace", "--model", file, "--head", "1", "--out", part).returncode, 0)
            for csv in whole.glob("*.csv"):
                self.assertEqual(csv.read_bytes(), (part / csv.name).read_bytes(), csv.name)
        self.assert_refused(onehead("trace", "--model", file, "--layer", "1"), 2, "layer")
        self.assert_refused(onehead("trace", "--model", file, "--text", "A dog"), 2, "The cat sat on the mat")

    def test_check_against_pytorch(self):
        reference = SOURCE / "tests/reference/mini-0-f64.safetensors"
        pattern = ["--step", "softmax", "--tensor", "0.pattern", "--part", "0"]
        result = onehead("check", self.trace("right"), reference, *pattern)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertTrue(result.stdout.startswith("PASS"))
        for wrong in ("unscaled", "raw-row", "no-bias", "wrong-slice"):
            result = onehead("check", self.trace(wrong, "--experiment", wrong), reference, *pattern)
            self.assertEqual(result.returncode, 1, wrong)
            self.assertTrue(result.stdout.startswith("FAIL"))

    def test_check_goes_through_the_tensors_whose_names_it_knows(self):
        """An implementation that forgot the division, its arrays named and laid out as three libraries have them."""
        out = self.trace("right", "--head", "1", "--format", "npy")
        step = {path.stem[3:]: numpy.load(path) for path in out.glob("*.npy")}
        def softmax(scores):
            seen = numpy.where(numpy.tri(6, dtype=bool), scores, -numpy.inf)
            power = numpy.exp(seen - seen.max(axis=1, keepdims=True))
            return power / power.sum(axis=1, keepdims=True)
        product = step["q"].astype(float) @ step["k"].astype(float).T
        heads = lambda one, axis: numpy.insert(numpy.zeros([2 if n == axis else size for n, size in enumerate(numpy.expand_dims(one, axis).shape)]), 1, one, axis)
        fused = numpy.concatenate([heads(step[name], 1).reshape(6, 192) for name in "qkv"], axis=1)
        transformer_lens = {"blocks.0.hook_resid_pre": step["residual"][None], "blocks.0.attn.hook_q": heads(step["q"], 1)[None],
                            "blocks.0.attn.hook_pattern": heads(softmax(product / 8), 0)[None]}
        hugging_face = {"hidden_states.0": step["residual"][None], "h.0.attn.c_attn": fused[None], "attentions.0": heads(softmax(product / 8), 0)[None]}
        ours = {"03_residual": step["residual"], "q": step["q"], "11_softmax": softmax(product / 8)}
        def check(tensors, *arguments):
            file = self.folder / "reference.safetensors"
            file.write_bytes(safetensors({name: ("F32", list(values.shape), values.astype("<f4").tobytes()) for name, values in tensors.items()}))
            return onehead("check", out, file, *arguments)
        for tensors in (transformer_lens, hugging_face, ours):
            right = check(tensors)
            self.assertEqual((right.returncode, right.stderr), (0, ""), right.stdout)
            steps = ["03_residual", "05_q", "06_k", "07_v", "11_softmax"] if tensors is hugging_face else ["03_residual", "05_q", "11_softmax"]
            self.assertEqual([line.split()[1].rstrip(",") for line in right.stdout.splitlines()], steps)
            last = list(tensors)[-1]
            wrong = tensors | {last: softmax(product) if tensors is ours else heads(softmax(product), 0)[None]}
            result = check(wrong)
            self.assertEqual(result.returncode, 1)
            lines = result.stdout.splitlines()
            self.assertTrue(lines[-3].startswith("FAIL: 11_softmax"))
            self.assertEqual(lines[-2], "The reference agrees with `unscaled` within tolerance: it divides the scores by 1 instead of sqrt(d_head).")
            self.assertEqual(lines[-1], f"11_softmax ({last}) is the first step that differs; steps before it that agree: {len(steps) - 1}.")
            self.assertEqual(check(wrong, "--step", "q").returncode, 0)
        self.assertIn("with none of the experiments", check(ours | {"11_softmax": softmax(product / 3)}).stdout)
        self.assert_refused(check({"strange": step["q"]}), 2, "--tensor NAME")

    @unittest.skipUnless(SHARED.joinpath("gpt2-small").exists(), "SKIPPED: the excerpts of GPT-2 small are not here")
    def test_real_gpt2_without_the_division_is_sharp(self):
        block = SHARED / "gpt2-small/block0.safetensors"
        for name, experiment in (("a", []), ("b", ["--experiment", "unscaled"])):
            self.assertEqual(onehead("trace", "--model", block, "--out", self.folder / name, *experiment).returncode, 0)
        self.assertFalse((self.folder / "a/03_residual.csv").exists())
        result = onehead("compare", self.folder / "a", self.folder / "b")
        self.assertEqual(result.returncode, 1)
        self.assert_refused(onehead("trace", "--model", block, "--experiment", "raw-row"), 2, "raw rows")


if __name__ == "__main__":
    unittest.main()
