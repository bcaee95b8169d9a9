"""The docs test must notice: in each page, each number of the prose and of the output shown is changed by hand, one at a
time, and each time there must be a complaint. Once every page has been found to be right as it stands."""
import random
import sys

from complaints import complaints
from docs_test import read_page, try_out
from figures import NUMBER
from page import Page, SPAN
from reader import SKIPPED

AT_MOST = 150  # numbers of a page, chosen by a fixed seed


def changed(number, chance):
    """The number with one of its digits replaced."""
    at = chance.choice([i for i, sign in enumerate(number) if sign.isdigit()])
    return number[:at] + chance.choice([digit for digit in "0123456789" if digit != number[at]]) + number[at + 1:]


def numbers_of(page, printed):
    """(line, begin, end) of the numbers that the page claims, in prose and in output."""
    for prose in page.prose:
        end = next((i for i in range(prose.line, len(page.lines)) if not page.lines[i].strip() or page.lines[i][0] in "`<|#"), prose.line)
        for at in range(prose.line - 1, max(prose.line, end) if prose.text[0] not in "|#" else prose.line):
            yield from numbers_in(page.lines, at, hidden_in_prose(page.lines[at]))
    for step, output in zip(page.steps, printed):
        if step.shown is not None and output is not SKIPPED:
            for at in range(*step.place):
                yield from numbers_in(page.lines, at, [])


def numbers_in(lines, at, hidden):
    for match in NUMBER.finditer(lines[at]):
        if not any(begin <= match.start() < end for begin, end in hidden):
            yield at, match.start(), match.end()


def hidden_in_prose(line):
    """Code (a changed command is another command), links, and the number of a list's item."""
    import re
    return [match.span() for pattern in (SPAN.pattern, r"\]\([^)]*\)", r"^\s*\d+\. ") for match in re.finditer(pattern, line)]


def unnoticed(page, printed, made):
    chance = random.Random(page.path.name)
    places = sorted(set(numbers_of(page, printed)))
    for at, begin, end in sorted(chance.sample(places, min(AT_MOST, len(places)))):
        lines = list(page.lines)
        number = changed(lines[at][begin:end], chance)
        lines[at] = lines[at][:begin] + number + lines[at][end:]
        if not complaints(Page(page.path, "\n".join(lines)), printed, made):
            yield f"{page.path.name}:{at + 1}: {number} for {page.lines[at][begin:end]} goes unnoticed"


def main(names):
    found = []
    for name in names:
        page = read_page(name)
        printed, made, _ = try_out(page)
        found += complaints(page, printed, made) or unnoticed(page, printed, made)
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
