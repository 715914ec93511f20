package main

import (
	"toptau/diag"
	"toptau/internal/app/cli"
	"toptau/model"
)

// keygenCommand makes a pair of keys.
type keygenCommand struct {
	Key string `arg:"" help:"Write the private key here, and the public key to this name with .pub."`
}

func (c *keygenCommand) Run(s *cli.Session) error {
	if c.Key == "" || c.Key == "-" {
		return &diag.Error{Kind: diag.Usage, Found: "keygen " + diag.Quote(c.Key), Expected: "the name of a new file"}
	}
	public, err := model.GenerateKey(c.Key)
	if err != nil {
		return err
	}
	name := model.KeyName(public)
	if s.JSON {
		return s.Emit(struct {
			SchemaVersion int    `json:"schema_version"`
			Private       string `json:"private"`
			Public        string `json:"public"`
			Key           string `json:"key"`
		}{1, c.Key, c.Key + ".pub", name})
	}
	s.Printf("private key  %s (keep it secret: --sign)\n", c.Key)
	s.Printf("public key   %s.pub (give it to readers: --verify-key)\n", c.Key)
	s.Printf("name         %s\n", name)
	return nil
}
