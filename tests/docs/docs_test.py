"""Pages (their paths from the checkout are the arguments) hold what they say: every command prints what is shown, every
number comes from a command, every excerpt of code stands in the source, every link and file is there. And a number that is
changed by hand would be noticed."""
import pathlib
import sys

from complaints import complaints
from mutations import unnoticed
from page import Page
from reader import SKIPPED, SOURCE, Reader


def read_page(name):
    path = SOURCE / name
    return Page(path, path.read_text())


def try_out(page):
    """What each step printed, the names of the files in the reader's folder, and the pictures that are not as made."""
    with Reader() as reader:
        printed = [reader.run(step) for step in page.steps]
        made = [str(path.relative_to(reader.folder)) for path in reader.folder.rglob("*")]
        pictures = [f"{picture} is not what its commands make" for made_file, picture, section in page.pictures
                    if (reader.folder / made_file).exists()
                    and (reader.folder / made_file).read_bytes() != (page.path.parent / picture).read_bytes()]
    return printed, made, pictures


def main(names):
    found, skipped = [], []
    for name in names:
        page = read_page(name)
        try:
            printed, made, pictures = try_out(page)
        except RuntimeError as error:
            found.append(f"{name}: {error}")
            continue
        wrong = complaints(page, printed, made) + pictures
        found += [f"{name}: {complaint}" for complaint in wrong or unnoticed(page, printed, made)]
        skipped += [step.text for step, output in zip(page.steps, printed) if output is SKIPPED]
    print("\n\n".join(found) or "every page holds what it says")
    if skipped and not found:
        print("SKIPPED, as what they need is not here:", *skipped, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
