"""Puts what a page's commands print now into the page. Where the page leaves lines out, the lines that are most like
those shown before, with any numbers in them, take their place."""
import difflib
import re
import sys

from complaints import shows, trimmed
from docs_test import read_page
from reader import SKIPPED, Reader


def without_numbers(lines):
    return [re.sub(r"[-\d.e+]+", "#", line) for line in lines]


def likeness(a, b):
    return sum(difflib.SequenceMatcher(None, x, y, autojunk=False).ratio() for x, y in zip(without_numbers(a), without_numbers(b)))


def most_alike(segment, output, begin, end):
    """Where in the output, from begin on, the lines stand that are most like the segment."""
    return max(range(begin, max(begin, end - len(segment)) + 1), key=lambda at: (likeness(segment, output[at:at + len(segment)]), -at))


def segments(lines):
    parts = [[]]
    for line in lines:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def refilled(shown, output):
    """The lines to show of the output now."""
    if "..." not in shown or shows(shown, output):
        return shown if shows(shown, output) else output
    first, *middle, last = segments(shown)
    lines, at = output[:len(first)], len(first)
    for segment in middle:
        begin = most_alike(segment, output, at + 1, len(output) - len(last) - 1)
        at = begin + len(segment)
        lines += ["...", *output[begin:at]]
    return [*lines, "...", *output[len(output) - len(last):]]


def refill(page):
    with Reader() as reader:
        changes = [(step, reader.run(step)) for step in page.steps]
        for made, picture, _ in page.pictures:
            if (reader.folder / made).exists():
                (page.path.parent / picture).parent.mkdir(exist_ok=True)
                (page.path.parent / picture).write_bytes((reader.folder / made).read_bytes())
    for step, output in reversed(changes):
        if step.shown is not None and output is not SKIPPED:
            begin, end = step.place
            blank = [""] if step.kind == "command" and step.shown and not step.shown[-1] else []
            page.lines[begin:end] = refilled(trimmed(step.shown), trimmed(output.split("\n"))) + blank
    page.path.write_text("\n".join(page.lines))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refill(read_page(name))
