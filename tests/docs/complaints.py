"""What is wrong with a page, given what its steps printed: a list of sentences, empty if all is well."""
import functools
import re
import shutil

from figures import Known
from page import PICTURE, SPAN
from reader import SKIPPED, SOURCE

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
FILE = re.compile(r"[\w.-]*(?:/[\w.-]+)+/?|[\w-]+\.(?:md|[ch]pp|py|txt|csv|json|npy|html|svg|tsv|safetensors)")


def complaints(page, printed, made_files):
    """printed: for each step its output, or SKIPPED; made_files: the names of all files in the reader's folder."""
    found = []
    for step, output in zip(page.steps, printed):
        if step.shown is not None and output is not SKIPPED and not shows(step.shown, output.split("\n")):
            found.append(f"{step.text}\nprints something else than the page shows:\n{output}")
    for code, _ in page.quotes:
        found += [f"no file has this code word for word:\n{part}" for part in parts(code) if squeezed(part) not in source_text()]
    for language, lines in page.read_only:
        found += unreadable(page, language, lines)
    for prose in page.prose:
        if output_is_whole(page, printed, prose.section):
            found += wrong_numbers(page, printed, prose)
        found += missing_files(page, prose, made_files)
    return found


def unreadable(page, language, lines):
    """What is wrong with code that is not run: programs that are not there, Python that is none."""
    if language == "python":
        compile("\n".join(lines), page.path, "exec")
        return []
    if language == "cmake":
        return []
    names = [line.split()[:2] for line in lines if line.strip()]
    return [f"there is no {' '.join(words)} to run" for words in names if not is_program(words)]


def is_program(words):
    if words[0] == "onehead":
        return re.search(rf'Subcommand const \w+{{\s*"{re.escape(words[1])}"', source_text()) is not None
    return (SOURCE / words[0]).exists() or shutil.which(words[0]) is not None


def trimmed(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def shows(shown, output):
    """Whether the lines are the output; a line ... stands for lines left out."""
    shown, output = trimmed(shown), trimmed(output)
    if "..." not in shown:
        return shown == output
    cut = shown.index("...")
    if output[:cut] != shown[:cut]:
        return False
    rest = shown[cut + 1:]
    return not rest or any(shows(rest, output[at:]) for at in range(cut + 1, len(output)))


def squeezed(text):
    return " ".join(text.split())


known = functools.cache(Known)


@functools.cache
def all_of(texts):
    return squeezed("\n".join(texts))


def parts(code):
    return re.split(r"^\s*\.\.\.$", code, flags=re.M)


@functools.cache
def source_text():
    files = [*SOURCE.glob("src/**/*.[ch]pp"), *SOURCE.glob("lessons/*.[ch]pp")]
    return "\n".join(squeezed(path.read_text()) for path in sorted(files))


def in_reach(page, section):
    """Of which section's commands and facts a paragraph may speak: its own and those before the first section."""
    return {0, section}


def output_is_whole(page, printed, section):
    """Whether a section's numbers can be compared."""
    return section not in page.measured_elsewhere and all(output is not SKIPPED for step, output in zip(page.steps, printed) if step.section in in_reach(page, section))


def sources(page, printed, prose):
    """The texts in which a paragraph's numbers must stand. A row of a table with commands of its own has only theirs."""
    own_row = prose.commands if prose.text.startswith("|") else []
    texts = [f"{step.text}\n{output}\n{head_of(step.text)}" for step, output in zip(page.steps, printed)
             if (any(step is own for own in own_row) if own_row else step.section in in_reach(page, prose.section))]
    return texts + [code for code, section in page.quotes if section in in_reach(page, prose.section)]


def head_of(command):
    """The head that a command runs, as pages call it: head 3.2 for --layer 3 --head 2."""
    found = re.search(r"--layer (\d+) --head (\d+)", command)
    return f"head {found[1]}.{found[2]}" if found else ""


def given(page, prose):
    return set().union(*(page.given.get(section, set()) for section in in_reach(page, prose.section)))


def plain(text):
    """Prose without code, addresses of links, tags, and the numbers of a list."""
    text = SPAN.sub(" ` ", LINK.sub(r"\1", text))
    return re.sub(r"^\s*\d+\. |</?\w+[^>]*>", "", text)


def wrong_numbers(page, printed, prose):
    texts, allowed = tuple(sources(page, printed, prose)), given(page, prose)
    place = f"{page.path.name}:{prose.place[0] + 1}"
    found = [f"{place}: no command of this section printed {number}" for number in known(texts).unknown(plain(prose.text), allowed)]
    text = all_of(texts)
    for span in prose.spans:
        if re.search(r"\d", span) and not is_name(span) and span not in text and span not in allowed and span not in source_text():
            found.append(f"{place}: `{span}` stands in no output of this section and in no source file")
    return found


def is_name(span):
    return bool(FILE.fullmatch(span) or re.fullmatch(r"[A-Za-z_]\w*(-\w+)*", span) or re.match(r"(onehead|\$|--)", span))


def missing_files(page, prose, made_files):
    place = f"{page.path.name}:{prose.place[0] + 1}"
    targets = [match[2] for match in LINK.finditer(prose.text)]
    found = [f"{place}: the link to {target} leads nowhere" for target in targets
             if "://" not in target and not (page.path.parent / target.split("#")[0]).exists()]
    found += [f"{place}: there is no test `{span}`" for span in prose.spans
              if span.endswith("_test") and not list(SOURCE.glob(f"tests/*/{span}.*"))]
    for span in prose.spans:
        if FILE.fullmatch(span) and not exists(page, span, made_files) and span not in given(page, prose):
            found.append(f"{place}: there is no file `{span}`")
    return found


def exists(page, name, made_files):
    return (name.startswith("gpt2/") or (SOURCE / name).exists() or (SOURCE / "src" / name).exists() or (page.path.parent / name).exists()
            or any(f"/{made}".endswith(f"/{name.rstrip('/')}") for made in made_files))
