package campaigns_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toptau"
	"toptau/certify"
	"toptau/dataset"
	"toptau/decide"
	"toptau/internal/tests/modeltest"
	"toptau/method"
	"toptau/metric"
	"toptau/model"
	"toptau/schema"
	"toptau/threshold"
)

// TestEditedModels edits models at random and gives them a correct checksum. docs/reference/evidence.md lists the fields whose edits cannot be
// detected from the file alone. Every accepted edit must be of a field in that list. Edits of the evidence must be refused or
// mean the same. go test makes 150 edits, 50 with -short, 500 with TOPTAU_LONG and 20,000 with TOPTAU_HOSTILE=long, and -args -edits N another number. -args
// -update-edits rewrites the list.
var (
	edits       = flag.Int("edits", 0, "edited models; 0: 150, 50 with -short, 500 with TOPTAU_LONG, or 20,000 with TOPTAU_HOSTILE=long")
	updateEdits = flag.Bool("update-edits", false, "rewrite the list of undetectable edits in docs/reference/evidence.md")
)

// tree is JSON whose fields keep their order.
type tree struct {
	open   json.Delim // 0: a leaf
	leaf   any        // string, json.Number, bool, nil
	names  []string   // of an object's fields
	values []*tree
}

func parseTree(t testing.TB, text string) *tree {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var parse func() *tree
	parse = func() *tree {
		token, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		delim, ok := token.(json.Delim)
		if !ok {
			return &tree{leaf: token}
		}
		n := &tree{open: delim}
		for decoder.More() {
			if delim == '{' {
				name, err := decoder.Token()
				if err != nil {
					t.Fatal(err)
				}
				n.names = append(n.names, name.(string))
			}
			n.values = append(n.values, parse())
		}
		decoder.Token()
		return n
	}
	return parse()
}

func (n *tree) clone() *tree {
	c := &tree{open: n.open, leaf: n.leaf, names: slices.Clone(n.names)}
	for _, v := range n.values {
		c.values = append(c.values, v.clone())
	}
	return c
}

func (n *tree) field(name string) *tree {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.values[i]
	}
	return nil
}

func (n *tree) write(b *strings.Builder) {
	if n.open == 0 {
		switch v := n.leaf.(type) {
		case json.Number:
			b.WriteString(string(v))
		default:
			var text bytes.Buffer
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false)
			encoder.Encode(v)
			b.WriteString(strings.TrimSuffix(text.String(), "\n"))
		}
		return
	}
	closing := map[json.Delim]string{'{': "}", '[': "]"}
	b.WriteString(n.open.String())
	for i, v := range n.values {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == '{' {
			b.WriteString(strconv.Quote(n.names[i]) + ":")
		}
		v.write(b)
	}
	b.WriteString(closing[n.open])
}

// modelText writes a tree as a model file with a correct checksum.
func modelText(n *tree) string {
	var b strings.Builder
	b.WriteString("{\n")
	for i, name := range n.names {
		if name == "checksum" {
			continue
		}
		b.WriteString(strconv.Quote(name) + ": ")
		v := n.values[i]
		if v.open == '[' && slices.Contains([]string{"points", "history", "members", "probes"}, name) {
			b.WriteString("[")
			for k, element := range v.values {
				if k > 0 {
					b.WriteString(",")
				}
				b.WriteString("\n")
				element.write(&b)
			}
			b.WriteString("\n]")
		} else {
			v.write(&b)
		}
		b.WriteString(",\n")
	}
	return fmt.Sprintf("%s\"checksum\": \"sha256:%x\"\n}\n", b.String(), sha256.Sum256([]byte(b.String())))
}

// jsonPlace is a node of a tree with its path: "points.*.guarantee.order".
type jsonPlace struct {
	path   string
	node   *tree
	parent *tree
	index  int
}

func (n *tree) places(path string) []jsonPlace {
	var list []jsonPlace
	for i, v := range n.values {
		name := "*"
		if n.open == '{' {
			name = n.names[i]
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		list = append(list, jsonPlace{at, v, n, i})
		list = append(list, v.places(at)...)
	}
	return list
}

// mutations change a jsonPlace and return what they did, "" if they do not apply.
var mutations = []func(p jsonPlace, r *rand.Rand) string{
	func(p jsonPlace, r *rand.Rand) string { // a slightly different number
		return p.number(func(x float64) float64 { return x * (1 + 1e-6) }, "times 1 + 1e-6")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return x + 1 }, "plus 1")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return x - 1 }, "minus 1")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return -x }, "negative")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return 2 * x }, "doubled")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return x / 10 }, "a tenth")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return 1e300 }, "1e300")
	},
	func(p jsonPlace, r *rand.Rand) string {
		return p.number(func(x float64) float64 { return 0 }, "zero")
	},
	func(p jsonPlace, r *rand.Rand) string { // another rate or number in a text
		text, ok := p.node.leaf.(string)
		if !ok || !regexp.MustCompile(`[1-9]`).MatchString(text) {
			return ""
		}
		digits := regexp.MustCompile(`[1-9]`).FindAllStringIndex(text, -1)
		at := digits[r.IntN(len(digits))][0]
		p.node.leaf = text[:at] + string('1'+(text[at]-'1'+1+byte(r.IntN(8)))%9) + text[at+1:]
		return "another digit"
	},
	func(p jsonPlace, r *rand.Rand) string {
		text, ok := p.node.leaf.(string)
		if !ok {
			return ""
		}
		p.node.leaf = text + "x"
		return "another text"
	},
	func(p jsonPlace, r *rand.Rand) string {
		others := []string{"max-fpr", "top", "absolute-top", "--top 5%", "--max-fpr 0.01", "numeric", "categorical", "certified", "toppush"}
		if _, ok := p.node.leaf.(string); !ok {
			return ""
		}
		p.node.leaf = others[r.IntN(len(others))]
		return "another word"
	},
	func(p jsonPlace, r *rand.Rand) string {
		v, ok := p.node.leaf.(bool)
		if !ok {
			return ""
		}
		p.node.leaf = !v
		return "negated"
	},
	func(p jsonPlace, r *rand.Rand) string {
		if p.node.open == 0 && p.node.leaf == nil {
			return ""
		}
		p.node.open, p.node.values, p.node.names, p.node.leaf = 0, nil, nil, nil
		return "null"
	},
	func(p jsonPlace, r *rand.Rand) string {
		p.parent.values = slices.Delete(p.parent.values, p.index, p.index+1)
		if p.parent.open == '{' {
			p.parent.names = slices.Delete(p.parent.names, p.index, p.index+1)
		}
		return "removed"
	},
	func(p jsonPlace, r *rand.Rand) string {
		if p.parent.open != '[' {
			return ""
		}
		p.parent.values = slices.Insert(p.parent.values, p.index, p.node.clone())
		return "twice"
	},
	func(p jsonPlace, r *rand.Rand) string {
		if p.parent.open != '[' || len(p.parent.values) < 2 {
			return ""
		}
		other := (p.index + 1) % len(p.parent.values)
		v := p.parent.values
		v[p.index], v[other] = v[other], v[p.index]
		return "swapped with its neighbour"
	},
}

// number replaces a number. It is written in the shortest form, as toptau does.
func (p jsonPlace) number(change func(float64) float64, what string) string {
	n, ok := p.node.leaf.(json.Number)
	if !ok {
		return ""
	}
	x, err := n.Float64()
	if err != nil || change(x) == x {
		return ""
	}
	text, err := json.Marshal(change(x))
	if err != nil {
		return ""
	}
	p.node.leaf = json.Number(text)
	return what
}

// editableModels returns models with every kind of evidence.
func editableModels(t *testing.T) map[string]*model.Model {
	r := rand.New(rand.NewPCG(3, 1))
	table := func(rows int) string {
		var b strings.Builder
		b.WriteString("a,kind,b,site,y\n")
		for range rows {
			y, kind := 0, []string{"x", "y", "z"}[r.IntN(3)]
			if r.Float64() < 0.3 {
				y = 1
			}
			fmt.Fprintf(&b, "%.4g,%s,%.3g,%s,%d\n", r.NormFloat64()+float64(y), kind, r.ExpFloat64()*float64(1+y), []string{"n", "s"}[r.IntN(2)], y)
		}
		return b.String()
	}
	dir := t.TempDir()
	read := func(name, text string, m *model.Model) *dataset.Data {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		format := schema.Format{Label: "y", Segment: "site"}
		if m != nil {
			format = m.Format()
			format.Segment = "site"
		}
		d, err := dataset.Read(t.Context(), path, format)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	train := read("train.csv", table(600), nil)
	fitted, err := certify.Fit(t.Context(), train, method.Problem{Method: method.PatMatNP, Tau: threshold.MustRate("5%"), Beta: 0.1, Lambda: 0.01},
		certify.FitOptions{Encoding: schema.Scorecard})
	if err != nil {
		t.Fatal(err)
	}
	m := fitted.Model
	held := read("held.csv", table(1500), m)
	for _, point := range []struct {
		name string
		goal metric.Goal
	}{
		{"plain", toptau.MaxFPR("1%")},
		{"fpr", toptau.MaxFPR("2%")},
		{"share", toptau.Top("5%")},
		{"count", metric.Goal{Kind: metric.GoalTop, Count: 80, Of: 1500}},
		{"top", metric.Goal{Kind: metric.GoalAbsoluteTop}},
		{"sites", toptau.MaxFPR("3%")},
	} {
		name := point.name
		o := decide.Options{Name: name, Delta: threshold.MustRate("5%"), Segments: name == "sites"}
		if name == "plain" {
			o.Delta = threshold.Rate{}
		}
		c, err := decide.Threshold(t.Context(), held, dataset.Entry{Model: m}, point.goal, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m, err = m.WithPoint(c.Point); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	trained, err := toptau.Train(t.Context(), train, toptau.MaxFPR("5%"), toptau.TrainOptions{Method: []method.Name{method.Logistic, method.TopPush},
		Encoding: []schema.Encoding{schema.Raw}, Folds: 2, Delta: threshold.MustRate("5%")})
	if err != nil {
		t.Fatal(err)
	}
	both := toptau.MinPrecision("60%")
	both.Recall = threshold.MustRate("30%")
	precise, err := toptau.Train(t.Context(), read("more.csv", table(3000), nil), both, toptau.TrainOptions{Method: []method.Name{method.Logistic},
		Encoding: []schema.Encoding{schema.Raw}, Folds: 2, Delta: threshold.MustRate("10%")})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*model.Model{"fit and threshold": m, "train with delta": trained.Model, "train for a precision and a recall": precise.Model}
}

// recomputed matches the fields that Read computes again. An accepted edit of one of them means the same as before.
var recomputed = regexp.MustCompile(`^(points\.\*(\.segments\.\*)?\.guarantee\.(recall\.)?(certified|kind|rate|delta|n_negatives|order|bound|rows|prevalence|calibration\.rows|calibration\.above.*)` +
	`|points\.\*\.goal|toptau_model|checksum|(schema|features|program)(\..*)?|digest|probes\.\*\.score|fingerprints\.(rows|sampled|cut|hashes))$`)

func TestEditedModels(t *testing.T) {
	n := *edits
	if n == 0 {
		n = modeltest.IfLong(150, 500)
		if testing.Short() {
			n = 50
		}
		if os.Getenv("TOPTAU_HOSTILE") == "long" {
			n = 20000
		}
	}
	type base struct {
		name string
		root *tree
	}
	var bases []base
	for name, m := range editableModels(t) {
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		root := parseTree(t, b.String())
		if modelText(root) != b.String() {
			t.Fatal("the tree does not reproduce the file")
		}
		bases = append(bases, base{name, root})
	}
	slices.SortFunc(bases, func(a, b base) int { return strings.Compare(a.name, b.name) })

	r := rand.New(rand.NewPCG(uint64(n), 9))
	kinds, accepted := map[string]int{}, map[string][]string{}
	refused := 0
	for made := 0; made < n; {
		b := bases[r.IntN(len(bases))]
		root := b.root.clone()
		p := pickNode(root, r)
		what := mutations[r.IntN(len(mutations))](p, r)
		text := modelText(root)
		if what == "" || text == modelText(b.root) {
			continue
		}
		made++
		kinds[p.path+": "+what]++
		if _, err := model.Read(strings.NewReader(text), "m.json"); err != nil {
			refused++
			continue
		}
		if recomputed.MatchString(p.path) && !harmless(p, what) {
			t.Errorf("%s, %s: %s is accepted: %v", b.name, p.path, what, p.node.leaf)
		}
		accepted[p.path] = append(accepted[p.path], what)
	}
	t.Logf("%d edits of %d kinds: %d refused, %d accepted in %d fields", n, len(kinds), refused, n-refused, len(accepted))
	compareList(t, accepted)
}

// pickNode chooses a field first and then one of its places. Otherwise long lists would get nearly all edits.
func pickNode(root *tree, r *rand.Rand) jsonPlace {
	byPath := map[string][]jsonPlace{}
	var paths []string
	for _, p := range root.places("") {
		if byPath[p.path] == nil {
			paths = append(paths, p.path)
		}
		byPath[p.path] = append(byPath[p.path], p)
	}
	path := paths[r.IntN(len(paths))]
	return byPath[path][r.IntN(len(byPath[path]))]
}

// harmless reports accepted edits that claim nothing false: the goal of a plain threshold, and another delta that the order
// statistic satisfies too.
func harmless(p jsonPlace, what string) bool {
	switch {
	case strings.HasSuffix(p.path, ".delta"):
		delta, err := threshold.ParseRate(fmt.Sprint(p.node.leaf))
		bound, _ := p.parent.field("bound").leaf.(json.Number).Float64()
		return err == nil && bound <= delta.Float64()
	case strings.HasPrefix(p.path, "points.*.goal"):
		return true // of a plain threshold, or the same goal in another form; Read refuses a guarantee for another goal
	}
	return false
}

const (
	listBegin = "<!-- undetectable edits: begin -->\n"
	listEnd   = "<!-- undetectable edits: end -->\n"
)

// compareList compares the fields of accepted edits with the list in docs/reference/evidence.md.
func compareList(t *testing.T, accepted map[string][]string) {
	const path = "../../../docs/reference/evidence.md"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), listBegin)
	list, after, ended := strings.Cut(rest, listEnd)
	if !found || !ended {
		t.Fatalf("%s has no list of undetectable edits", path)
	}
	known := map[string]bool{}
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		known[match[1]] = true
	}
	for field, what := range accepted {
		slices.Sort(what)
		if !known[field] && !*updateEdits {
			t.Errorf("%s: an undetected edit that %s does not list: %v", field, path, slices.Compact(what))
		}
		known[field] = true
	}
	if !*updateEdits {
		return
	}
	var lines strings.Builder // one for each field of the file
	part := ""
	for _, field := range slices.Sorted(maps.Keys(known)) {
		top, _, _ := strings.Cut(field, ".")
		switch top {
		case part:
			lines.WriteString(", ")
		default:
			if part != "" {
				lines.WriteString("\n")
			}
			lines.WriteString("* ")
			part = top
		}
		lines.WriteString("`" + field + "`")
	}
	text := before + listBegin + lines.String() + "\n" + listEnd + after
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
