"""A test of the docs test: the numbers of a page, in its prose and in the output that it shows, are changed as if by hand, one
at a time, and each time there must be a complaint."""
import random
import re

from complaints import complaints, is_name, output_is_whole
from figures import NUMBER
from page import SPAN, Page
from reader import SKIPPED

TRIES = 3  # one wrong number may be printed elsewhere by chance
SHOWN = 50  # so many numbers of the output that a page shows, chosen by a fixed seed; of its prose, all


def changed(number, chance):
    """The number with one of its digits replaced."""
    at = chance.choice([i for i, sign in enumerate(number) if sign.isdigit()])
    return number[:at] + chance.choice([digit for digit in "0123456789" if digit != number[at]]) + number[at + 1:]


def numbers_of_prose(page, printed):
    """(line, begin, end) of the numbers that the page claims."""
    for prose in page.prose:
        for at in range(*prose.place) if output_is_whole(page, printed, prose.section) else ():
            yield from numbers_in(page.lines, at, hidden_in_prose(page.lines[at]))


def numbers_shown(page, printed):
    for step, output in zip(page.steps, printed):
        if step.shown is not None and output is not SKIPPED:
            for at in range(*step.place):
                yield from numbers_in(page.lines, at, [])


def numbers_in(lines, at, hidden):
    for match in NUMBER.finditer(lines[at]):
        if not any(begin <= match.start() < end for begin, end in hidden):
            yield at, match.start(), match.end()


def hidden_in_prose(line):
    """Commands (a changed one is another command), links, and the number of a list's item."""
    commands = [match.span() for match in SPAN.finditer(line) if is_name(match[2])]
    return commands + [match.span() for pattern in (r"\]\([^)]*\)", r"^\s*\d+\. ") for match in re.finditer(pattern, line)]


def unnoticed(page, printed, made):
    chance = random.Random(page.path.name)
    shown = list(numbers_shown(page, printed))
    places = [*numbers_of_prose(page, printed), *chance.sample(shown, min(SHOWN, len(shown)))]
    for at, begin, end in places:
        line = page.lines[at]
        numbers = list(dict.fromkeys(changed(line[begin:end], chance) for _ in range(8 * TRIES)))[:TRIES]

        def is_noticed(number):
            lines = [*page.lines[:at], line[:begin] + number + line[end:], *page.lines[at + 1:]]
            return complaints(Page(page.path, "\n".join(lines)), printed, made)

        if not any(map(is_noticed, numbers)):
            yield f"{page.path.name}:{at + 1}: {', '.join(numbers)} for {line[begin:end]} goes unnoticed"
