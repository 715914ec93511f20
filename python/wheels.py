"""Writes wheels with the program: python3 python/wheels.py [--version v0.2.0] [-o dist] [--only linux-amd64,...].

A wheel has the package toptau and, as a script, the static binary, so it suits every Python and both C libraries of Linux. The same source,
version and version of Go give the same bytes. There is no sdist: it would need Go. Without --version the wheels are those of a
development version.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import subprocess
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
PLATFORMS = {
    ("linux", "amd64"): ["manylinux_2_17_x86_64", "musllinux_1_2_x86_64"],
    ("linux", "arm64"): ["manylinux_2_17_aarch64", "musllinux_1_2_aarch64"],
    ("darwin", "amd64"): ["macosx_11_0_x86_64"],
    ("darwin", "arm64"): ["macosx_11_0_arm64"],
    ("windows", "amd64"): ["win_amd64"],
    ("windows", "arm64"): ["win_arm64"],
}
METADATA = """\
Metadata-Version: 2.4
Name: toptau
Version: {version}
Summary: Classifiers for the top of the list: as many positives as possible within a budget of alerts, with a guarantee
License-Expression: BSD-3-Clause
License-File: LICENSE
License-File: THIRD-PARTY-LICENSES
Requires-Python: >=3.9
Requires-Dist: scikit-learn>=1.6
Provides-Extra: progress
Requires-Dist: tqdm; extra == "progress"
Description-Content-Type: text/markdown

{readme}"""


def read(*path: str) -> str:
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def python_version(release: str) -> str:
    """Returns the version of the wheels for a release such as v0.2.0 or v0.2.0-rc.1, or "" for a development version."""
    own = re.search(r'^__version__ = "(.*)"$', read(HERE, "toptau", "reader.py"), re.M)[1]
    if not release:
        return own + ".dev0"
    match = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(rc|alpha|beta)\.?(\d+))?", release)
    if match is None or match[1] != own:
        raise SystemExit(f"{release} is not a version such as v{own} or v{own}-rc.1")
    return match[1] + (f"{ {'rc': 'rc', 'alpha': 'a', 'beta': 'b'}[match[2]]}{match[3]}" if match[2] else "")


def compiled(system: str, arch: str, release: str, folder: str) -> bytes:
    """Returns the static binary for a platform. Its version is set as in release/release.go."""
    path = os.path.join(folder, f"{system}-{arch}")
    env = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": arch, "GOFLAGS": "", "GOAMD64": "v1", "GOARM64": "v8.0", "GOEXPERIMENT": "", "GOWORK": "off"}
    module = re.search(r"(?m)^module (\S+)$", read(SOURCE, "go.mod"))[1]
    link = "-s -w -buildid=" + (f" -X {module}/internal/app/cli.release={release}" if release else "")
    subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", path, "./cmd/toptau"], cwd=SOURCE, env=env, check=True)
    with open(path, "rb") as f:
        return f.read()


def write(folder: str, version: str, system: str, arch: str, binary: bytes) -> str:
    """Writes the wheel of a platform and returns its path."""
    tags = PLATFORMS[system, arch]
    info, script = f"toptau-{version}.dist-info", f"toptau-{version}.data/scripts/toptau" + (".exe" if system == "windows" else "")
    files = {"toptau/" + name: read(HERE, "toptau", name).encode() for name in sorted(os.listdir(os.path.join(HERE, "toptau"))) if name.endswith(".py")}
    files["toptau/reader.py"] = re.sub(rb'(?m)^__version__ = ".*"$', f'__version__ = "{version}"'.encode(), files["toptau/reader.py"])
    files[script] = binary
    for name in ("LICENSE", "THIRD-PARTY-LICENSES"):
        files[f"{info}/licenses/{name}"] = read(SOURCE, name).encode()
    files[info + "/METADATA"] = METADATA.format(version=version, readme=read(HERE, "README.md")).encode()
    files[info + "/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: toptau\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{tag}\n" for tag in tags)).encode()
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode()},{len(b)}\n" for name, b in files.items()]
    files[info + "/RECORD"] = ("".join(record) + info + "/RECORD,,\n").encode()
    path = os.path.join(folder, f"toptau-{version}-py3-none-{'.'.join(tags)}.whl")
    with zipfile.ZipFile(path, "w") as z:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980-01-01
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if name == script else 0o100644) << 16
            z.writestr(entry, content)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="")
    parser.add_argument("-o", "--output", default="dist")
    parser.add_argument("--binaries", default="", help="a folder with the programs of the release: linux-amd64, windows-amd64.exe")
    parser.add_argument("--only", default="", help="some platforms: linux-amd64,darwin-arm64")
    args = parser.parse_args()
    version = python_version(args.version)
    chosen = [tuple(name.split("-")) for name in args.only.split(",")] if args.only else list(PLATFORMS)
    os.makedirs(args.output, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for system, arch in chosen:
            if args.binaries:
                with open(os.path.join(args.binaries, f"{system}-{arch}" + (".exe" if system == "windows" else "")), "rb") as f:
                    binary = f.read()
            else:
                binary = compiled(system, arch, args.version, folder)
            path = write(args.output, version, system, arch, binary)
            print(f"{path}: {os.path.getsize(path) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
