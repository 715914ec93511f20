"""Tests of wheels.py, with the wheel of this machine. They need Go."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import wheels  # noqa: E402

SYSTEM = {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform)
ARCH = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine())


def test_versions():
    own = wheels.python_version("").replace(".dev0", "")
    assert wheels.python_version("v" + own) == own
    assert wheels.python_version(f"v{own}-rc.2") == own + "rc2"
    for bad in (own, "v9.9.9", f"v{own}-x", "latest"):
        with pytest.raises(SystemExit):
            wheels.python_version(bad)


def test_all_platforms(tmp_path):
    for system, arch in wheels.PLATFORMS:
        paths = [wheels.write(str(tmp_path), "0.2.0", system, arch, b"\x7fELF program") for _ in range(2)]
        with zipfile.ZipFile(paths[0]) as z:
            names = z.namelist()
            script = next(name for name in names if "/scripts/" in name)
            assert script.endswith(".exe") == (system == "windows")
            assert z.getinfo(script).external_attr >> 16 == 0o100755
            assert z.read("toptau/reader.py").count(b'__version__ = "0.2.0"') == 1
            assert {line.split(",")[0] for line in z.read("toptau-0.2.0.dist-info/RECORD").decode().splitlines()} == set(names)
            assert z.read("toptau-0.2.0.dist-info/WHEEL").decode().count("Tag: py3-none-") == len(os.path.basename(paths[0]).split(".")) - 3
    assert len(os.listdir(tmp_path)) == 6


@pytest.mark.skipif(not (SYSTEM and ARCH and shutil.which("go")), reason="needs Go")
def test_the_wheel_of_this_machine(tmp_path):
    digests = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        own = "v" + wheels.python_version("").replace(".dev0", "")
        path = wheels.write(str(tmp_path / name), own[1:], SYSTEM, ARCH, wheels.compiled(SYSTEM, ARCH, own, str(tmp_path)))
        with open(path, "rb") as f:
            digests.append(hashlib.sha256(f.read()).hexdigest())
    assert digests[0] == digests[1]
    venv.create(tmp_path / "env", with_pip=True)
    scripts = tmp_path / "env" / ("Scripts" if SYSTEM == "windows" else "bin")
    env = {k: v for k, v in os.environ.items() if k not in ("TOPTAU", "PYTHONPATH")}

    def run(*args):
        return subprocess.run([str(scripts / args[0]), *map(str, args[1:])], env=env, check=True, capture_output=True, text=True).stdout

    run("python", "-m", "pip", "install", "--no-index", "--no-deps", path)
    code = "import toptau, toptau.command as c; print(toptau.__version__, c.executable())"
    version, found = run("python", "-c", code).split()
    assert found == str(scripts / os.path.basename(found)) and os.access(found, os.X_OK)
    assert version == own[1:] and run("toptau", "version").split()[1] == own
    if SYSTEM == "linux":  # the same file serves musl
        machine = {"amd64": "x86_64", "arm64": "aarch64"}[ARCH]
        run("python", "-m", "pip", "download", "--no-index", "--no-deps", "--find-links", tmp_path / "b", "--only-binary", ":all:", "--platform",
            f"musllinux_1_2_{machine}", "-d", tmp_path / "musl", "toptau")
    run("python", "-m", "pip", "uninstall", "-y", "toptau")
    assert not os.path.exists(found)
