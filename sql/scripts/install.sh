#!/usr/bin/env bash
# Installs the databases in which the SQL sources are tested: PostgreSQL and ClickHouse 18.16, from Debian's packages. Needs
# root. What cannot be installed is left out with a message, and its tests skip. Trino and Spark have scripts of their own,
# trino.sh and spark.sh, for they are not part of the checks of each change.
# TOPTAU_INSTALL_SECONDS limits the time of the downloads.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
end=$(($(date +%s) + ${TOPTAU_INSTALL_SECONDS:-150}))

debian() { # NAME PROGRAM PACKAGE...
	local name=$1 program=$2 left=$((end - $(date +%s)))
	shift 2
	if [ -n "$(ls $program 2>/dev/null)" ]; then
		echo "found: $name"
	elif [ "$left" -le 0 ]; then
		echo "left out: $name (no time left)"
	elif ! timeout "$left" apt-get install -d -y -q --no-install-recommends "$@" >"$log" 2>&1 </dev/null ||
		# Only the download has a limit: dpkg must not be interrupted.
		! DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
		echo "left out: $name ($(tail -n 1 "$log" | cut -c1-150))"
	else
		echo "installed: $name"
	fi
}

if ! ls /usr/lib/postgresql/*/bin/postgres /usr/sbin/clickhouse-server /usr/bin/clickhouse-client >/dev/null 2>&1; then
	timeout 60 apt-get update -q >"$log" 2>&1 || echo "the list of Debian's packages is not new"
fi
debian PostgreSQL '/usr/lib/postgresql/*/bin/postgres' postgresql
debian "ClickHouse 18.16" /usr/sbin/clickhouse-server clickhouse-server clickhouse-client
exit 0
