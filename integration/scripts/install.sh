#!/usr/bin/env bash
# Installs the programs in which the exports and the server are tested: databases, ONNX Runtime, compilers, clients, a proxy. Debian's packages need root; Python's go
# into integration/.engines (or TOPTAU_ENGINES). What cannot be installed is left out with a message, and its tests skip.
# TOPTAU_INSTALL_SECONDS limits the time of the whole script. install.sh exports: only what the checks of each change need, for exports to
# C, SQLite and ONNX.
set -u
cd "$(dirname "$0")/.."
engines=${TOPTAU_ENGINES:-$PWD/.engines}
log=$(mktemp)
end=$(($(date +%s) + ${TOPTAU_INSTALL_SECONDS:-3600}))

# attempt NAME COMMAND... runs a command within the time that is left.
attempt() {
	local name=$1 left=$((end - $(date +%s)))
	shift
	if [ "$left" -le 0 ]; then
		echo "left out: $name (no time left)"
	elif timeout "$left" "$@" >"$log" 2>&1 </dev/null; then
		echo "installed: $name"
	else
		[ $? -eq 124 ] && echo "no time left" >"$log"
		echo "left out: $name ($(tail -n 1 "$log" | cut -c1-150))"
		return 1
	fi
}

debian() { # NAME PROGRAM PACKAGE...
	local name=$1 program=$2
	shift 2
	if [ -n "$(ls $program 2>/dev/null)" ]; then
		echo "found: $name"
	else # only the download has a limit: dpkg must not be interrupted
		attempt "the packages of $name" apt-get install -d -y -q --no-install-recommends "$@" &&
			if DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
				echo "installed: $name"
			else
				echo "left out: $name ($(tail -n 1 "$log" | cut -c1-150))"
			fi
	fi
}

all=1
[ "${1:-}" != exports ] || all=
if ! ls /usr/bin/gcc /usr/bin/sqlite3 ${all:+/usr/lib/postgresql/*/bin/postgres /usr/sbin/clickhouse-server} >/dev/null 2>&1; then
	attempt "the list of Debian's packages" apt-get update -q
fi
debian gcc /usr/bin/gcc gcc libc6-dev
debian sqlite3 /usr/bin/sqlite3 sqlite3
if [ $all ]; then
	debian PostgreSQL '/usr/lib/postgresql/*/bin/postgres' postgresql
	debian "Node.js" "$(command -v node || echo /usr/bin/node)" nodejs
	debian mandoc /usr/bin/mandoc mandoc
	debian nginx /usr/sbin/nginx nginx-light
	debian promtool /usr/bin/promtool prometheus
	debian "ClickHouse 18.16" /usr/sbin/clickhouse-server clickhouse-server clickhouse-client
fi

if [ ! -x "$engines/venv/bin/python" ]; then
	mkdir -p "$engines"
	attempt "an environment of Python" python3 -m venv "$engines/venv" || exit 0
fi
pip() { # NAME MODULE PACKAGE...
	local name=$1 module=$2
	shift 2
	if "$engines/venv/bin/python" -c "import $module" >/dev/null 2>&1; then
		echo "found: $name"
	else
		attempt "$name" "$engines/venv/bin/pip" install -q --disable-pip-version-check "$@"
	fi
}
pip "ONNX Runtime" "onnxruntime, numpy" onnxruntime==1.32.0 numpy==2.4.6
if [ $all ]; then
	pip DuckDB "duckdb, pyarrow" duckdb==2.0.0 pyarrow==26.0.1 numpy==2.4.6
	pip "ClickHouse, embedded" chdb chdb==4.4.0
	pip "pandas and scikit-learn" "pandas, sklearn" pandas==3.1.1 scikit-learn==1.9.1
	pip "the parser of Prometheus" prometheus_client prometheus_client==0.26.0
	pip "Triton's client and YAML" "tritonclient.http, yaml" "tritonclient[http]==2.73.0" pyyaml==6.0.3
fi
rm -f "$log"
exit 0
