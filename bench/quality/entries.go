package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"toptau"
	"toptau/dataset"
	"toptau/model"
	"toptau/result"
	"toptau/schema"
	"toptau/score"
)

// scored is what an entry returns.
type scored struct {
	scores []float64        // one for each test row, in the order of the file
	note   string           // what was chosen
	size   result.ModelSize // of the model; 0: unknown
}

// scorer scores the test part of a set.
type scorer func(ctx context.Context, h *harness, j job, p *parts) (scored, error)

// entry is a way to score the test part of a set.
type entry struct {
	name   string
	title  string // on the page
	goals  bool   // it trains for a goal, once for each goal of the set
	few    bool   // it trains only for the targets that name it
	stored bool   // its scores are in boosterFiles, of some sets
	score  scorer
}

// entries are the programs that are compared. The last two are not on the page.
var entries = []entry{
	{name: "lr", title: "LR", score: logistic(schema.Raw)},
	{name: "gbdt", title: "GBDT", stored: true, score: stored("gbdt")},
	{name: "xgboost", title: "xgboost", stored: true, score: stored("xgboost")},
	{name: "toptau", title: "toptau", goals: true, score: trained()},
	{name: "toptau-raw", title: "toptau, raw columns", goals: true, few: true, score: trained(schema.Raw)},
	{name: "toptau-scorecard", title: "toptau, without trees", goals: true, few: true,
		score: trained(schema.Raw, schema.Scorecard)},
	{name: "lr-scorecard", title: "LR on the scorecard", score: logistic(schema.Scorecard)},
	{name: "lr-leaves", title: "LR on leaves", score: logistic(schema.Leaves)},
}

// trainings are the goals that an entry trains for on a set; one empty goal for an entry without, none if its scores are not stored.
func (e *entry) trainings(s *set) []string {
	if _, err := fs.Stat(boosterFiles, e.name+"/"+s.name+".gz"); e.stored && err != nil {
		return nil
	}
	switch {
	case !e.goals:
		return []string{""}
	case !e.few:
		return s.goals
	}
	var list []string
	for _, t := range targets {
		if t.set == s.name && t.entry == e.name {
			list = append(list, t.goal)
		}
	}
	return list
}

// trained returns `toptau train` for the goal with default options except the encodings.
func trained(encodings ...schema.Encoding) scorer {
	return func(ctx context.Context, h *harness, j job, p *parts) (scored, error) {
		goal, err := goalOf(j.goal)
		if err != nil {
			return scored{}, err
		}
		data, err := dataset.Read(ctx, p.files.train, j.set.format)
		if err != nil {
			return scored{}, err
		}
		t, err := toptau.Train(ctx, data, goal, toptau.TrainOptions{Encoding: encodings, Seed: uint64(j.seed)})
		if err != nil {
			return scored{}, err
		}
		if err := h.document(j, t); err != nil {
			return scored{}, err
		}
		s := scored{scores: make([]float64, 0, p.test.Rows()), note: t.Result.Why, size: t.Result.Size}
		err = eachRow(ctx, t.Model, p.files.test, score.Options{},
			func(r *result.Row) { s.scores = append(s.scores, r.Score) })
		if err != nil || j.goal != topAmount {
			return s, err
		}
		chosen, err := chosenRows(ctx, t.Model, p.files.test)
		if err == nil && !slices.Equal(chosen, bestRows(s.scores, contest)) {
			err = errors.New("score --best chose other rows than the scores say")
		}
		return s, err
	}
}

// document saves the model of a training and its report if there is a directory for them.
func (h *harness) document(j job, t *toptau.Trained) error {
	if h.models == "" {
		return nil
	}
	name := filepath.Join(h.models, j.file())
	text, err := json.MarshalIndent(t.Result, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".json", text, 0o644); err != nil {
		return err
	}
	return t.Model.Save(name + ".toptau")
}

// eachRow scores a file as `toptau score` does.
func eachRow(ctx context.Context, m *model.Model, path string, o score.Options, row func(*result.Row)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stream, err := score.Open(ctx, m, f, o)
	if err != nil {
		return err
	}
	for r, err := range stream.Rows() {
		if err != nil {
			return err
		}
		row(r)
	}
	return nil
}

// chosenRows returns the rows, from 0, that score --best 800 chooses, best first.
func chosenRows(ctx context.Context, m *model.Model, path string) ([]int, error) {
	var rows []int
	err := eachRow(ctx, m, path, score.Options{Best: contest}, func(r *result.Row) { rows = append(rows, r.Number-1) })
	return rows, err
}
