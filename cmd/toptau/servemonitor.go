package main

import (
	"io"

	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/internal/app/monitor"
	"toptau/internal/app/serve"
	"toptau/threshold"
)

// watchFlags watch the rows that a server scores.
type watchFlags struct {
	Monitor    string         `group:"Monitor" file:"dir" placeholder:"DIR" help:"Watch what is scored, as monitor does: /monitor is the page, POST /v1/labels takes labels. The states are kept in this directory."`
	FalseAlarm threshold.Rate `group:"Monitor" name:"false-alarm" needs:"monitor" placeholder:"RATE" help:"With --monitor: the probability that any alarm is ever raised if nothing changes, for each model (default 1%)."`
	Audit      threshold.Rate `group:"Monitor" needs:"monitor" placeholder:"RATE" help:"With --monitor: choose this fraction of the rows by a hash of their ids, and list them in DIR/NAME.audited.jsonl to be labelled."`
}

// serve sets the option that watches. The caller closes the result.
func (f *watchFlags) serve(s *cli.Session, o *serve.Options) (io.Closer, error) {
	if f.Monitor == "" {
		return io.NopCloser(nil), nil
	}
	w, err := serve.NewWatches(f.Monitor, monitor.Options{FalseAlarm: f.FalseAlarm, Audit: f.Audit}, func(name string, err error) {
		if err == nil {
			return
		}
		words := err.Error()
		if e := diag.Of(err); e != nil {
			words = e.Text(cli.Spell)
		}
		s.PrintError("monitor of " + name + ": " + words)
	})
	if err != nil {
		return io.NopCloser(nil), err
	}
	for _, served := range o.Models {
		m, err := o.Load(served.Path)
		if err != nil {
			w.Close()
			return nil, err
		}
		digest, err := m.Digest()
		if err == nil {
			err = w.Add(served.Name, m, digest)
		}
		if err != nil {
			w.Close()
			return nil, diag.At(err, diag.Error{File: served.Path})
		}
	}
	o.Monitor = w
	return w, nil
}
