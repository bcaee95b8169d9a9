"""docs/lessons/*.md are what the lessons say, as Markdown. With --update they are written anew."""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["ONEHEAD_BIN"])
SOURCE = pathlib.Path(os.environ["ONEHEAD_SOURCE"])
LESSONS = sorted(path.stem for path in (SOURCE / "lessons").glob("[0-9]*.cpp"))
HEAD = "<!-- What this lesson prints with --markdown; tests/docs/update writes it. -->\n\n"


def told_by(lesson, folder):
    environment = {**{name: value for name, value in os.environ.items() if name != "ONEHEAD_MODEL"},
                   "PATH": f"{BIN}:{os.environ['PATH']}"}
    command = [lesson, "--markdown", "--out", "traces"]
    return HEAD + subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def main(update):
    wrong = []
    pages = SOURCE / "docs" / "lessons"
    with tempfile.TemporaryDirectory(prefix="lessons.") as folder:
        for lesson in LESSONS:
            page, told = pages / f"{lesson}.md", told_by(lesson, folder)
            if update:
                page.write_text(told)
            elif page.read_text() != told:
                difference = list(difflib.unified_diff(page.read_text().splitlines(), told.splitlines(), str(page), lesson, lineterm=""))
                wrong.append("\n".join(difference[:40]))
    if strange := {path.stem for path in pages.glob("*.md")} - set(LESSONS):
        wrong.append(f"no lesson tells {strange}")
    print("\n\n".join(wrong) or "every page is what its lesson says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main("--update" in sys.argv))
