package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Scores of scikit-learn's gradient boosting (gbdt) and of xgboost on the parts of divide, made by gbdt.py, which
// says what they are.
//
//go:embed gbdt/*.gz xgboost/*.gz
var boosterFiles embed.FS

// costs are the processor seconds of one training on a set, measured in turns by costs.py.
var costs = func() map[string]struct{ GBDT, XGBoost, Toptau float64 } {
	c := map[string]struct{ GBDT, XGBoost, Toptau float64 }{}
	if err := json.Unmarshal(costsFile, &c); err != nil {
		panic(err) // the file is part of the program
	}
	return c
}()

//go:embed costs.json
var costsFile []byte

// errStale is for scores of rows that are not the test part's.
var errStale = errors.New("the stored scores are those of other rows: run gbdt.py again")

// boosted is the head of a file of scores.
type boosted struct {
	Set   string     `json:"set"`
	Rows  int        `json:"rows"`
	Parts []struct { // a set with a test file of its own has one for all seeds
		Seed          int    `json:"seed"`
		Digest        string `json:"digest"` // of the test file
		Configuration struct {
			Leaves int     `json:"max_leaf_nodes"`
			Rate   float64 `json:"learning_rate"`
			Trees  int     `json:"max_iter"`
		} `json:"configuration"`
		CrossValidated float64 `json:"cross_validated"`
		Seconds        float64 `json:"seconds"`
	} `json:"parts"`
}

// stored returns the stored scores of a booster for the test part: minus the rank of each row.
func stored(booster string) scorer {
	return func(_ context.Context, _ *harness, j job, p *parts) (scored, error) {
		head, ranks, err := readBoosted(booster, j.set.name)
		if err != nil {
			return scored{}, err
		}
		sum, err := digest(p.files.test)
		if err != nil {
			return scored{}, err
		}
		if head.Rows != p.test.Rows() {
			return scored{}, errStale
		}
		for i, part := range head.Parts {
			if part.Digest != sum {
				continue
			}
			scores := make([]float64, head.Rows)
			for k, rank := range ranks[i*head.Rows:][:head.Rows] {
				scores[k] = -float64(rank)
			}
			c := part.Configuration
			return scored{scores: scores, note: fmt.Sprintf("%d trees of %d leaves, rate %g", c.Trees, c.Leaves, c.Rate)}, nil
		}
		return scored{}, errStale
	}
}

// readBoosted reads a booster's file of scores for a set.
func readBoosted(booster, name string) (boosted, []uint16, error) {
	var head boosted
	packed, err := boosterFiles.ReadFile(booster + "/" + name + ".gz")
	if err != nil {
		return head, nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return head, nil, err
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return head, nil, err
	}
	line, rest, _ := strings.Cut(string(content), "\n")
	if err := json.Unmarshal([]byte(line), &head); err != nil {
		return head, nil, err
	}
	ranks := make([]uint16, head.Rows*len(head.Parts))
	if len(rest) != 2*len(ranks) {
		return head, nil, fmt.Errorf("%s/%s.gz: %d bytes of ranks, expected %d", booster, name, len(rest), 2*len(ranks))
	}
	return head, ranks, binary.Read(strings.NewReader(rest), binary.LittleEndian, ranks)
}
