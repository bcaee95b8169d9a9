"""The command on a terminal: the pattern as a shaded grid, in colour unless the user wants none. Never in a pipe."""
import os
import pty
import re
import struct
import fcntl
import termios
import unittest

from programs import BIN, MINI, SOURCE, ProgramTest, onehead

LONG = SOURCE / "tests" / "reference" / "100-tokens.txt"


def on_terminal(columns, *arguments, **environment):
    """What the command shows on a terminal of that many columns."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update({"TERM": "xterm-256color", **environment})
        os.execv(BIN / "onehead", ["onehead", *map(str, arguments)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass  # how a terminal ends when the program does
    os.waitpid(process, 0)
    return shown.decode().replace("\r\n", "\n")


def grid(shown):
    """The lines from the heads of the grid on."""
    return shown.split("the larger the weight, from 0 to 1.\n\n")[1].splitlines()


def visible(line):
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def luminance(colour):
    """Of one of the 216 colours that begin at 16 in a terminal's table of 256."""
    assert 16 <= colour < 232
    steps = [(0, 95, 135, 175, 215, 255)[(colour - 16) // part % 6] / 255 for part in (36, 6, 1)]
    return sum(w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), steps))


class Terminal(ProgramTest):
    def test_shows_the_pattern_in_colour(self):
        lines = grid(on_terminal(100, "trace", "--model", MINI))
        self.assertIn("\x1b[48;5;", lines[1])
        self.assertIn("the brighter the cell, the larger the weight", " ".join(on_terminal(100, "trace", "--model", MINI).split()))
        self.assertRegex(visible(lines[5]), r"^>4 ' the' +\.320 +\.399 +\.062 +\.051 +\.168 +\.$")

    def test_brighter_is_more_and_every_number_can_be_read(self):
        cells = sorted({(float(number), int(ground), int(ink)) for line in grid(on_terminal(100, "trace", "--model", MINI))
                        for ground, ink, number in re.findall(r"\x1b\[48;5;(\d+);38;5;(\d+)m +([\d.]+)\x1b", line)})
        self.assertGreater(len({ground for _, ground, _ in cells}), 4)
        brightness = [luminance(ground) for _, ground, _ in cells]
        self.assertEqual(brightness, sorted(brightness))
        for number, ground, ink in cells:
            darker, brighter = sorted((luminance(ground), luminance(ink)))
            self.assertGreaterEqual((brighter + 0.05) / (darker + 0.05), 4.5, number)

    def test_no_color(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            shown = on_terminal(100, "trace", "--model", MINI, **environment)
            self.assertNotIn("\x1b", shown)
            cells = sorted((float(number), " \u2591\u2592\u2593\u2588".index(block)) for line in grid(shown)[1:7]
                           for number, block in re.findall(r"(1|0|\.\d{3})([ \u2591-\u2593\u2588])\2", line))
            self.assertEqual(len(cells), 21)  # those that the mask leaves
            self.assertEqual([density for _, density in cells], sorted(density for _, density in cells))
            self.assertGreater(len({density for _, density in cells}), 3)
            self.assertEqual(cells[-1], (1, 4))

    def test_fits_the_width_and_says_what_is_cut(self):
        for columns in (40, 80, 132):
            shown = on_terminal(columns, "trace", "--model", MINI, "--text-file", LONG, "--out", self.folder / "t")
            lines = [visible(line) for line in grid(shown)]
            self.assertLessEqual(max(map(len, lines[:-2])), columns)
            self.assertTrue(any(re.fullmatch(r"\.\.\. rows and keys \d+ to 99, of 100", line) for line in lines))

    def test_a_pipe_gets_plain_text(self):
        shown = onehead("trace", "--model", MINI, env={**os.environ, "TERM": "xterm-256color"}).stdout
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("the larger the weight", shown)


if __name__ == "__main__":
    unittest.main()
