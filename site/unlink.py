"""Turns links to files that the site does not have, such as source code and folders, into text."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def unlink(page):
    def keep(match):
        text, target, anchor = match.groups()
        path = (page.parent / target).resolve()
        if path.is_dir() and (path / "README.md").is_file():
            return f"[{text}]({target.rstrip('/')}/README.md{anchor or ''})"
        if path.is_dir() and (path / "index.html").is_file():
            return f"[{text}]({target.rstrip('/')}/index.html{anchor or ''})"
        return match.group(0) if path.is_file() else text

    content = page.read_text(encoding="utf-8")
    parts = re.split(r"(?ms)(^```.*?^```)", content)
    parts[::2] = [LINK.sub(keep, part) for part in parts[::2]]
    page.write_text("".join(parts), encoding="utf-8")


for page in root.rglob("*.md"):
    unlink(page)
