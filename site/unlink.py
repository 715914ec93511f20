"""Prepares the copies of pages: links to files that the site does not have, such as source code and folders, become text, and the search
prefers what people read first: the guide before the reference, and both before results, design and the paper."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")

# The weight of a page in the search by its place. Chosen by hand, with the queries of integration/ui/site.test.mjs.
BOOST = [("docs/guide/", 8), ("README.md", 4), ("docs/examples/", 2), ("docs/reference/", 1)]


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
    place = page.relative_to(root).as_posix()
    boost = next((weight for start, weight in BOOST if place.startswith(start)), 0.5)
    page.write_text(f"---\nsearch:\n  boost: {boost}\n---\n" + "".join(parts), encoding="utf-8")


for page in root.rglob("*.md"):
    unlink(page)
