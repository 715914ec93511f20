#!/usr/bin/env bash
# Installs Trino 435, the last version for Java 17, from Maven Central into sql/.engines/trino (or TOPTAU_ENGINES/trino). Needs Java 17
# and Maven; takes about 110 MB and two minutes. The server's archive and the Hive connector are not on every mirror of Maven
# Central, so the server is put together from the artifacts trino-main and trino-memory.
set -eu
version=435
engines=${TOPTAU_ENGINES:-$(cd "$(dirname "$0")/.." && pwd)/.engines}
home=$engines/trino
if [ -f "$home/complete" ]; then
	echo "found: Trino $version"
	exit 0
fi
for program in java javac jar mvn; do
	if ! command -v $program >/dev/null; then
		echo "left out: Trino ($program is missing: apt-get install -y openjdk-17-jdk-headless maven)"
		exit 0
	fi
done
rm -rf "$home"
mkdir -p "$home"

artifacts() { # ARTIFACT DIRECTORY: an artifact with all that it needs when it runs
	mkdir -p "$2"
	cat >"$home/pom.xml" <<-END
		<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
		<groupId>toptau</groupId><artifactId>trino</artifactId><version>1</version><packaging>pom</packaging>
		<dependencies><dependency><groupId>io.trino</groupId><artifactId>$1</artifactId><version>$version</version></dependency></dependencies>
		</project>
	END
	mvn -q -B -f "$home/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$2"
}

artifacts trino-main "$home/lib"
artifacts trino-memory "$home/plugin/memory"

# The archive of the server has two more small things: the name of the plugin's class, and the class with main.
mkdir -p "$home/services/META-INF/services" "$home/classes"
echo io.trino.plugin.memory.MemoryPlugin >"$home/services/META-INF/services/io.trino.spi.Plugin"
jar cf "$home/plugin/memory/services.jar" -C "$home/services" META-INF
cat >"$home/Start.java" <<END
public class Start {
	public static void main(String[] args) {
		new io.trino.server.Server().start("$version");
	}
}
END
javac -cp "$home/lib/trino-main-$version.jar" -d "$home/classes" "$home/Start.java"
rm -rf "$home/services" "$home/pom.xml" "$home/Start.java"
touch "$home/complete"
echo "installed: Trino $version"
