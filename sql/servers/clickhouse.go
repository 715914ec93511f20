package servers

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// ClickHouse starts servers of Debian's ClickHouse 18.16, which know each other as the shards of the cluster "all". Their
// user default may do anything; their user reader may read, and change settings for its own statements.
func ClickHouse(t testing.TB, n int) []*Server {
	t.Helper()
	needs(t, hasProgram("clickhouse-server") && hasProgram("clickhouse-client"), "ClickHouse",
		"apt-get install -y clickhouse-server clickhouse-client, or "+script("install.sh"))
	ports := freePorts(t, 3*n)
	shards := ""
	for i := range n {
		shards += fmt.Sprintf("<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", ports[3*i])
	}
	list := make([]*Server, n)
	for i := range list {
		list[i] = clickHouse(t, ports[3*i:3*i+3], shards)
	}
	return list
}

func clickHouse(t testing.TB, ports []int, shards string) *Server {
	t.Helper()
	dir := temporary(t, "clickhouse")
	fill := strings.NewReplacer("DIR", dir, "TCP", strconv.Itoa(ports[0]), "HTTP", strconv.Itoa(ports[1]),
		"INTER", strconv.Itoa(ports[2]), "SHARDS", shards).Replace
	write(t, filepath.Join(dir, "config.xml"), fill(clickHouseConfig))
	write(t, filepath.Join(dir, "users.xml"), clickHouseUsers)
	s := &Server{Port: ports[0], dir: dir, end: syscall.SIGKILL,
		DSN: dsn("clickhouse", "default", ports[0], "default"), ReadOnly: dsn("clickhouse", "reader", ports[0], "default")}
	s.command = func() *exec.Cmd {
		c := exec.Command("clickhouse-server", "--config-file="+filepath.Join(dir, "config.xml"))
		c.Dir = dir
		return c
	}
	s.query = func(stdin io.Reader, statement string) (string, error) {
		// The limits of statements are those that package engine sets.
		c := exec.Command("clickhouse-client", "--host", "127.0.0.1", "--port", strconv.Itoa(s.Port), "--max_query_size", "67108864",
			"--max_ast_elements", "5000000", "--max_expanded_ast_elements", "10000000", "--max_ast_depth", "100000")
		if c.Stdin = strings.NewReader(statement); stdin != nil { // a long statement is no argument
			c.Args = append(c.Args, "--query", statement)
			c.Stdin = stdin
		}
		return output(c)
	}
	s.load = func(t testing.TB, table Table) {
		t.Helper()
		create, insert := clickHouseTable(table)
		s.Run(t, create)
		s.stream(t, insert, table, rowBinary, "", "")
	}
	s.ready = s.answers
	t.Cleanup(s.Kill)
	s.Start(t)
	return s
}

// clickHouseTable writes the statements that create and fill a table.
func clickHouseTable(t Table) (create, insert string) {
	escape := strings.NewReplacer("\\", `\\`, "`", "\\`", "\n", `\n`, "\t", `\t`)
	quote := func(name string) string { return "`" + escape.Replace(name) + "`" }
	var names []string
	for i := range t.Columns {
		c := &t.Columns[i]
		kind := []string{"Int64", "Float64", "Float32", "String"}[c.kind()]
		if c.Null != nil {
			kind = "Nullable(" + kind + ")"
		}
		names = append(names, quote(c.Name)+" "+kind)
	}
	order := "tuple()"
	if t.Key != "" {
		order = quote(t.Key)
	}
	return "CREATE TABLE " + quote(t.Name) + " (" + strings.Join(names, ", ") + ") ENGINE = MergeTree ORDER BY " + order,
		"INSERT INTO " + quote(t.Name) + " FORMAT RowBinary"
}

// 18.16 starts only with all of these elements. The caches are small because many servers run on one machine.
const clickHouseConfig = `<yandex>
<logger><level>warning</level><log>DIR/log</log><errorlog>DIR/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>TCP</tcp_port><http_port>HTTP</http_port>
<interserver_http_port>INTER</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
<path>DIR/data/</path><tmp_path>DIR/tmp/</tmp_path><mark_cache_size>67108864</mark_cache_size>
<users_config>DIR/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<remote_servers><all>SHARDS</all></remote_servers>
</yandex>
`

// readonly 2 refuses writes and allows settings.
const clickHouseUsers = `<yandex><profiles><default></default><reader><readonly>2</readonly></reader></profiles>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows><read_rows>0</read_rows>
<execution_time>0</execution_time></interval></default></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
<reader><password></password><networks><ip>127.0.0.1</ip></networks><profile>reader</profile><quota>default</quota></reader></users></yandex>
`
