package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/template"
	"time"

	"toptau"
	"toptau/dataset"
	"toptau/internal/core/simulate"
	"toptau/method"
	"toptau/schema"
	"toptau/threshold"
)

// servedModel trains a model and writes it and rows with their scores into a directory.
func servedModel(t *testing.T, dir string) {
	t.Helper()
	data, err := simulate.New(simulate.Options{Kind: "detectors", Rows: 3000, Seed: 1, Positives: threshold.MustRate("5%")})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "flows.csv")
	if err := data.WriteFile(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Read(context.Background(), path, schema.Format{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	trained, err := toptau.Train(context.Background(), d, toptau.MaxFPR("1%"), toptau.TrainOptions{
		Method: []method.Name{method.Logistic}, Encoding: []schema.Encoding{schema.Raw}})
	if err != nil {
		t.Fatal(err)
	}
	if err := trained.Model.Save(filepath.Join(dir, "m.json")); err != nil {
		t.Fatal(err)
	}
}

// program is a process that ends with its test.
func program(t *testing.T, dir string, name string, args ...string) *bytes.Buffer {
	t.Helper()
	c := exec.Command(name, args...)
	var text bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &text, &text
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		c.Wait()
		if t.Failed() {
			t.Logf("%s: %s", name, &text)
		}
	})
	return &text
}

// freeAddress returns a loopback address that nobody uses.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ready waits until an address answers with 200.
func ready(t *testing.T, url string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if a, err := http.Get(url); err == nil {
			a.Body.Close()
			if a.StatusCode == 200 {
				return
			}
		}
	}
	t.Fatal(url + " does not answer")
}

// serving builds the command and starts toptau serve with a model in dir. It returns the program and the address.
func serving(t *testing.T, dir string, args ...string) (toptau, address string) {
	t.Helper()
	toptau = filepath.Join(dir, "toptau")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", toptau, "./cmd/toptau").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	servedModel(t, dir)
	address = freeAddress(t)
	program(t, dir, toptau, append([]string{"serve", "m.json", "--listen", address, "--drain", "0s"}, args...)...)
	ready(t, "http://"+address+"/readyz")
	return toptau, address
}

// scoresOf writes the scores of toptau score to a file and returns its path.
func scoresOf(t *testing.T, toptau, dir string) string {
	t.Helper()
	c := exec.Command(toptau, "score", "m.json", "flows.csv", "-o", "scores.csv")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "scores.csv")
}

// Triton's own client of Python infers with JSON and with binary tensors, and reads the description, configuration and
// statistics of a model.
func TestTritonClient(t *testing.T) {
	if why := needsPython("tritonclient.http")(); why != "" {
		t.Skip(why + "; scripts/install.sh installs it")
	}
	dir := t.TempDir()
	toptau, address := serving(t, dir)
	script, err := filepath.Abs("scripts/triton.py")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python(), script, address, filepath.Join(dir, "flows.csv"), scoresOf(t, toptau, dir))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// The example of nginx starts and passes requests with bodies on. Its Host is needed: toptau refuses that of the upstream.
func TestNginx(t *testing.T) {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx = "/usr/sbin/nginx"; exec.Command(nginx, "-v").Run() != nil {
			t.Skip("there is no nginx: apt-get install nginx-light")
		}
	}
	dir := t.TempDir()
	_, address := serving(t, dir)
	example, err := os.ReadFile("../docs/examples/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	front := freeAddress(t)
	text := strings.NewReplacer("127.0.0.1:8080", address, "listen 443 ssl;", "listen "+front+";").Replace(string(example))
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(line, "ssl_certificate") {
			kept = append(kept, line)
		}
	}
	user := ""
	if os.Getuid() == 0 { // otherwise nginx changes to nobody, who cannot write here
		user = "user root;"
	}
	config := fmt.Sprintf("daemon off; %s pid %s/nginx.pid; error_log stderr;\nevents {}\nhttp {\naccess_log off; client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s; uwsgi_temp_path %s; scgi_temp_path %s;\n%s\n}\n",
		user, dir, dir, dir, dir, dir, dir, strings.Join(kept, "\n"))
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	program(t, dir, nginx, "-p", dir, "-c", path)
	ready(t, "http://"+front+"/readyz")
	rows, err := os.ReadFile(filepath.Join(dir, "flows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for range 50 { // over kept connections
		a, err := http.Post("http://"+front+"/v1/score", "text/csv", bytes.NewReader(rows[:1+bytes.LastIndexByte(rows[:200_000], '\n')]))
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != 200 && a.StatusCode != 429 {
			t.Fatalf("status %d", a.StatusCode)
		}
	}
	for path, want := range map[string]int{"/v2": 200, "/v2/health/ready": 200, "/v2/models/m": 200, "/metrics": 404, "/v2x": 404} {
		if a, err := http.Get("http://" + front + path); err != nil || a.StatusCode != want || a.Request.URL.Path != path {
			t.Errorf("%s: %v, %v", path, a, err)
		}
	}
	manyBehindOneAddress(t, address, front, rows)
}

// manyBehindOneAddress lets fifty clients send rows through a proxy, while lines without an end that come from the address of
// the proxy use up the server's budget of bytes. Nobody is refused for want of bytes.
func manyBehindOneAddress(t *testing.T, address, front string, rows []byte) {
	line, sent := strings.Repeat(" ", 4<<20-1), 0
	for range 14 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = fmt.Fprintf(c, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s", 1+len(line), line)
		if err == nil {
			sent++
		}
	}
	if sent < 10 { // without bytes that are left, the server ends a line before it is sent
		t.Fatalf("%d of 14 lines were sent", sent)
	}
	two := rows[:1+bytes.IndexByte(rows, '\n')]
	two = rows[:len(two)+1+bytes.IndexByte(rows[len(two):], '\n')]
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			for range 20 {
				a, err := http.Post("http://"+front+"/v1/score", "text/csv", bytes.NewReader(two))
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(a.Body)
				a.Body.Close()
				if a.StatusCode != 200 && (a.StatusCode != 429 || strings.Contains(string(text), "bytes")) { // a busy machine refuses a few
					t.Errorf("%d, %s", a.StatusCode, text)
				}
			}
		})
	}
	wait.Wait()
}

// promtool accepts the metrics of a server that has scored rows.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool: apt-get install prometheus")
	}
	dir := t.TempDir()
	metrics := freeAddress(t)
	_, address := serving(t, dir, "--metrics-listen", metrics, "--alert-limit", "20/day", "--state", "alerts.state", "--monitor", "monitor", "--shadow", "m=m.json")
	rows, err := os.Open(filepath.Join(dir, "flows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if a, err := http.Post("http://"+address+"/v1/score", "text/csv", rows); err != nil || a.StatusCode != 200 {
		t.Fatalf("%v, %v", a, err)
	}
	a, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	c := exec.Command(promtool, "check", "metrics")
	c.Stdin = a.Body
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// yaml reads documents of YAML with Python.
func yaml[T any](t *testing.T, text string) (list []T) {
	t.Helper()
	c := exec.Command(python(), "-c", "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)")
	c.Stdin, c.Stderr = strings.NewReader(text), os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return list
}

// container is what the examples for Kubernetes say about a container.
type container struct {
	Args           []string
	ReadinessProbe struct{ HTTPGet struct{ Path string } }
	LivenessProbe  struct{ HTTPGet struct{ Path string } }
}

// startContainer runs the command of a container with files and ports of this machine, and asks its probes.
func startContainer(t *testing.T, c container, dir, toptau string, files map[string]string) {
	t.Helper()
	listen, metrics := freeAddress(t), freeAddress(t)
	args := []string{}
	for _, a := range c.Args {
		for from, to := range files {
			a = strings.ReplaceAll(a, from, to)
		}
		a = strings.NewReplacer("0.0.0.0:8080", listen, "0.0.0.0:9090", metrics, "--drain=10s", "--drain=0s").Replace(a)
		args = append(args, a)
	}
	program(t, dir, toptau, args...)
	ready(t, "http://"+listen+c.ReadinessProbe.HTTPGet.Path)
	ready(t, "http://"+listen+c.LivenessProbe.HTTPGet.Path)
	ready(t, "http://"+metrics+"/metrics")
}

// The containers of the examples for KServe and Helm start with their arguments and answer their probes. There is no
// cluster here: what the manifests mean to Kubernetes is not tested beyond their being YAML of the expected shape.
func TestKubernetesExamples(t *testing.T) {
	if why := needsPython("yaml")(); why != "" {
		t.Skip(why + "; scripts/install.sh installs it")
	}
	dir := t.TempDir()
	toptau, _ := serving(t, dir)
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"/mnt/models/model.json": "m.json", "/models/flows/model.json": "m.json", "/tokens/token": token,
		"/tokens/score": token, "{{.Name}}": "flows"}
	examples := "../docs/examples"
	text, err := os.ReadFile(filepath.Join(examples, "kserve.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runtimes := yaml[struct {
		Kind string
		Spec struct{ Containers []container }
	}](t, string(text))
	if len(runtimes) != 2 || runtimes[0].Kind != "ServingRuntime" || runtimes[1].Kind != "InferenceService" {
		t.Fatalf("%+v", runtimes)
	}
	startContainer(t, runtimes[0].Spec.Containers[0], dir, toptau, files)

	chart := filepath.Join(examples, "helm/toptau")
	values, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	functions := template.FuncMap{"quote": func(v any) string { return fmt.Sprintf("%q", v) }, "toJson": func(v any) (string, error) {
		b, err := json.Marshal(v)
		return string(b), err
	}}
	templates, err := template.New("").Option("missingkey=error").Funcs(functions).ParseGlob(filepath.Join(chart, "templates/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	render := func(name string) string {
		var b strings.Builder
		if err := templates.ExecuteTemplate(&b, name, map[string]any{"Values": yaml[map[string]any](t, string(values))[0], "Release": map[string]string{"Name": "scores"}}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	deployment := yaml[struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []container }
			}
		}
	}](t, render("deployment.yaml"))
	startContainer(t, deployment[0].Spec.Template.Spec.Containers[0], dir, toptau, files)
	if service := yaml[struct{ Kind string }](t, render("service.yaml")); service[0].Kind != "Service" {
		t.Errorf("%+v", service)
	}
}
