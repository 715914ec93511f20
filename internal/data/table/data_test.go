package table

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toptau/schema"
)

// r2lAndU2r lists the attacks in the rare positive class of kddcup99 and nsl_kdd.
var r2lAndU2r = []string{
	"guess_passwd", "ftp_write", "imap", "phf", "multihop", "warezmaster", "warezclient", "spy", "xlock", "xsnoop",
	"snmpguess", "snmpgetattack", "httptunnel", "sendmail", "named", "worm",
	"buffer_overflow", "loadmodule", "rootkit", "perl", "sqlattack", "xterm", "ps",
}

// public returns the directory of the public data sets, or skips the test.
func public(t *testing.T) string {
	t.Helper()
	root := os.Getenv("TOPTAU_DATA")
	if root == "" {
		t.Skip("TOPTAU_DATA is not set")
	}
	return root
}

// TestPublicData reads every public data set with options alone.
func TestPublicData(t *testing.T) {
	root := public(t)
	for _, c := range []struct {
		file                      string
		options                   Options
		rows, features, positives int
		categorical               int
	}{
		{"ionosphere/ionosphere.data", Options{Format: schema.Format{Label: "last", Positive: []string{"b"}}}, 351, 34, 126, 0},
		{"spambase/spambase.data", Options{Format: schema.Format{Label: "last"}}, 4601, 57, 1813, 0},
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz",
			Options{Format: schema.Format{Label: "42", Drop: []string{"43"}, Positive: []string{"!normal"}}}, 25192, 41, 11743, 3},
		{"nsl_kdd/KDDTest+.txt.gz",
			Options{Format: schema.Format{Label: "42", Drop: []string{"43"}, Positive: []string{"!normal"}}}, 22544, 41, 12833, 3},
		{"nsl_kdd/KDDTest-21.txt.gz",
			Options{Format: schema.Format{Label: "42", Drop: []string{"43"}, Positive: []string{"!normal"}}}, 11850, 41, 9698, 3},
		{"kddcup99/kddcup.data_10_percent.gz", Options{Format: schema.Format{Label: "last", Positive: []string{"!normal."}}}, 494021, 41, 396743, 3},
		{"kddcup99/corrected.gz", Options{Format: schema.Format{Label: "last", Positive: []string{"!normal."}}}, 311029, 41, 250436, 3},
		{"cicids2017_web/web_attacks_balanced.csv.gz",
			Options{Format: schema.Format{Label: "Label", Drop: []string{"1-7"}, Positive: []string{"!BENIGN"}}}, 7267, 76, 2180, 0},
		{"cicids2017_web/web_attacks_balanced.csv.gz",
			Options{Format: schema.Format{Label: "Label", Positive: []string{"Web Attack – XSS"}}}, 7267, 83, 652, 0},
		{"w8a/w8a.gz", Options{}, 49749, 300, 1479, 0},
		{"a9a/a9a.gz", Options{}, 32561, 123, 7841, 0},
		{"a9a/a9a.t.gz", Options{Format: schema.Format{Width: 123}}, 16281, 123, 3846, 0},
		{"basehock/basehock.svm", Options{}, 1993, 4862, 999, 0},
		{"covtype_2vs4/covtype_2vs4.csv.gz", Options{Format: schema.Format{Label: "label"}}, 286048, 10, 2747, 0},
		{"mammography/mammography.csv", Options{Format: schema.Format{Label: "last", Positive: []string{"'1'"}}}, 11183, 6, 260, 0},
		{"oil_spill/oil-spill.csv", Options{Format: schema.Format{Label: "last"}}, 937, 49, 41, 0},
		{"coil2000/ticdata2000.txt.gz", Options{Format: schema.Format{Label: "86"}}, 5822, 85, 348, 0},
		{"coil2000/ticeval2000.txt", Options{Format: schema.Format{LabelsFile: "coil2000/tictgts2000.txt"}}, 4000, 85, 238, 0},
		{"magic04/magic04.data.gz", Options{Format: schema.Format{Label: "last", Positive: []string{"g"}}}, 19020, 10, 12332, 0},
		{"higgs_7k/binary.train.gz", Options{Format: schema.Format{Label: "first"}}, 7000, 28, 3716, 0},
		{"higgs_7k/binary.test", Options{Format: schema.Format{Label: "first"}}, 500, 28, 272, 0},
		{"usps/zip.train.gz", Options{Format: schema.Format{Label: "first", Positive: []string{"8"}}}, 7291, 256, 542, 0},
		{"usps/zip.test.gz", Options{Format: schema.Format{Label: "first", Positive: []string{"8"}}}, 2007, 256, 166, 0},
		{"madelon/madelon_train.data.gz", Options{Format: schema.Format{LabelsFile: "madelon/madelon_train.labels"}}, 2000, 500, 1000, 0},
		{"madelon/madelon_valid.data.gz", Options{Format: schema.Format{LabelsFile: "madelon/madelon_valid.labels"}}, 600, 500, 300, 0},
		{"pima/pima-indians-diabetes.data", Options{Format: schema.Format{Label: "last"}}, 768, 8, 268, 0},
		{"german/german.numer_scale", Options{}, 1000, 24, 300, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			if testing.Short() && c.rows > 100_000 {
				t.Skip("large")
			}
			o := c.options
			if o.LabelsFile != "" {
				o.LabelsFile = filepath.Join(root, o.LabelsFile)
			}
			x, info, err := Read(filepath.Join(root, c.file), o)
			if err != nil {
				t.Fatal(err)
			}
			features, categorical := len(x.Columns), 0
			for _, c := range x.Columns {
				if c.Kind == schema.Categorical {
					categorical++
				}
			}
			if x.Sparse != nil {
				features = x.Sparse.Cols
			}
			if x.Rows() != c.rows || info.Rows != c.rows || features != c.features || categorical != c.categorical ||
				info.Positives != c.positives || info.Negatives != c.rows-c.positives {
				t.Errorf("%d rows, %d features (%d categorical), %d positives, %d negatives; want %d, %d (%d), %d",
					x.Rows(), features, categorical, info.Positives, info.Negatives,
					c.rows, c.features, c.categorical, c.positives)
			}
		})
	}
}

// TestPublicRarePositives sets a class by many values.
func TestPublicRarePositives(t *testing.T) {
	root := public(t)
	for _, c := range []struct {
		file, dot string
		o         Options
		want      int
	}{
		{"nsl_kdd/KDDTrain+_20Percent.txt.gz", "", Options{Format: schema.Format{Label: "42", Drop: []string{"43"}}}, 220},
		{"nsl_kdd/KDDTest+.txt.gz", "", Options{Format: schema.Format{Label: "42", Drop: []string{"43"}}}, 2954},
		{"kddcup99/kddcup.data_10_percent.gz", ".", Options{Format: schema.Format{Label: "42"}}, 1178},
		{"kddcup99/corrected.gz", ".", Options{Format: schema.Format{Label: "42"}}, 16417},
	} {
		if testing.Short() && c.dot == "." {
			continue
		}
		path := filepath.Join(root, c.file)
		o := c.o
		o.Positive = []string{"!normal" + c.dot}
		_, info, err := Read(path, o)
		if err != nil {
			t.Fatal(err)
		}
		o = c.o
		for _, v := range info.Labels {
			if slices.Contains(r2lAndU2r, strings.TrimSuffix(v.Value, ".")) {
				o.Positive = append(o.Positive, v.Value)
			}
		}
		if _, info, err = Read(path, o); err != nil || info.Positives != c.want {
			t.Errorf("%s: %v, %+v; want %d positives", c.file, err, info, c.want)
		}
	}
}

// TestPublicValues compares sums and dictionaries with those that the authors of the sets publish.
func TestPublicValues(t *testing.T) {
	root := public(t)
	for name, want := range map[string]float64{"train": 488_083_511, "valid": 146_395_833} {
		base := filepath.Join(root, "madelon", "madelon_"+name)
		x, _, err := Read(base+".data.gz", Options{Format: schema.Format{LabelsFile: base + ".labels"}})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, c := range x.Columns {
			for _, v := range c.Values {
				sum += v
			}
		}
		if sum != want {
			t.Errorf("madelon %s: %v, want %v", name, sum, want)
		}
	}
	_, usps, err := Read(filepath.Join(root, "usps/zip.train.gz"), Options{Format: schema.Format{Label: "first", Positive: []string{"!6"}}})
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, LabelCount{Value: "6.0000", Count: 664}, usps.Labels[3])
	if usps.Digest != "abc9f5c75b997cabe66b5d01727d5a681c69298e1641a8d37b55433a52129dc0" {
		t.Error(usps.Digest)
	}
}

// TestPublicForModels reads test files with the schema of the training files.
func TestPublicForModels(t *testing.T) {
	root := public(t)
	read := func(file string, o Options) (*Table, *Info) {
		t.Helper()
		x, info, err := Read(filepath.Join(root, file), o)
		if err != nil {
			t.Fatal(err)
		}
		return x, info
	}
	nsl, info := read("nsl_kdd/KDDTrain+_20Percent.txt.gz",
		Options{Format: schema.Format{Label: "42", Drop: []string{"43"}, Positive: []string{"!normal"}}})
	var sizes []int
	for _, c := range nsl.Columns[1:4] {
		sizes = append(sizes, len(c.Dictionary))
	}
	wantSame(t, []int{3, 66, 11}, sizes)
	x, info := read("nsl_kdd/KDDTest+.txt.gz", Options{Schema: &info.Schema})
	wantSame(t, "tftp_u", x.Columns[2].Dictionary[66])
	wantSame(t, 12833, info.Positives)

	_, info = read("a9a/a9a.gz", Options{})
	x, _ = read("a9a/a9a.t.gz", Options{Schema: &info.Schema})
	wantSame(t, 123, x.Sparse.Cols)

	_, info = read("coil2000/ticdata2000.txt.gz", Options{Format: schema.Format{Label: "last"}})
	x, scored := read("coil2000/ticeval2000.txt", Options{Schema: &info.Schema, Unlabelled: true})
	wantSame(t, 4000, scored.Unknowns)
	wantSame(t, 85, len(x.Columns))
	_, labelled := read("coil2000/ticeval2000.txt",
		Options{Format: schema.Format{LabelsFile: filepath.Join(root, "coil2000/tictgts2000.txt")}, Schema: &info.Schema})
	wantSame(t, 238, labelled.Positives)
}
