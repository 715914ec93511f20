package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// PostgresOptions are what differs between servers of PostgreSQL.
type PostgresOptions struct {
	// TLS refuses connections without it, and asks for a password. The DSN names the certificate of the authority in
	// the directory of the server.
	TLS bool
	// Settings are lines of postgresql.conf.
	Settings []string
}

// Password is that of both roles of a server with TLS. No message may ever contain it.
const Password = "not for any eyes"

// postgresBin is the directory of the newest PostgreSQL, "" if there is none.
func postgresBin() string {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(list) == 0 {
		return ""
	}
	return slices.MaxFunc(list, func(a, b string) int { return postgresVersion(a) - postgresVersion(b) })
}

func postgresVersion(bin string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return version
}

// Postgres starts a server of PostgreSQL. Its role toptau owns the database; its role reader may read.
func Postgres(t testing.TB, o PostgresOptions) *Server {
	t.Helper()
	bin := postgresBin()
	needs(t, bin != "", "PostgreSQL", "apt-get install -y postgresql, or "+script("install.sh"))
	dir := temporary(t, "postgres")
	data := filepath.Join(dir, "data")
	s := &Server{Port: freePorts(t, 1)[0], dir: dir, end: syscall.SIGQUIT}

	var as *syscall.Credential // the server refuses root
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
		return c
	}
	run(t, command("initdb", "-D", data, "-U", "toptau", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"))
	settings := append([]string{
		// Nothing has to survive a crash of the machine, but what is committed survives Kill.
		"listen_addresses = '127.0.0.1'", fmt.Sprintf("unix_socket_directories = '%s'", dir),
		"full_page_writes = off", "wal_level = minimal", "max_wal_senders = 0", "autovacuum = off",
	}, o.Settings...)
	access := "local all all trust\nhost all all 127.0.0.1/32 trust\n"
	rest := "postgres?sslmode=disable"
	if o.TLS {
		authority := certificate(t, dir)
		settings = append(settings, "ssl = on", "ssl_cert_file = '"+dir+"/server.crt'", "ssl_key_file = '"+dir+"/server.key'")
		access = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
		rest = "postgres?sslmode=verify-full&sslrootcert=" + authority
	}
	appendTo(t, filepath.Join(data, "postgresql.conf"), strings.Join(settings, "\n")+"\n")
	write(t, filepath.Join(data, "pg_hba.conf"), access)
	if as != nil {
		for _, name := range []string{"server.key", "server.crt"} {
			os.Chown(filepath.Join(dir, name), int(as.Uid), int(as.Gid))
		}
	}
	s.command = func() *exec.Cmd { return command("postgres", "-D", data, "-p", strconv.Itoa(s.Port)) }
	s.query = func(stdin io.Reader, statement string) (string, error) {
		c := exec.Command(filepath.Join(bin, "psql"), "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1",
			"-h", dir, "-p", strconv.Itoa(s.Port), "-U", "toptau", "-d", "postgres", "-f", "-")
		if c.Stdin = strings.NewReader(statement); stdin != nil { // a long statement is no argument
			c.Args = append(c.Args[:len(c.Args)-2], "-c", statement)
			c.Stdin = stdin
		}
		return output(c)
	}
	s.load = func(t testing.TB, table Table) {
		t.Helper()
		create, insert := postgresTable(table)
		s.Run(t, create)
		// The signature of the format, no flags, no extension of the header; a row of -1 fields is the end.
		s.stream(t, insert, table, copyRow, "PGCOPY\n\xff\r\n\x00"+strings.Repeat("\x00", 8), "\xff\xff")
	}
	s.DSN, s.ReadOnly = dsn("postgres", "toptau", s.Port, rest), dsn("postgres", "reader", s.Port, rest)
	if o.TLS {
		secret := strings.ReplaceAll(Password, " ", "%20")
		s.DSN, s.ReadOnly = dsn("postgres", "toptau:"+secret, s.Port, rest), dsn("postgres", "reader:"+secret, s.Port, rest)
	}
	s.ready = s.answers
	t.Cleanup(s.Kill)
	s.Start(t)
	s.Run(t, fmt.Sprintf(`CREATE ROLE reader LOGIN PASSWORD '%[1]s'; ALTER ROLE toptau PASSWORD '%[1]s';
REVOKE ALL ON DATABASE postgres FROM PUBLIC; GRANT CONNECT ON DATABASE postgres TO reader;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader; ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO reader`, Password))
	return s
}

// postgresTable writes the statements that create and fill a table.
func postgresTable(t Table) (create, insert string) {
	quote := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	var names []string
	for i := range t.Columns {
		c := &t.Columns[i]
		name := quote(c.Name) + " " + []string{"int8", "float8", "float4", "text"}[c.kind()]
		if c.Null == nil {
			name += " NOT NULL"
		}
		names = append(names, name)
	}
	if t.Key != "" {
		names = append(names, "PRIMARY KEY ("+quote(t.Key)+")")
	}
	return "CREATE TABLE " + quote(t.Name) + " (" + strings.Join(names, ", ") + ")", "COPY " + quote(t.Name) + " FROM STDIN (FORMAT binary)"
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(old)+text) // keeps owner and mode of the file
}

// certificate writes a key, a certificate for 127.0.0.1, and the certificate of its authority, whose path it returns.
func certificate(t testing.TB, dir string) (authority string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	rootBytes, err := x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey)
	check(err)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	leafBytes, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, rootKey)
	check(err)
	keyBytes, err := x509.MarshalECPrivateKey(key)
	check(err)
	save := func(name, kind string, bytes []byte, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		check(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), mode))
		return path
	}
	save("server.key", "EC PRIVATE KEY", keyBytes, 0o600)
	save("server.crt", "CERTIFICATE", leafBytes, 0o644)
	return save("authority.crt", "CERTIFICATE", rootBytes, 0o644)
}
