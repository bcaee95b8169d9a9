"""A page of Markdown as its test sees it: commands and the output shown after them, code that is quoted or run, tables
that a command makes, and prose. What the page says to its test stands in comments at the beginning of a line:

    <!-- $ onehead heads -->                     a command that is run, its output not shown
    <!-- given: 768 2019 -->                     numbers of this section (or, before the first section, of the page) that
                                                 come from elsewhere and are no result of a command
    <!-- measured by: ctest -R cli.faults -->    the numbers of this section are printed by this, which takes too long here
    <!-- not run: needs a download -->           the code block that follows is only read
    <!-- picture: previous/pattern.svg -->       the picture that follows is this file, which the commands before it made
    <!-- made by: onehead terms --markdown -->   what follows, up to <!-- end -->, is this command's output
"""
import re
from dataclasses import dataclass, field

SPAN = re.compile(r"(`+)(.+?)\1")
RUN = re.compile(r"onehead (?:\w+ \S|(?:trace|heads|experiments|terms)$)|[1-7]_[a-z_]+$")  # in prose: a command that can be run
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


@dataclass
class Step:
    """Something that is run: a command, or a block of Python or R."""
    kind: str  # "command", "span", "python", "r"
    text: str
    section: int
    shown: list | None = None  # the lines of output on the page, None if they are not shown
    place: tuple = ()  # where these lines are, for the update


@dataclass
class Prose:
    """A paragraph, a heading or a row of a table, and the commands in it."""
    text: str
    section: int
    place: tuple  # its lines
    commands: list = field(default_factory=list)

    @property
    def spans(self):
        return [match[2].strip() for match in SPAN.finditer(self.text)]


class Page:
    def __init__(self, path, text):
        self.path, self.lines = path, text.split("\n")
        self.steps, self.prose, self.quotes, self.pictures, self.read_only = [], [], [], [], []
        self.given = {}  # section: the numbers
        self.measured_elsewhere = set()  # sections
        self.section = self.at = 0
        while self.at < len(self.lines):
            self.read()

    def read(self):
        line = self.lines[self.at]
        if line.startswith("<!--"):
            self.comment()
        elif line.startswith("```"):
            self.fence()
        elif not line.strip():
            self.at += 1
        else:
            self.paragraph()

    def comment(self):
        end = next(i for i in range(self.at, len(self.lines)) if "-->" in self.lines[i])
        text = "\n".join(self.lines[self.at:end + 1]).removeprefix("<!--").split("-->")[0].strip()
        self.at = end + 1
        if text.startswith("$ "):
            self.steps += [Step("command", command.removeprefix("$ "), self.section) for command in text.split("\n")]
        elif text.startswith("given:"):
            self.given.setdefault(self.section, set()).update(text.split()[1:])
        elif text.startswith("measured by:"):
            self.measured_elsewhere.add(self.section)
        elif text.startswith("not run:"):
            language, code, _ = self.fenced()
            self.read_only.append((language, code))
        elif text.startswith("picture:"):
            self.pictures.append((text.split()[1], PICTURE.search(self.lines[self.at])[1], self.section))
        elif text.startswith("made by:"):
            end = self.lines.index("<!-- end -->", self.at)
            command = text.removeprefix("made by:").strip()
            self.steps.append(Step("command", command, self.section, self.lines[self.at:end], (self.at, end)))
            self.at = end + 1
        else:
            raise ValueError(f"{self.path}: the comment \"{text}\" says nothing that is known")

    def fenced(self):
        """The language of the code block that begins here, its lines, and where they are. Leaves it behind."""
        begin = self.at + 1
        end = self.lines.index("```", begin)
        language = self.lines[self.at].removeprefix("```")
        self.at = end + 1
        return language, self.lines[begin:end], (begin, end)

    def fence(self):
        language, lines, (begin, _) = self.fenced()
        if language == "console":
            self.console(lines, begin)
        elif language in ("python", "r"):
            step = Step(language, "\n".join(lines), self.section)
            if self.lines[self.at:self.at + 1] == ["```text"]:
                _, step.shown, step.place = self.fenced()
            self.steps.append(step)
        elif language == "cpp":
            self.quotes.append(("\n".join(lines), self.section))
        elif language in ("sh", "cmake"):
            self.read_only.append((language, lines))
        else:
            raise ValueError(f"{self.path}:{begin}: a block is console, python, r, cpp, sh or cmake, and not \"{language}\"")

    def console(self, lines, begin):
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        if not starts or starts[0] != 0:
            raise ValueError(f"{self.path}:{begin}: a console block begins with a command")
        for start, end in zip(starts, starts[1:] + [len(lines)]):
            place = (begin + start + 1, begin + end)
            self.steps.append(Step("command", lines[start][2:], self.section, lines[start + 1:end], place))

    def paragraph(self):
        begin, first = self.at, self.lines[self.at]
        if first.startswith("##"):
            self.section += 1
        self.at += 1
        if not first.startswith(("|", "#")):
            while self.at < len(self.lines) and re.match(r"(?!```|<!--|\||#)\s*\S", self.lines[self.at]):
                self.at += 1
        prose = Prose(" ".join(self.lines[begin:self.at]), self.section, (begin, self.at))
        for span in prose.spans:
            if RUN.match(span):
                prose.commands.append(Step("span", span, self.section))
        self.steps += prose.commands
        self.prose.append(prose)
