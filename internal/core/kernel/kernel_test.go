package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNoKernelAllocates(t *testing.T) {
	const d, panels, models, groups = 20, 3, 6, 5
	const rows = panels * PanelRows
	x, y := make([]float32, d*rows), make([]float64, d*rows)
	w, z, v := make([]float64, d), make([]float64, rows), make([]float64, rows)
	v[3], v[100] = 1, 2
	lanes, g := make([]float64, d*Lanes), make([]float64, d*models)
	wt, zt, tiles := make([]float32, d*models), make([]float32, rows*models), make([]float32, d*models*TileLanes)
	zt[5] = 1
	var hinges [TileLanes]float64
	filters, numbers := make([]TileFilter, 1), make([]int32, rows)
	narrow, wide, fractions := make([]uint8, groups*rows), make([]uint16, groups*rows), make([]float32, groups*rows)
	start, codeLanes := []int32{0, 2, 5, 9, 14, 20}, make([]float64, 20*Lanes)
	const longPanels = streamBytes/(4*PanelRows*d) + 1
	long, longScores := make([]float32, longPanels*PanelRows*d), make([]float64, longPanels*PanelRows)
	manyX, manyZ := [][]float32{x, x}, [][]float64{z, v}
	for name, f := range map[string]func(){
		"ScorePanels, long": func() { ScorePanels(long, w, longScores, false) },
		"ScoreStreams":      func() { ScoreStreams(manyX, w, manyZ, false) },
		"Scores":            func() { Scores(x[:d*PanelRows], w, z) },
		"ScorePanels":       func() { ScorePanels(x, w, z, true); ScorePanels(y, w, z, false) },
		"Accumulate":        func() { Accumulate(x[:d*PanelRows], v[:PanelRows], lanes) },
		"AccumulatePanels":  func() { AccumulatePanels(x, v, lanes); AccumulatePanels(y, v, lanes) },
		"ReduceLanes":       func() { ReduceLanes(lanes, g[:d]) },
		"ScoreTile":         func() { ScoreTile(x, wt, models, zt, true) },
		"AccumulateTile":    func() { AccumulateTile(x, zt, models, tiles) },
		"ReduceTile":        func() { ReduceTile(tiles, g) },
		"AccumulateTileRow": func() { AccumulateTileRow(x[:d*PanelRows], 3, 1, models, 2, tiles) },
		"Hinge":             func() { Hinge{-1, 1, 0.5}.Panels(zt, models*PanelRows, panels, &hinges) },
		"FilterTile": func() {
			filters[0] = NewTileFilter(-1, zt[:rows], numbers, 0)
			FilterTile(x[:rows], filters, 0)
		},
		"ScoreCodes":        func() { ScoreCodes(narrow, w, start, z, true); ScoreCodes(wide, w, start, z, true) },
		"ScoreCodesBetween": func() { ScoreCodesBetween(narrow, fractions, w, start, z, true) },
		"AddCodes":          func() { AddCodes(narrow, v, start, codeLanes); AddCodes(wide, v, start, codeLanes) },
		"AddCodesBetween":   func() { AddCodesBetween(narrow, fractions, v, start, codeLanes) },
		"JoinScores":        func() { JoinScores(z, zt, models*PanelRows) },
		"entries": func() {
			AddEntries(wide[:rows], wt, models, zt)
			SumEntries(wide[:rows], zt, models, codeLanes)
		},
		"selection": func() {
			Highest(z)
			Count(z, 0)
			Between(z, -1, 1, v)
			SumAbove(z, 0, -1)
			RowsAbove(z, 0, -1, 0, numbers)
		},
	} {
		everyLevel(t, func(t *testing.T) {
			if n := testing.AllocsPerRun(20, f); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		})
	}
}

// A processor with AVX2 alone has sixteen vector registers of 256 bits and no masks.
func TestAVX2CodeKeepsToItsRegisters(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no assembly found: ", err)
	}
	wide := regexp.MustCompile(`\b(Z\d+|K\d|[XY](1[6-9]|2\d|3[01]))\b`)
	functions := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for number, line := range strings.Split(string(text), "\n") {
			if f, ok := strings.CutPrefix(line, "TEXT ·"); ok {
				name, _, _ = strings.Cut(f, "(")
				functions++
			}
			if strings.HasSuffix(name, "AVX2") && !strings.HasPrefix(line, "//") && wide.MatchString(line) {
				t.Errorf("%s:%d: %s uses %s", file, number+1, name, strings.TrimSpace(line))
			}
		}
	}
	if functions < 20 {
		t.Errorf("only %d functions found", functions)
	}
}

func TestTheBestLevelIsOneThatRuns(t *testing.T) {
	all := levels()
	if all[0] != levelGo {
		t.Error("plain Go is missing")
	}
	for _, l := range all {
		if l.String() == Implementation() {
			return
		}
	}
	t.Errorf("%v is not among %v", Implementation(), all)
}
