package integration

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clickHouse runs Debian's old server, or the newest ClickHouse in Python.
func clickHouse(embedded bool) engine {
	e := engine{name: "ClickHouse 18.16 of Debian", missing: needsCommand("clickhouse-server")}
	if embedded {
		e = engine{name: "ClickHouse, chdb", missing: needsPython("chdb")}
	}
	e.run = func(t *testing.T, dir string, jobs []job) []answer {
		dirs, answers := jobDirs(t, dir, jobs), make([]answer, len(jobs))
		var query func(stdin io.Reader, text string) []byte
		if !embedded {
			query = startClickHouse(t, "")
		}
		for i, j := range jobs {
			select_ := statement(t, "clickhouse", j, &answers[i])
			if answers[i].refused != nil {
				continue
			}
			name := func(s string) string {
				return "`" + strings.NewReplacer("\\", `\\`, "`", "\\`", "\n", `\n`, "\t", `\t`).Replace(s) + "`"
			}
			structure := name(rowColumn) + " Int64"
			columns := tableColumns(j)
			for _, c := range columns {
				structure += ", " + name(c.name) + []string{" Nullable(Float64)", " Nullable(String)"}[index(c.text)]
			}
			var data []byte
			for row, r := range j.rows {
				data = binary.LittleEndian.AppendUint64(data, uint64(row))
				for _, c := range columns {
					switch x, s := c.at(r); {
					case c.text && s == nil, !c.text && math.IsNaN(x) && row%2 == 0:
						data = append(data, 1)
					case c.text:
						data = append(binary.AppendUvarint(append(data, 0), uint64(len(*s))), *s...)
					default:
						data = binary.LittleEndian.AppendUint64(append(data, 0), math.Float64bits(x))
					}
				}
			}
			path := filepath.Join(dirs[i], "data.bin")
			writeFile(t, path, data)
			writeFile(t, filepath.Join(dirs[i], "structure"), []byte(structure))
			writeFile(t, filepath.Join(dirs[i], "select.sql"), []byte(select_))
			if !embedded {
				file, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				query(nil, "DROP TABLE IF EXISTS rows")
				query(nil, "CREATE TABLE rows ("+structure+") ENGINE = Memory")
				query(file, "INSERT INTO rows FORMAT RowBinary")
				out := query(nil, select_)
				file.Close()
				readLines(t, j, &answers[i], out, "\t", parseFloat)
			}
		}
		if embedded {
			command(t, nil, python(), append([]string{"scripts/chdb_score.py"}, kept(dirs, answers)...)...)
			for i, j := range jobs {
				if answers[i].refused == nil {
					out, err := os.ReadFile(filepath.Join(dirs[i], "answer.tsv"))
					if err != nil {
						t.Fatal(err)
					}
					first, rest, _ := strings.Cut(string(out), "\n")
					if answers[i].seconds, err = parseFloat(first); err != nil {
						t.Fatal(err)
					}
					readLines(t, j, &answers[i], []byte(rest), "\t", parseFloat)
				}
			}
		}
		return answers
	}
	return e
}

// startClickHouse starts a server on a free port of the loopback interface. The result runs a query in it. If bin is set, it gets a
// clickhouse-client that connects to the server.
func startClickHouse(t *testing.T, bin string) func(stdin io.Reader, text string) []byte {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	dir := t.TempDir()
	fill := strings.NewReplacer("DIR", dir, "PORT", port).Replace
	writeFile(t, filepath.Join(dir, "config.xml"), []byte(fill(clickHouseConfig)))
	writeFile(t, filepath.Join(dir, "users.xml"), []byte(clickHouseUsers))
	server := exec.Command("clickhouse-server", "--config-file="+filepath.Join(dir, "config.xml"))
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	if bin != "" {
		path, err := exec.LookPath("clickhouse-client")
		if err != nil {
			t.Fatal(err)
		}
		wrapper := fmt.Sprintf("#!/bin/sh\nexec %s --host 127.0.0.1 --port %s \"$@\"\n", path, port)
		if err := os.WriteFile(filepath.Join(bin, "clickhouse-client"), []byte(wrapper), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	client := []string{"--host", "127.0.0.1", "--port", port, "--max_threads", "1", "--query"}
	for range 100 {
		if exec.Command("clickhouse-client", append(client, "SELECT 1")...).Run() == nil {
			return func(stdin io.Reader, text string) []byte {
				return command(t, stdin, "clickhouse-client", append(client, text)...)
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatal("the server of ClickHouse does not start")
	return nil
}

const clickHouseConfig = `<yandex>
<logger><level>warning</level><log>DIR/log</log><errorlog>DIR/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>PORT</tcp_port><mark_cache_size>5368709</mark_cache_size>
<path>DIR/data/</path><tmp_path>DIR/tmp/</tmp_path>
<users_config>DIR/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
</yandex>
`

const clickHouseUsers = `<yandex><profiles><default></default></profiles><quotas><default></default></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>
`
