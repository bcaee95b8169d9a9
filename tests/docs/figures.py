"""When a number in prose is one that a command printed. It is if it stands in the output, or, with two decimals or more,
is a rounding of a number there that drops at most two digits. Small whole numbers stand everywhere: below a hundred, the
same word must stand before it, or after it, as in the output ("row 4", "5 of 6 rows"). "head 0.2" is a name and never a
rounding."""
import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

NUMBER = re.compile(r"(?<![\w.])(?<![A-Za-z]-)(?:\d{1,3}(?:,\d{3})+|\d+)?(?:(?<=\d)\.\d+|\.\d+)?(?<=\d)(?:e[-+]?\d+)?(?!\w)")
TOKEN = re.compile(rf"{NUMBER.pattern}|[A-Za-z_]\w*(?:-\d+\b)?|\w+|\S")  # words such as float32 and GPT-2 hold no number
DROPPED_DIGITS = 2


def is_number(token):
    return bool(NUMBER.fullmatch(token))


def value(token):
    return Decimal(token.replace(",", ""))


def tokens(text):
    """Words in lower case and singular, numbers, signs."""
    found = (match[0] for match in TOKEN.finditer(text))
    return [token if is_number(token) else singular(token.lower()) for token in found]


def singular(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def exponent(number):
    return number.as_tuple().exponent


def is_rounding(short, exact):
    dropped = exponent(short) - exponent(exact)
    if exponent(short) > -2 or not 0 < dropped <= DROPPED_DIGITS:
        return dropped == 0 and short == exact
    return any(exact.quantize(short, rounding) == short for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN))


class Known:
    """The numbers of some texts, and the words beside them."""

    def __init__(self, texts):
        self.values, self.beside = {}, set()  # by how they are written: 1 and 1.000 are not as exact
        for text in texts:
            words = ["", *tokens(text), ""]
            for before, token, after in zip(words, words[1:], words[2:]):
                if is_number(token):
                    self.values[str(value(token))] = value(token)
                    self.beside |= {(before, value(token)), (value(token), after)}

    def has(self, before, token, after):
        number = value(token)
        if number < 100 and exponent(number) == 0:
            return any(word.isalpha() and pair in self.beside
                       for word, pair in ((before, (before, number)), (after, (number, after))))
        if before == "head":
            return str(number) in self.values
        return any(is_rounding(number, known) for known in self.values.values())

    def unknown(self, prose, given):
        """The numbers of a text that are not among these."""
        words = ["", *tokens(prose), ""]
        return [token for before, token, after in zip(words, words[1:], words[2:])
                if is_number(token) and token not in given and not self.has(before, token, after)]
