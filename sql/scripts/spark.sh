#!/usr/bin/env bash
# Installs Spark 3.5.9 into sql/.engines/spark (or TOPTAU_ENGINES/spark): the Python package pyspark has all of Spark, with its Thrift server.
# Needs Java 17 and Python with venv; downloads 320 MB, takes 370 MB and a minute.
set -eu
version=3.5.9
engines=${TOPTAU_ENGINES:-$(cd "$(dirname "$0")/.." && pwd)/.engines}
home=$engines/spark
if [ -f "$home/complete" ]; then
	echo "found: Spark $version"
	exit 0
fi
if ! command -v java >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
	echo "left out: Spark (apt-get install -y openjdk-17-jre-headless python3-venv)"
	exit 0
fi
rm -rf "$home"
mkdir -p "$engines"
python3 -m venv "$home"
"$home/bin/pip" install -q --no-cache-dir --disable-pip-version-check "pyspark==$version"
touch "$home/complete"
echo "installed: Spark $version"
