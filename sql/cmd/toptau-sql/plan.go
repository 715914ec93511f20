package main

import (
	"toptau/diag"
	"toptau/internal/cli"
	"toptau/model"
)

type planKind int

const (
	planFit planKind = iota
	planTrain
	planMeasure
	planVerify
	planDiagnose
)

func (f *sourceFlags) plan(s *cli.Session, data string, m *model.Model, kind planKind) error {
	return &diag.Error{Kind: diag.Usage, Param: "dry-run", Found: "not built yet"}
}
