package main

import "toptau/internal/app/cli"

// completionCommand prints a script that completes verbs, flags and values in a shell.
type completionCommand struct {
	Shell string `arg:"" help:"bash, zsh or fish."`
}

func (c *completionCommand) Run(s *cli.Session) error {
	script, err := s.Completion(c.Shell)
	if err != nil {
		return err
	}
	_, err = s.Stdout.WriteString(script)
	return err
}
