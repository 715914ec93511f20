"""Runs the command toptau."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import warnings
from typing import Any, Optional

from .reader import Error

NAME = "toptau.exe" if sys.platform == "win32" else "toptau"
_INSTALL = "install the wheel that make wheel writes, or set the variable TOPTAU to the program's path"
_KEYWORDS = {"seed": "random_state", "threads": "n_jobs", "quiet": "verbose"}  # options that scikit-learn names in another way


def executable() -> str:
    """Returns the path of the program: that of the variable TOPTAU, of the installed package, or of the search path."""
    if os.environ.get("TOPTAU"):
        return os.environ["TOPTAU"]
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    user = sysconfig.get_preferred_scheme("user") if hasattr(sysconfig, "get_preferred_scheme") else os.name + "_user"
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user), os.path.join(site, "bin")]  # the last of pip --target
    for folder in folders:
        path = os.path.join(folder, NAME)
        if os.path.isfile(path):
            return path
    found = shutil.which(NAME)
    if found is None:
        raise Error("the program toptau is not installed", "it in " + " or ".join(dict.fromkeys(folders)) + ", or on the search path",
                    fix=_INSTALL)
    return found


def run(arguments: list[str], folder: str, bar: bool = False) -> dict:
    """Runs the program and returns the object that it prints. folder is a temporary one; bar shows a progress bar with tqdm.

    An interruption, by Ctrl-C or any other exception, ends the program at once. Raises Error with the program's reason.
    """
    show = _bar() if bar else None
    command = [executable(), arguments[0], "--json", "--progress-lines" if show else "--quiet", *arguments[1:]]
    said = []
    with open(os.path.join(folder, "stdout"), "w+b") as out:
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        except OSError as e:
            raise Error(f"{command[0]} cannot be run: {e.strerror}", "the program toptau", fix=_INSTALL) from None
        try:
            for line in child.stderr:
                if show and line.startswith(b'{"progress"'):
                    show(json.loads(line))
                else:
                    said.append(line.decode("utf-8", "replace"))
            child.wait()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
            child.stderr.close()
            if show:
                show(None)
        out.seek(0)
        answer = _answer(out.read())
    if "error" in answer:
        raise _error(answer["error"])
    if child.returncode < 0:
        raise Error(f"toptau was ended by signal {-child.returncode}", "that it ends by itself",
                    fix="signal 9 is often the system's, for lack of memory: pass fewer rows" if child.returncode == -9 else "")
    if child.returncode != 0:
        raise Error("".join(said).strip() or f"toptau ended with exit code {child.returncode}")
    return answer


def _answer(text: bytes) -> dict:
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        return {}  # cut: the exit code has the reason


def keyword(option: str) -> str:
    """Returns an option of the program as a keyword of Python, with scikit-learn's name if it has one."""
    return _KEYWORDS.get(option) or option.replace("-", "_")


def option(name: str) -> str:
    """Returns a keyword of Python as an option of the program."""
    return next((o for o, k in _KEYWORDS.items() if k == name), None) or name.replace("_", "-")


def _setting(option: str, value: str) -> str:
    """Returns what sets an option: impute="median", n_jobs=2, verbose=False. Without a value it is a flag. The program quotes values for a shell."""
    try:
        value = " ".join(shlex.split(value))
    except ValueError:
        pass  # it was cut
    if option in ("seed", "threads") and value.isdecimal():
        return f"{keyword(option)}={value}"
    return f"{keyword(option)}={json.dumps(value, ensure_ascii=False)}" if value else f"{keyword(option)}={option != 'quiet'}"


def fixes_of(found: dict) -> str:
    """Returns the fixes of an error or a warning as keywords: impute="median" or drop="host"."""
    texts = []
    for f in found.get("fixes") or []:
        text = _setting(f["param"], f.get("value", ""))
        texts.append(text + (" " + f["when"] if f.get("when") else ""))
    return "; ".join(part for part in ("set " + " or ".join(texts) if texts else "", found.get("hint", "")) if part)


def spelled(text: str) -> str:
    """Returns a text with flags as keywords: --max-fpr 0.1% is max_fpr="0.1%"."""
    def one(match: re.Match) -> str:
        return keyword(match[1]) + ":" if match[3] else _setting(match[1], match[2] or "")

    return re.sub(r"--(?!help)([a-z][a-z-]*)(?: ((?:'[^']*'|\\')+|[^-\s,()][^\s,()]*)|(:))?", one, text)


def _error(found: dict) -> Error:
    text = found.get("found", "")
    if found.get("param"):
        text = (keyword(found["param"]) + " " + text).strip()
    if not text and not found.get("expected"):
        text = found["message"]
    e = Error(spelled(text) or "no value", spelled(found.get("expected", "")), row=found.get("row", 0), column=found.get("column", ""), fix=spelled(fixes_of(found)))
    e.kind = found.get("kind", "")
    return e


def _bar() -> Optional[Any]:
    """Returns a function that shows progress, None without tqdm, without a terminal or notebook, or in a worker process."""
    if multiprocessing.current_process().name != "MainProcess":
        return None
    notebook = "ipykernel" in sys.modules
    if not notebook and not (sys.stderr and sys.stderr.isatty()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without ipywidgets gets a bar of text
            from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = tqdm(total=100, unit="%", delay=1, leave=False, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}")

    def show(now: Optional[dict]) -> None:
        if now is None:
            bar.close()
            return
        bar.set_description_str(now["text"], refresh=False)
        if now["progress"] >= 0:
            bar.n = 100 * now["progress"]
        bar.refresh()

    return show
