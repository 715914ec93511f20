package servers

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toptau/internal/data/parquet"
)

// Spark starts Spark 3.5 with its Thrift server, in one process of Java with 1 GB of memory. Tables are directories of Parquet files, in a
// catalogue that ends with the process. Settings are those of Spark, as NAME=VALUE.
func Spark(t testing.TB, settings ...string) *Server {
	t.Helper()
	home := filepath.Join(engines(), "spark")
	_, err := os.Stat(filepath.Join(home, "complete"))
	needs(t, err == nil && hasProgram("java"), "Spark", script("spark.sh"))
	port := freePorts(t, 1)[0]
	s := inPython(t, filepath.Join(home, "bin", "python"), "spark", append([]string{"spark.ui.enabled=false", "spark.driver.host=127.0.0.1",
		"spark.driver.bindAddress=127.0.0.1", "spark.sql.catalogImplementation=in-memory", "spark.hadoop.hive.server2.thrift.bind.host=127.0.0.1",
		fmt.Sprintf("spark.hadoop.hive.server2.thrift.port=%d", port), fmt.Sprintf("spark.hadoop.hive.server2.thrift.http.port=%d", port)}, settings...)...)
	s.Port = port
	s.DSN = dsn("spark", "toptau", port, "default")
	s.ReadOnly = s.DSN // rights are those of the files and the catalogue
	s.load = s.loadSpark
	return s
}

// KeyPassword is the password of JavaKey's store.
const KeyPassword = "password"

// JavaKey returns a store with the key of a server on the loopback interface, and a file with its certificate, which it signed itself.
func JavaKey(t testing.TB) (store, certificate string) {
	t.Helper()
	dir := temporary(t, "key")
	store, certificate = filepath.Join(dir, "store"), filepath.Join(dir, "certificate")
	run(t, exec.Command("keytool", "-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1",
		"-storepass", KeyPassword, "-keystore", store))
	run(t, exec.Command("keytool", "-exportcert", "-rfc", "-alias", "server", "-storepass", KeyPassword, "-keystore", store, "-file", certificate))
	return store, certificate
}

// loadSpark writes the rows to a file, and lets Spark write the table's files from it: toptau's writer has no NaN and no empty text, so a
// column of truth values says where there is one.
func (s *Server) loadSpark(t testing.TB, table Table) {
	t.Helper()
	var columns []parquet.WriteColumn
	var list []string
	for i := range table.Columns {
		c := &table.Columns[i]
		value, there := fmt.Sprintf("v%d", i), fmt.Sprintf("t%d", i)
		kind := []parquet.Type{parquet.Whole, parquet.Double, parquet.Double, parquet.Text}[c.kind()]
		columns = append(columns, parquet.WriteColumn{Name: value, Type: kind}, parquet.WriteColumn{Name: there, Type: parquet.Boolean})
		list = append(list, fmt.Sprintf("CASE WHEN %s THEN CAST(coalesce(%s, %s) AS %s) END AS %s", there, value,
			[]string{"0", "DOUBLE('NaN')", "DOUBLE('NaN')", "''"}[c.kind()], []string{"BIGINT", "DOUBLE", "FLOAT", "STRING"}[c.kind()], sparkName(c.Name)))
	}
	dir := temporary(t, "lake")
	path := filepath.Join(dir, "rows.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(file, columns)
	if err != nil {
		t.Fatal(err)
	}
	for row := 0; row < table.Rows && err == nil; row++ {
		for i := range table.Columns {
			sparkValue(w, 2*i, &table.Columns[i], row)
		}
		err = w.EndRow()
	}
	if err = errors.Join(err, w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	plain := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, table.Name)
	s.Run(t, fmt.Sprintf("CREATE TABLE %s USING parquet LOCATION '%s' AS SELECT %s FROM parquet.`%s`", sparkName(plain),
		filepath.Join(dir, "table"), strings.Join(list, ", "), path))
	if plain != table.Name { // only a view of the session can have such a name
		s.Run(t, "CREATE TEMPORARY VIEW "+sparkName(table.Name)+" AS SELECT * FROM "+sparkName(plain))
	}
	os.Remove(path)
}

// sparkValue writes a value, and after it whether there is one.
func sparkValue(w *parquet.Writer, at int, c *Column, row int) {
	null := c.Null != nil && c.Null(row)
	if null {
		w.SetNoTruth(at + 1)
	} else {
		w.SetTruth(at+1, true)
	}
	switch {
	case c.Integer != nil && null:
		w.SetWhole(at, 0)
	case c.Integer != nil:
		w.SetWhole(at, c.Integer(row))
	case c.Text != nil && null:
		w.SetText(at, "")
	case c.Text != nil:
		w.SetText(at, c.Text(row))
	case null:
		w.SetNumber(at, math.NaN())
	default:
		w.SetNumber(at, c.Number(row))
	}
}

func sparkName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
