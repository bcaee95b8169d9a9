"""Every sentence of a lesson that judges a number, in many lessons (texts, heads, rows), held against numbers that numpy
computes from the CSVs beside it and from the model's file."""
import json
import math
import re
import struct
import unittest

import numpy as np

from programs import MINI, SOURCE, ProgramTest, run

LESSONS = sorted(path.stem for path in (SOURCE / "lessons").glob("[0-9]*.cpp"))
FOX = "The quick brown fox jumps over the lazy dog. The quick brown fox jumps"
DEFAULT = "The cat sat on the mat"
TEXTS = [DEFAULT, FOX, "John Smith is also the son of Fred Smith", "One", "Two words", "If you give a mouse a cookie, it asks for milk (and a napkin).",
         "to be or not to be, that is the question", "Dogs bark. Dogs bark. Dogs bark.", "a a a a a a a a a a a a a a a a a a a a"]
HEADS = ["0.0", "0.1", "0.2", "1.0", "1.2", "2.1", "3.0", "3.2"]
NUMBER = r"(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]\d+)?)"


def cases():
    """Text, layer, head, row (None: the default): 36 of them, so that with seven lessons there are more than 200."""
    for i, text in enumerate(TEXTS):
        n = len(text.split())
        for j in range(4):
            layer, head = HEADS[(3 * i + 5 * j) % len(HEADS)].split(".")
            yield text, int(layer), int(head), [None, 0, n - 1, min(1, n - 1)][j]


def tensors(path):
    with path.open("rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    types = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8"}
    return {name.removeprefix("transformer."): np.frombuffer(data[entry["data_offsets"][0]:entry["data_offsets"][1]], types[entry["dtype"]])
            .reshape(entry["shape"]).astype(float) for name, entry in header.items() if name != "__metadata__"}


WEIGHTS = tensors(MINI / "model.safetensors")
NEXT = json.loads((SOURCE / "tests/reference/mini-next-f64.json").read_text())


def known_next(ids, layer, head, change, row):
    """What was computed by other means, in float64, if that was for this text, head, change and row."""
    return next((one for one in NEXT if (one["token_ids"], one["layer"], one["head"], one["change"], one["row"]) == (ids, layer, head, change, row)), None)


def matrix(path):
    """A step's numbers. Labels can have commas, never the numbers."""
    lines = path.read_text().splitlines()
    width = len(re.findall(r'(?:^|,)"?(?:key\d+ \'|d\d+)', lines[0]))
    return np.array([[float(value) for value in line.rsplit(",", width)[1:]] for line in lines[1:]], dtype=float)


def effective(row):
    row = row[row > 0]
    return math.exp(-(row * np.log(row)).sum())


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


class Told:
    """What a lesson says, as one line, and the numbers that its folder and the whole head's have."""

    def __init__(self, folder, layer, head, row):
        self.pages = {lesson: " ".join((folder / lesson / "lesson.txt").read_text().split()) for lesson in LESSONS}
        self.steps = {path.stem[3:]: matrix(path) for path in (folder / "6_one_head").glob("[0-9]*.csv")}
        self.unscaled = matrix(folder / "3_scale/unscaled/11_softmax.csv")
        index = json.loads((folder / "6_one_head/trace.json").read_text())
        self.layer, self.head, self.row, self.n = layer, head, index["row"], len(index["token_ids"])
        self.ids, self.tokens = index["token_ids"], index["tokens"]
        assert row is None or row == self.row

    def of(self, step):
        return self.steps[step]


class Sentences(ProgramTest):
    def told(self, text, layer, head, row):
        options = ["--model", MINI, "--text", text, "--layer", layer, "--head", head, "--out", self.folder / "t"]
        options += [] if row is None else ["--row", row]
        for lesson in LESSONS:
            result = run(lesson, *options)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        return Told(self.folder / "t", layer, head, row)

    def find(self, pattern, page):
        found = re.search(pattern, page)
        self.assertIsNotNone(found, f"{pattern}\nis not in\n{page}")
        return found.groups()

    def close(self, shown, value, digits=None):
        """A number as it is shown, rounded, and what it should be."""
        if "e" in shown:
            return self.assertAlmostEqual(float(shown), value, delta=0.06 * abs(value) + 1e-12)
        digits = len(shown.split(".")[1]) if "." in shown else 0
        return self.assertAlmostEqual(float(shown), value, delta=0.5001 * 10 ** -digits + 1e-6 * abs(value))

    def test_all(self):
        count = self.known = 0
        for case in cases():
            with self.subTest(case=case):
                t = self.told(*case)
                for i, check in enumerate([self.first, self.second, self.third, self.fourth, self.fifth, self.sixth, self.seventh]):
                    page = t.pages[LESSONS[i]]
                    self.assertNotIn("(!)", page)
                    check(t, page)
                    count += 1
        self.assertGreater(count, 200)
        self.assertGreaterEqual(self.known, 2)

    def moved(self, position, answer, n):
        """None of the rows before a changed word moves; as many as can from there on."""
        before = "No row comes before it." if position == 0 else "Row 0, before it, does not change." if position == 1 else \
            f"None of rows 0 to {position - 1}, before it, changes."
        here = n - position
        self.assertTrue(answer.startswith(before), answer)
        if here == 1:
            self.assertRegex(answer, rf" Row {position} itself (changes|keeps its weights, to the last bit)\.$")
        else:
            found = re.search(r" (?:(All|None of the) (\d+) rows from there on changes?|(\d+) of the (\d+) rows from there on change)\b", answer)
            self.assertEqual(int(found[2] or found[4]), here)
            self.assertLess(int(found[3] or 0), here)

    def first(self, t, page):
        same, all_of = self.find(r"None\. Worked out from this row alone, as if the text had no other, (\d+) of (\d+) numbers are bit-identical", page)
        self.assertEqual((same, all_of), ("192", "192"))
        self.assertEqual("already holds what the layers below read in earlier rows" in page, t.layer > 0 and t.row > 0)
        residual = t.of("residual")[t.row]
        gain = WEIGHTS[f"h.{t.layer}.ln_1.weight"]
        divided = (residual - residual.mean()) / math.sqrt(residual.var() + 1e-5)
        mean, deviation, *after = self.find(rf"subtracts the mean of the row \({NUMBER}\) and divides by its standard deviation \({NUMBER}\); .* The standard "
                                            rf"deviation is {NUMBER} after the division, {NUMBER} after the gains \((\d+) of 192 are smaller than 1 in "
                                            rf"size\) and {NUMBER} after the biases", page)
        self.close(mean, residual.mean())
        self.close(deviation, residual.std())
        self.close(after[0], divided.std())
        self.close(after[1], (divided * gain).std())
        self.assertEqual(int(after[2]), int((abs(gain) < 1).sum()))
        self.close(after[3], t.of("normalized")[t.row].std())
        weights = t.of("softmax")[t.row]
        if t.row == 0:
            self.assertIn("row 0 can read only itself, and gets its own value whatever its score", page)
        elif (weights > 0).sum() == 1:
            self.assertEqual(int(self.find(r"gives all its weight to one of the (\d+) rows that it can read, but only because", page)[0]), t.row + 1)
        else:
            read, can, most = self.find(rf"gives a weight above 0 to (\d+) of the (\d+) rows that it can read, at most {NUMBER},", page)
            self.assertEqual((int(read), int(can)), (int((weights > 0).sum()), t.row + 1))
            self.close(most, weights.max())
        self.assertEqual("heads could read row" in page, t.layer > 0 and t.row > 0)
        self.assertEqual("because row 0 can read no other" in page, t.layer > 0 and t.row == 0)
        bias = WEIGHTS[f"h.{t.layer}.attn.c_attn.bias"][192 + 64 * t.head:][:64]
        added, = self.find(rf"b_k adds q · b_k to a score: in row .*? that is {NUMBER}, the same for every key", page)
        self.close(added, t.of("q")[t.row] @ bias)
        self.assertRegex(page, r"Only by rounding to float32: by \d\.\de-\d+ at most|Not at all: every weight is bit-identical\.")

    def second(self, t, page):
        scores, q, k = t.of("scores"), t.of("q"), t.of("k")
        if t.n > 1:
            verdict, i, j, there, back = self.find(rf"(No\.|Here they happen to agree in the digits shown\.) score\((\d+), (\d+)\) is {NUMBER}, "
                                                   rf"score\(\d+, \d+\) is {NUMBER}", page)
            self.close(there, scores[int(i), int(j)])
            self.close(back, scores[int(j), int(i)])
            self.assertEqual(verdict == "No.", there != back)
            self.assertEqual(int(i), t.row)
            self.assertEqual(int(j), max((key for key in range(t.n) if key != t.row), key=lambda key: scores[t.row, key]))
        best = int(scores[t.row, :t.row + 1].argmax())
        angles = [cosine(q[t.row], k[key]) for key in range(t.row + 1)]
        key_norm, query_norm, score = self.find(rf"Its key has a norm of {NUMBER}, the query of row \d+ a norm of {NUMBER}, and the score is {NUMBER}\. What is", page)
        self.close(key_norm, np.linalg.norm(k[best]))
        self.close(query_norm, np.linalg.norm(q[t.row]))
        self.close(score, scores[t.row, best])
        verdict, angle, degrees = self.find(rf"(Yes, within 45 degrees\.|Only partly\.|Hardly: they are nearly at right angles\.|No: they are at right angles or further "
                                            rf"apart\.) The cosine similarity is {NUMBER}, an angle of (\d+) degrees", page)
        self.close(angle, angles[best])
        self.close(degrees, math.degrees(math.acos(angles[best])))
        self.assertEqual(verdict[0], "Y" if angles[best] >= math.sqrt(.5) else "O" if angles[best] >= .25 else "H" if angles[best] > 0 else "N")
        nearest = int(np.argmax(angles))
        if t.row > 0:
            self.assertEqual("degrees: the smallest of the rows that it can read" in page, nearest == best)
        for row, near, norm in re.findall(rf"Row (\d+) '(?:(?! scores ).)*?' comes closer to the direction of the query \({NUMBER}\), but its key has a norm of {NUMBER}\.", page):
            self.assertEqual(int(row), nearest)
            self.close(near, angles[nearest])
            self.close(norm, np.linalg.norm(k[nearest]))
        if t.n > 1:
            negative = sum(scores[i, :i + 1].max() < 0 for i in range(1, t.n))
            rows = "row 1" if t.n == 2 else f"{negative} of rows 1 to {t.n - 1}" if negative else f"any of rows 1 to {t.n - 1}"
            self.assertIn(f"In {rows} that score is negative:" if negative else f"Here that score is not negative in {rows}.", page)
        self.assertEqual("so later rows have scores too" in page, t.row + 1 < t.n)
        own, largest, masked = self.find(rf"In row \d+ it is {NUMBER}\. In the whole head it is {NUMBER}: the query of row \d+ '.*?' with the key of row \d+ '.*?'"
                                         r"(, a later row, which lesson 4 will mask)?\. Whether", page)
        self.close(own, scores[t.row, abs(scores[t.row]).argmax()])
        self.close(largest, scores.flat[abs(scores).argmax()])
        at = divmod(int(abs(scores).argmax()), t.n)
        self.assertEqual(bool(masked), at[1] > at[0])
        self.assertRegex(page, r"None, in the digits shown\. The largest change is (0|\d\.\de-\d+, from rounding to float32)\."
                               r"|in the last digits\. The largest change is \d\.\de-\d+, from rounding to float32")
        for a, b, x, y, alike, angle in re.findall(rf"The scores of rows (\d+) '.*?' and (\d+) '.*?' look alike: {NUMBER} and {NUMBER}\. Their keys are "
                                                   rf"(similar, with a|not similar \()cosine similarity (?:of )?{NUMBER}", page):
            self.close(x, scores[t.row, int(a)])
            self.close(y, scores[t.row, int(b)])
            self.close(angle, cosine(k[int(a)], k[int(b)]))
            self.assertEqual(alike.startswith("similar"), cosine(k[int(a)], k[int(b)]) >= .5)

    def third(self, t, page):
        seen = t.of("scores")[np.tril_indices(t.n)].std()
        if t.n == 1:
            self.assertIn("A text of one token has one score", page)
        else:
            shown, = self.find(rf"that the mask allows have a standard deviation of {NUMBER}", page)
            self.close(shown, seen)
            self.assertEqual("times the prediction: queries and keys of a trained head are not" in page, seen > 16 or seen < 4)
        soft, sharp = t.of("softmax"), t.unscaled
        slope = lambda pattern, i: max(0, 1 - (pattern[i] ** 2).sum())
        if t.row == 0:
            self.assertIn("Row 0 can read only itself: its weight is 1 and its slope 0, scaled or not.", page)
        else:
            scaled, unscaled, verdict = self.find(rf"1 - sum of p\^2 is {NUMBER} scaled and {NUMBER} unscaled: (the same|without the division)", page)
            self.close(scaled, slope(soft, t.row))
            self.close(unscaled, slope(sharp, t.row))
            self.assertEqual(verdict == "the same", scaled == unscaled)
            self.assertLessEqual(float(unscaled), float(scaled))
        choice = range(1, t.n)
        over = "in row 1" if t.n == 2 else f"as means over rows 1 to {t.n - 1}"
        if t.n > 1 and (soft == sharp).all():
            scaled, = self.find(rf"In effect a row reads {NUMBER} rows, scaled or not \({over}\): the scores of this head are so far apart", page)
            self.close(scaled, np.mean([effective(soft[i]) for i in choice]))
        elif t.n > 1:
            scaled, unscaled, sharper, _, less, _, seen_so, raw, rows = self.find(
                rf"In effect a row reads {NUMBER} rows scaled and {NUMBER} unscaled \({over}\); unscaled it reads fewer in (\d+) of (\d+), and "
                rf"is less steep in (\d+) of (\d+)\. .* (seen like that,|even so) the unscaled head is less steep in (\d+) of (\d+)\.", page)
            self.close(scaled, np.mean([effective(soft[i]) for i in choice]))
            self.close(unscaled, np.mean([effective(sharp[i]) for i in choice]))
            self.assertEqual(int(rows), t.n - 1)
            self.assertEqual(int(sharper), sum(effective(sharp[i]) < effective(soft[i]) - 1e-6 for i in choice))
            self.assertEqual(int(less), sum(slope(sharp, i) < slope(soft, i) - 1e-6 for i in choice))
            self.assertEqual(int(raw), sum(slope(sharp, i) < slope(soft, i) / 8 - 1e-6 for i in choice))
            self.assertEqual(seen_so == "even so", int(raw) > 0)
        self.assertEqual("The -inf of a later row is the mask of lesson 4" in page, 0 < t.row < t.n - 1)
        if t.row > 0:
            wide, narrow = self.find(rf"the highest score is {NUMBER} above the lowest; scaled, {NUMBER}\.", page)
            visible = t.of("scores")[t.row, :t.row + 1]
            self.close(wide, np.ptp(visible))
            self.close(narrow, np.ptp(visible) / 8)
        self.next_token(t, page, "unscaled")

    def next_token(self, t, page, experiment):
        another, top, p, rest, moves, nats = self.find(rf"(No|Yes)\. As it is, ('.*?') is on top with {NUMBER}\. With this head {experiment}, (.*?) (The whole distribution "
                                                       rf"moves by {NUMBER} nats|Nothing moves, because row 0 can read only itself)", page)
        if moves.startswith("Nothing"):
            self.assertEqual((t.row, another), (0, "No"))
            return
        self.assertEqual("nats, which is next to nothing" in page, float(nats) < .01)
        self.assertEqual("it stays on top, with" in rest, f"{top} is left with" not in rest)
        self.assertEqual("it stays on top, with" in rest, another == "No")
        known = known_next(t.ids, t.layer, t.head, experiment, t.row)
        if known is not None:
            self.close(nats, known["worth_nats"])
            as_it_is = known_next(t.ids, None, None, None, t.row)["next"][0]
            self.close(p, as_it_is["probability"])
            self.assertEqual(rest.startswith("it stays on top"), known["next"][0]["token_id"] == as_it_is["token_id"])
            self.close(self.find(rf"on top,? with {NUMBER}", rest)[0], known["next"][0]["probability"])
            self.known += 1

    def fourth(self, t, page):
        pattern, n = t.of("softmax"), t.n
        if n == 1:
            self.assertIn("None: this text has one row, and nothing comes later.", page)
        else:
            masked, cells, zeros = self.find(r"(\d+) of (\d+): all cells right of the diagonal\. (It is|All of them are) exactly 0 afterwards", page)
            self.assertEqual((int(masked), int(cells), zeros), (n * (n - 1) // 2, n * n, "It is" if n == 2 else "All of them are"))
        scaled = t.of("scaled_scores")
        if t.row + 1 == n:
            self.assertIn("This is the last row: nothing comes later, so all rules agree.", page)
        else:
            changed, reads = self.find(rf"(None|\d) of the 4 changes? the weights of this row\. Without a mask, row .*? would give {NUMBER} to row", page)
            changed = 0 if changed == "None" else int(changed)
            self.assertEqual("this token gets nothing even so" in page, float(reads) == 0 and reads == "0")
            everything = np.exp(scaled[t.row] - scaled[t.row].max())
            self.close(reads, everything[t.row + 1] / everything.sum())
            later = everything[t.row + 1:].sum() / everything.sum()
            if later > 1e-6:
                self.assertGreaterEqual(int(changed), 2)
        self.assertEqual(self.find(rf"a cell masked by -10000 gets {NUMBER} of the weight", page)[0], ".881")
        if n >= 3:
            who = "Row 2 gives row 0" if n == 3 else f"Rows 2 to {n - 1} give row 0"
            given, equal, verdict = self.find(rf"{who} a weight of {NUMBER}(?: on average)?, where an equal share would be {NUMBER}\. "
                                              r"(That is what|That is more|So row 0 is not)", page)
            mean, share = pattern[2:, 0].mean(), np.mean([1 / (i + 1) for i in range(2, n)])
            self.close(given, mean)
            self.close(equal, share)
            self.assertEqual(verdict, "That is what" if mean > 2 * share else "That is more" if mean > share else "So row 0 is not")
        if n > 1:
            scaled_rows, rows, unscaled_rows, verdict = self.find(r"Scaled in (\d+) of (\d+), unscaled in (\d+) of \d+\. (This head|Unscaled|Either way)", page)
            counts = [int((one[1:].astype(np.float32) >= np.float32(.9)).any(axis=1).sum()) for one in (pattern, t.unscaled)]
            self.assertEqual([int(scaled_rows), int(unscaled_rows), int(rows)], [*counts, n - 1])
            self.assertEqual(verdict, "This head" if 2 * counts[0] > n - 1 else "Unscaled" if 2 * counts[1] > n - 1 else "Either way")

    def fifth(self, t, page):
        weights, v, blend = t.of("softmax")[t.row], t.of("v"), t.of("blend")[t.row]
        products = weights * np.linalg.norm(v, axis=1)
        heaviest, largest = int(weights.argmax()), int(products.argmax())
        self.assertEqual("Yes: row" in page, heaviest == largest)
        if heaviest != largest:
            self.assertRegex(page, rf"No: row {heaviest} .*? got most weight, .*?, but row {largest} ")
        shown, angle = self.find(rf"The cosine similarity of the blend and the value of row (\d+) is {NUMBER}", page)
        self.assertEqual(int(shown), largest)
        self.close(angle, cosine(blend, v[largest]))
        self.assertEqual("got all the weight, and the blend is its value" in page, (weights > 0).sum() == 1)
        if (weights > 0).sum() > 1:
            total, norm, verdict = self.find(rf"The products add up to {NUMBER}, the blend has a norm of {NUMBER}: (next to|vectors that)", page)
            self.close(total, products.sum())
            self.close(norm, np.linalg.norm(blend))
            self.assertEqual(verdict == "next to", total == norm)
        norms = self.find(rf"arrives with a norm of {NUMBER}\. This head adds a vector of norm {NUMBER} to it, and the other heads together add one of norm "
                          rf"{NUMBER}\. Is anything .*? The row that leaves has a norm of {NUMBER} ", page)
        for shown, step in zip(norms, ["residual", "output_projection", "other_heads", "residual_after"]):
            self.close(shown, np.linalg.norm(t.of(step)[t.row]))
        own, says = self.find(rf"Its weight on itself is {NUMBER}(.*?)\. The MLP", page)
        self.close(own, weights[t.row])
        self.assertEqual(says, ", for it can read nothing else" if t.row == 0 else ", so the blend is its own value" if weights[t.row] == 1 else
                         ", so all of the blend comes from other rows" if weights[t.row] == 0 else ": to that extent the head reads the row itself too")
        listed = re.search(r"and adds them up: (.*?)\. weight times the value of", page)[1]
        small = int((0 < weights).sum() - (weights >= .0005).sum())
        self.assertEqual(f", and less than .0005 of {small} other row" in listed, small > 0, listed)
        self.assertIn("192 of 192 of the numbers that it makes are bit-identical", page)

    def sixth(self, t, page):
        kept, cells = self.find(r"No\. With all other heads of the layer silenced, (\d+) of the (\d+) numbers of this head", page)
        self.assertEqual(kept, cells)
        self.assertRegex(page, r"Yes\. (\d+) of \1 numbers are the same to the last bit\.")
        silent = {f"{one['layer']}.{one['head']}": one for one in NEXT if one["change"] == "silent" and one["text"] == 2 and one["row"] == 14}
        top, p, head, left, own, own_left, little, heads = self.find(
            rf"With all heads the model expects ('.*?') with {NUMBER}\. Most is lost without head (\d\.\d)(?:, the head of this lesson)?: {NUMBER} is left\. "
            rf"(?:Without the head of this lesson, (\d\.\d), it keeps {NUMBER}\. )?(\d+) of (\d+) heads are worth less than 0\.01 nats", page)
        self.assertEqual("the head of this lesson: " in page, head == f"{t.layer}.{t.head}")
        own, own_left = own or head, own_left or left
        self.assertEqual(top, "' over'")
        self.assertEqual(own, f"{t.layer}.{t.head}")
        worth = {name: one["worth_nats"] for name, one in silent.items()}
        self.assertEqual(head, max(worth, key=worth.get))
        self.assertEqual((int(little), int(heads)), (sum(nats < .01 for nats in worth.values()), 12))
        for shown, name in ((left, head), (own_left, own)):
            known = [one["probability"] for one in silent[name]["next"] if one["token_id"] == 625]
            if known:
                self.close(shown, known[0])
            else:
                self.assertLess(float(shown), min(one["probability"] for one in silent[name]["next"]))
        self.close(p, known_next(silent[head]["token_ids"], None, None, None, 14)["next"][0]["probability"])
        for name, nats in re.findall(r" (\d\.\d) (\d\.\d{3}) \.\d{3}(?= )", page.split("left to the expected token")[1]):
            self.close(nats, worth[name])

    def seventh(self, t, page):
        pattern = t.of("softmax")
        self.assertIn("Yes, to rounding. The worst row is off by", page)
        later = t.n * (t.n - 1) // 2
        self.assertIn("There is no later row." if t.n == 1 else "The one weight on a later row is exactly 0." if t.n == 2 else
                      f"All {later} weights on later rows are exactly 0.", page)
        for position, answer in re.findall(r"in the place of (\d+) '.*?\. Which rows of the pattern change\? (.*?)(?= A pattern )", page):
            self.moved(int(position), answer, t.n)
        shown, mistakes = self.find(r"(None|\d) of (\d) changes? a weight by more than 5e-6", page)
        shown = 0 if shown == "None" else int(shown)
        largest = [float(x) for x in re.findall(r"(?:unscaled|divide-by-sqrt-d-model|raw-row|no-bias|wrong-slice) (\S+) \d+(?= )", page)]
        self.assertEqual(len(largest), int(mistakes))
        self.assertEqual(sum(x > 5e-6 for x in largest), int(shown))
        self.close(f"{largest[0]:.1e}", abs(pattern - t.unscaled).max() if largest[0] else 0)
        if t.ids == [464, 3797, 3332, 319, 262, 2603]:
            right = tensors(SOURCE / "tests/reference/mini-0-f64.safetensors")[f"{t.layer}.pattern"][t.head]
            scaled, unscaled = self.find(r"Scaled it (passes|fails): .*? Unscaled it (passes|fails):", page)
            self.assertEqual(scaled, "passes" if abs(right - pattern).max() <= 5e-6 else "fails")
            self.assertEqual(unscaled, "passes" if abs(right - t.unscaled).max() <= 5e-6 else "fails")
        self.next_token(t, page, "unscaled")


if __name__ == "__main__":
    unittest.main()
