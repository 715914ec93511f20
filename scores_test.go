package toptau

import (
	"os"
	"slices"
	"strings"
	"testing"

	"toptau/result"
)

// TestReadScores covers every way to join scores to rows, and every way in which that fails.
func TestReadScores(t *testing.T) {
	plain := "x,y\n1,1\n2,0\n3,0\n"
	named := "key,x,y\na,1,1\nb,2,0\nc,3,0\n"
	label, id := Format{Label: "y"}, Format{Label: "y", ID: []string{"key"}}
	position, positionLabels := result.Joined{By: byPosition}, result.Joined{By: byPosition, Labels: 3}
	rowNumbers, ids := result.Joined{By: byRow}, result.Joined{By: byID}
	for _, c := range []struct {
		name, data string
		format     Format
		scores     string
		want       string // a part of the error; "": the scores are 1, -2.5, 1000
		joined     result.Joined
	}{
		{"score alone", plain, label, "score\n1\n-2.5\n1e3\n", "", position},
		{"one column", plain, label, "anything\n1\n-2.5\n1e3\n", "", position},
		{"no header", plain, label, "1\n-2.5\n1e3\n", "", position},
		{"labels", plain, label, "score,y\n1,1\n-2.5,0\n1e3,0\n", "", positionLabels},
		{"a column label", plain, label, "label,score\n1,1\n0,-2.5\n0,1e3\n", "", positionLabels},
		{"row numbers", plain, label, "row,score,decision\n1,1,0\n2,-2.5,0\n3,1e3,1\n", "", rowNumbers},
		{"row numbers in another order", plain, label, "row,score\n3,1e3\n1,1\n2,-2.5\n", "", rowNumbers},
		{"ids", named, id, "key,score\na,1\nb,-2.5\nc,1e3\n", "", ids},
		{"ids in another order with others", named, id, "score,key\n7,z\n1e3,c\n1, a\n-2.5,b\n", "", result.Joined{By: byID, Unused: 1}},
		{"the only other column", named, id, "key,gbdt,y\nc,1e3,0\nb,-2.5,0\na,1,1\n", "", result.Joined{By: byID, Labels: 3}},
		{"ids of a file without header", "a,1,1\nb,2,0\nc,3,0\n", Format{Label: "last", ID: []string{"1"}, Header: "no"},
			"c,1e3\nb,-2.5\na,1\n", "", ids},

		{"shuffled labels", plain, label, "score,y\n-2.5,0\n1,1\n1e3,0\n",
			`s.csv:2: column "y": a negative row; 2 of 3 labels differ from those of d.csv, expected positive, as on line 2 there`, position},
		{"row twice", plain, label, "row,score\n1,1\n1,2\n3,3\n", `s.csv:3: column "row": row 1, which is also on line 2`, position},
		{"row beyond", plain, label, "row,score\n1,1\n4,2\n3,3\n", `:3: column "row": "4", expected the number of a row`, position},
		{"id twice", named, id, "key,score\na,1\nb,2\na,3\n", `s.csv:4: column "key": id "a", which is also on line 2, expected one score for each id`, position},
		{"data's id twice", "key,x,y\na,1,1\na,2,0\nc,3,0\n", id, "key,score\na,1\nc,2\n", `d.csv:3: column "key": id "a", which is also on line 2`, position},
		{"no ids in the scores", named, id, "score\n1\n2\n3\n", `no column "key" among ["score"], expected the id columns of d.csv`, position},
		{"no ids in the data", plain, label, "id,score\n7,1\n8,2\n9,3\n", `column "id": a column of ids, expected the same column in d.csv`, position},
		{"fewer", plain, label, "score\n1\n2\n", "2 scores and no id, expected 3, one for each row of d.csv", position},
		{"no score", plain, label, "p,q\n1,2\n3,4\n", `no column named "score" among ["p" "q"]`, position},
		{"empty", plain, label, "score,w\n1,1\n,2\n3,3\n", `s.csv:3: column "score": a missing score`, position},
		{"words", plain, label, "score\nhigh\nlow\nlow\n", `column "score": "high"`, position},
	} {
		t.Chdir(t.TempDir())
		for file, content := range map[string]string{"d.csv": c.data, "s.csv": c.scores} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d, err := Read(t.Context(), "d.csv", c.format)
		if err != nil {
			t.Fatal(err)
		}
		var s *rowScores
		e, err := ReadScores(t.Context(), "m", "s.csv", Format{})
		if err == nil {
			s, err = e.score(d)
		}
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil || !slices.Equal(s.values, []float64{1, -2.5, 1000}) || e.Name != "m" || *s.joined != c.joined {
			t.Errorf("%s: %+v, %v", c.name, s, err)
		}
	}
}
