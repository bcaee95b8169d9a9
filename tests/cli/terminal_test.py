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


class Terminal(ProgramTest):
    def test_shows_the_pattern_in_colour(self):
        lines = grid(on_terminal(100, "trace", "--model", MINI))
        self.assertIn("\x1b[48;5;", lines[1])
        self.assertRegex(visible(lines[5]), r"^>4 ' the' +\.320 +\.399 +\.062 +\.051 +\.168 +\.$")

    def test_no_color(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            shown = on_terminal(100, "trace", "--model", MINI, **environment)
            self.assertNotIn("\x1b", shown)
            self.assertRegex(grid(shown)[5], r"\.399\u2588\u2588")

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
