// Package cli contains the common parts of the commands: the flag parser's set-up, a session with
// standard input and output, progress, interruptions, checks of file flags, and the report of an error with
// its exit code. A command adds its verbs as structs with a method Run(*Session) error.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"toptau/diag"
	"toptau/internal/data/memory"
)

// App describes a command.
type App struct {
	Name        string    // as typed: "toptau"
	Description string    // shown by --help
	Verbs       any       // a pointer to a struct for kong, which embeds Flags; parsing fills it
	Flags       *Flags    // the Flags in Verbs
	Vars        kong.Vars // values for help texts and defaults; "version" is added

	// Orientation is printed if the command is typed alone. Examples has command lines by verb, for its help.
	Orientation string
	Examples    map[string][]string

	// Options describes the flags of fields without tags, those of the library's option structs that verbs embed. The key
	// is a flag's name, or a verb's name, a space and a flag's name. Fields whose name is in Hidden,
	// alone or after their type and a dot, are no flags.
	Options map[string]Option
	Hidden  []string

	// Synonyms are words that people try for verbs ("predict": "score") and, with dashes, for flags ("--target": "--label"). The
	// error of an unknown word names the first flag among the words after it, separated by blanks, that the verb has.
	Synonyms map[string]string

	needs map[*kong.Flag]string // the flag without which a flag has no meaning; "": none
	first map[*kong.Flag]bool   // flags with a group that the short help has
}

// Option describes a flag that has no tags of its own.
type Option struct {
	Help        string
	Group       string
	Placeholder string
	Default     string
	Short       rune
	Whole       bool   // a repeatable flag whose values are not split at commas
	File        string // as the struct tag file
	Needs       string // as the struct tag needs
	Required    bool
	First       bool     // in the short help although it has a group
	Values      []string // what shells complete; nil: files, or nothing
}

// Flags are the flags of every command.
type Flags struct {
	JSON    bool             `name:"json" help:"Print JSON instead of text: one object, or one object per row."`
	Quiet   bool             `short:"q" help:"Show no progress on standard error."`
	Threads *int             `placeholder:"N" help:"Use at most N threads, and at most one per processor. Results do not depend on it (default: all processors)."`
	Version kong.VersionFlag `help:"Print the version."`
	HelpAll helpAll          `name:"help-all" help:"Show this help with every flag."`

	ProgressLines bool `hidden:"" help:"Print progress as JSON lines on standard error, for programs."`
}

// Main runs a command with the process's arguments, streams and signals, and exits.
func (a *App) Main() {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is then an error of the write, and the command ends with exit code 0
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	s := newSession(ctx, a, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	s.ownsProcess = true
	go s.watchSignals(signals, cancel)
	code := s.run(os.Args[1:])
	s.ending.Lock()
	os.Exit(code)
}

// Run runs a command without touching the process and returns its exit code.
func (a *App) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newSession(ctx, a, args, stdin, stdout, stderr).run(args)
}

// Parser returns the flag parser of all verbs.
func (a *App) Parser(options ...kong.Option) (*kong.Kong, error) { return a.parserFor(nil, options...) }

// parserFor returns a flag parser for the words of a command. If they begin with a verb it knows no other verb: building the parser of
// all verbs takes longer than scoring a row.
func (a *App) parserFor(args []string, options ...kong.Option) (*kong.Kong, error) {
	vars := kong.Vars{"version": a.version()}
	for name, value := range a.Vars {
		vars[name] = value
	}
	hidden := make([]string, len(a.Hidden), len(a.Hidden)+1)
	for i, name := range a.Hidden {
		if owner, field, found := strings.Cut(name, "."); found {
			hidden[i] = "^" + owner + `(\[.*\])?\.` + field + "$" // verbs are generic types
		} else {
			hidden[i] = `\.` + name + "$"
		}
	}
	if others := a.otherVerbs(args); others != "" {
		hidden = append(hidden, others)
	}
	all := []kong.Option{kong.Name(a.Name), kong.Description(a.Description), kong.UsageOnError(), vars,
		kong.ConfigureHelp(helpOptions), kong.Help(func(o kong.HelpOptions, ctx *kong.Context) error { return printHelp(o, ctx, a.first) }),
		kong.PostBuild(a.describeOptions)}
	if len(hidden) > 0 {
		all = append(all, kong.IgnoreFields(strings.Join(hidden, "|")))
	}
	return kong.New(a.Verbs, append(all, options...)...)
}

// otherVerbs returns the pattern of the fields of all verbs but the one with which a command begins, or "" if it begins with none.
func (a *App) otherVerbs(args []string) string {
	if len(args) == 0 {
		return ""
	}
	var others []string
	found := false
	verbs := reflect.TypeOf(a.Verbs).Elem()
	for field := range verbs.Fields() {
		if _, isVerb := field.Tag.Lookup("cmd"); !isVerb {
			continue
		}
		if cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) == args[0] {
			found = true
		} else if _, isFlag := reflect.TypeFor[Flags]().FieldByName(field.Name); !isFlag { // the pattern is that of a flag, too
			others = append(others, field.Name)
		}
	}
	if !found || len(others) == 0 {
		return ""
	}
	return "^" + verbs.Name() + `\.(` + strings.Join(others, "|") + ")$"
}

// Parse parses the words of a command with every rule on flags, and runs nothing.
func (a *App) Parse(args []string) error {
	parser, err := a.parserFor(args, kong.Exit(func(int) {}))
	if err == nil {
		_, err = a.parse(parser, args)
	}
	return err
}

// parse parses the words of a command: also the rules that kong does not know.
func (a *App) parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	parsed, err := parser.Parse(interleaved(parser.Model, args))
	if err != nil {
		return nil, &diag.Error{Kind: diag.Usage, Found: a.suggested(err), Hint: a.helpHint(err)}
	}
	if err := checkEmpty(parsed); err != nil {
		return nil, err
	}
	return parsed, a.checkNeeds(parsed)
}

// describeOptions attaches the Options to the flags without help. A flag without a description is an error, so that no field
// becomes a flag by accident.
func (a *App) describeOptions(parser *kong.Kong) error {
	a.needs, a.first = map[*kong.Flag]string{}, map[*kong.Flag]bool{}
	parser.Model.HelpFlag.Help = "Show this help."
	for _, verb := range parser.Model.Leaves(false) {
		if lines := a.Examples[verb.Name]; lines != nil {
			verb.Detail = "Examples:\n\n    " + strings.Join(lines, "\n    ")
		}
		for _, f := range verb.Flags {
			if f.Help == "" {
				option, found := a.Options[verb.Name+" "+f.Name]
				if !found {
					if option, found = a.Options[f.Name]; !found {
						return fmt.Errorf("cli: the flag --%s of %s has no help", f.Name, verb.Name)
					}
				}
				option.describe(f)
				a.needs[f], a.first[f] = option.Needs, option.First
			} else {
				a.needs[f] = f.Tag.Get("needs")
			}
			switch {
			case f.PlaceHolder == "BYTES":
				f.Mapper = kong.MapperFunc(decodeSize)
			case f.Target.Type() == reflect.TypeFor[time.Duration]():
				f.Mapper = kong.MapperFunc(decodeDuration)
			}
		}
	}
	return nil
}

// decodeSize reads the value of a flag whose placeholder is BYTES, which may have a unit.
func decodeSize(ctx *kong.DecodeContext, target reflect.Value) error {
	var value string
	if err := ctx.Scan.PopValueInto("size", &value); err != nil {
		return err
	}
	bytes, err := memory.ParseSize(value)
	target.SetInt(bytes)
	return err
}

// decodeDuration reads the value of a flag that is a time.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var value string
	if err := ctx.Scan.PopValueInto("time", &value); err != nil {
		return err
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no time with a unit, such as 30s, 10m or 2h", value)
	}
	target.SetInt(int64(d))
	return nil
}

func (o Option) describe(f *kong.Flag) {
	f.Help, f.OrigHelp, f.PlaceHolder, f.Short, f.Required = o.Help, o.Help, o.Placeholder, o.Short, o.Required
	if o.Group != "" {
		f.Group = &kong.Group{Key: o.Group, Title: o.Group}
	}
	if o.Default != "" {
		f.Default, f.HasDefault = o.Default, true
	}
	if o.Whole {
		f.Tag.Sep = -1
	}
}

func (s *Session) run(args []string) int {
	err := s.runVerb(args)
	for _, do := range s.atEnd {
		do()
	}
	s.Progress.Clear()
	if flushed := s.Stdout.Flush(); err == nil {
		err = flushed
	}
	s.ending.Lock()
	defer s.ending.Unlock()
	return s.reportError(err)
}

// parserExit is the value with which the parser's exit panics, after --help or --version.
type parserExit struct{ code int }

// runVerb parses the arguments, checks them and runs the verb that they name.
func (s *Session) runVerb(args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			exit, ok := r.(parserExit)
			if !ok {
				panic(r)
			}
			if exit.code != 0 {
				err = &diag.Error{Kind: diag.Usage, Found: fmt.Sprintf("exit code %d from the flag parser", exit.code)}
			}
		}
	}()
	parser, err := s.app.parserFor(args, kong.Writers(s.Stdout, s.Stderr), kong.Exit(func(code int) { panic(parserExit{code}) }))
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0 && s.app.Orientation != "":
		_, err := s.Stdout.WriteString(s.app.Orientation)
		return err
	case len(args) == 0 || len(args) == 1 && args[0] == "help":
		args = []string{"--help"}
	case args[0] == "help":
		if !slices.ContainsFunc(parser.Model.Leaves(true), func(verb *kong.Node) bool { return verb.Name == args[1] }) {
			return &diag.Error{Kind: diag.Usage, Found: "no verb " + diag.Quote(args[1]), Hint: "see " + s.app.Name + " --help"}
		}
		args = []string{args[1], "--help"}
	}
	parsed, err := s.app.parse(parser, args)
	if err != nil {
		return err
	}
	s.flags = map[string]bool{}
	for _, f := range parsed.Flags() {
		s.flags[f.Name] = true
	}
	flags := s.app.Flags
	if n := flags.Threads; n != nil {
		if *n < 1 {
			return &diag.Error{Kind: diag.Usage, Param: "threads", Found: fmt.Sprint(*n), Expected: "at least 1"}
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(min(*n, runtime.NumCPU())))
	}
	s.JSON = flags.JSON
	s.Progress = newProgress(s.Stderr, flags.Quiet || flags.JSON)
	if flags.ProgressLines {
		s.Progress = &Progress{w: s.Stderr, lines: true}
	}
	s.shown.Store(s.Progress)
	if err := s.checkFiles(s.app.filesOf(parsed)); err != nil {
		return err
	}
	if s.ownsProcess && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(10)                         // nearly all memory holds numbers, which the collector need not scan
		if debug.SetMemoryLimit(-1) == math.MaxInt64 { // -1 reads the limit
			untouched = make([]byte, untouchedBytes)
		}
	}
	return parsed.Run(s)
}

// untouched is memory that is never written, so it takes none of the machine's. The collector counts it: it runs after a tenth of it at the
// earliest, not after less than a megabyte, which took a fifth of the time of small fits.
//
//lint:ignore U1000 the collector counts it
var untouched []byte

const untouchedBytes = 64 << 20

// CollectAfter makes the collector run after some per cent of new memory alone, for verbs that serve requests.
func CollectAfter(percent int) {
	untouched = nil
	debug.SetGCPercent(percent)
	runtime.GC()
}

// withoutValue is the parser's error if a flag has another flag, or nothing, where its value belongs. -5 may be meant as one.
var withoutValue = regexp.MustCompile(`^(--[\w-]+): expected .* value but got "(?:--|EOL")`)

// suggested returns the text of an error of the parser. For an unknown word it names what people mean by it, if that is known, and
// otherwise the similar word that the parser has found: "report" is like "export", and people mean evaluate.
func (a *App) suggested(err error) string {
	var parse *kong.ParseError
	found, _, _ := strings.Cut(err.Error(), ", did you mean")
	if match := withoutValue.FindStringSubmatch(found); match != nil {
		return match[1] + " without a value"
	}
	words := strings.Fields(found)
	if !errors.As(err, &parse) || len(words) != 3 || words[0] != "unknown" && words[0] != "unexpected" {
		return err.Error()
	}
	unknown, _, _ := strings.Cut(words[2], "=")
	for known := range strings.FieldsSeq(a.Synonyms[unknown]) {
		isFlag := strings.HasPrefix(known, "--")
		if !isFlag || parse.Context != nil && slices.ContainsFunc(parse.Context.Flags(),
			func(f *kong.Flag) bool { return "--"+f.Name == known }) {
			return fmt.Sprintf("%s, did you mean %q?", found, known)
		}
	}
	return err.Error()
}

// helpHint names the verb whose help to read.
func (a *App) helpHint(err error) string {
	verb := ""
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Command() != "" {
		verb = strings.Fields(parse.Context.Command())[0] + " "
	}
	return "see " + a.Name + " " + verb + "--help"
}

// wantsJSON looks for --json before the flags are parsed, so that a wrong flag is reported in JSON too.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// version describes this build in a line.
func (a *App) version() string {
	b := ThisBuild()
	return fmt.Sprintf("%s %s, %s, %s", a.Name, b.Version, b.Go, b.Platform)
}
