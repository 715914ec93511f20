package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"toptau/internal/app/cli"
)

// goProxy writes a module as a proxy in files has it.
func goProxy(t *testing.T, proxy, path, version, source string) {
	t.Helper()
	dir := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := zip.CreateFromDir(f, module.Version{Path: path, Version: version}, source); err != nil {
		t.Fatal(err)
	}
	info, _ := json.Marshal(map[string]string{"Version": version, "Time": "2026-01-02T03:04:06Z"})
	for name, content := range map[string][]byte{version + ".info": info, version + ".mod": readFile(t, source, "go.mod"), "list": []byte(version + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const client = `package main

import (
	"fmt"

	"PATH/threshold"
)

func main() { fmt.Println(threshold.MustRate("5%")) }
`

// With the path that the script sets, a program gets the library from a proxy, and go install the two commands.
func TestModulesUnderAnotherPath(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the program under another path")
	}
	const path = "example.com/ranking/toptau"
	source := t.TempDir()
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = ".."
	names, err := list.Output()
	if err != nil {
		t.Skip("the source is in no repository")
	}
	copying := exec.Command("tar", "-cf", "-", "--null", "-T", "-")
	copying.Dir, copying.Stdin = "..", bytes.NewReader(names)
	archive, err := copying.Output()
	if err != nil {
		t.Fatal(err)
	}
	run(t, source, archive, "tar", "-xf", "-")
	run(t, source, nil, "git", "init", "-q")
	run(t, source, nil, "git", "add", "-f", ".")
	run(t, source, nil, "go", "run", ".ci/rename.go", "-tag", cli.Next, path)
	if out, err := tried(source, nil, "git", "grep", "-nE", `^(import )?\s*([a-z_.]+ )?"toptau("|/[a-z])`, "--", "*.go"); err == nil {
		t.Errorf("imports of the old path:\n%s", out)
	}
	if out := run(t, source, nil, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	proxy := t.TempDir()
	cache := strings.TrimSpace(run(t, "", nil, "go", "env", "GOMODCACHE"))
	goProxy(t, proxy, path, cli.Next, source)
	goProxy(t, proxy, path+"/sql", cli.Next, filepath.Join(source, "sql"))
	for name, value := range map[string]string{"GOPROXY": "file://" + proxy + ",file://" + cache + "/cache/download", "GOSUMDB": "off", "GOFLAGS": "-mod=mod -trimpath",
		"GOMODCACHE": filepath.Join(t.TempDir(), "modules"), "GOBIN": filepath.Join(t.TempDir(), "bin"), "CGO_ENABLED": "0"} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() { _, _ = tried("", nil, "go", "clean", "-modcache") })
	program := t.TempDir()
	if err := os.WriteFile(filepath.Join(program, "main.go"), []byte(strings.ReplaceAll(client, "PATH", path)), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, program, nil, "go", "mod", "init", "client")
	run(t, program, nil, "go", "get", path+"@"+cli.Next)
	if out := run(t, program, nil, "go", "run", "."); out != "0.05\n" {
		t.Error(out)
	}
	run(t, program, nil, "go", "install", path+"/cmd/toptau@"+cli.Next)
	if out := run(t, program, nil, filepath.Join(os.Getenv("GOBIN"), "toptau"), "version"); !strings.HasPrefix(out, "toptau "+cli.Next+"\n") {
		t.Error(out)
	}
	run(t, program, nil, "go", "install", "-n", path+"/sql/cmd/toptau-sql@"+cli.Next) // without compiling
}
