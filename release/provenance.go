package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// statement is an in-toto statement of version 1 with a predicate of SLSA provenance of version 1: which files were made from which commit,
// with which Go. It is not signed itself: its digest is in SHA256SUMS, which is.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type predicate struct {
	Definition struct {
		BuildType  string            `json:"buildType"`
		Parameters map[string]string `json:"externalParameters"`
		Resolved   []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Details struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// resource is a ResourceDescriptor of in-toto.
type resource struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]bool   `json:"annotations,omitempty"`
}

// provenance writes the statement over all files that are written so far. It has no time and no machine, so that a second build has
// the same one.
func (o *Options) provenance(ctx context.Context) error {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	digests, err := o.digests()
	if err != nil {
		return err
	}
	for _, d := range digests {
		s.Subject = append(s.Subject, resource{Name: d.name, Digest: map[string]string{"sha256": d.sha256}})
	}
	source := resource{Name: "source", Annotations: map[string]bool{}}
	if home := o.homepage(); home != "" {
		source.URI = "git+" + home + "@refs/tags/" + o.Version
	}
	commit, err := git(ctx, o.Source, "rev-parse", "HEAD")
	changed, statusErr := git(ctx, o.Source, "status", "--porcelain", "--", ".")
	if err == nil && statusErr == nil {
		source.Digest = map[string]string{"gitCommit": commit}
		source.Annotations["changedSinceCommit"] = changed != ""
	} else {
		source.Annotations["commitUnknown"] = true
	}
	if changed != "" {
		o.Log("the source differs from its commit: the provenance statement has that")
	}
	sums, err := os.ReadFile(filepath.Join(o.Source, "go.sum"))
	if err != nil {
		return err
	}
	d := &s.Predicate.Definition
	d.BuildType, s.Predicate.Details.Builder.ID = "urn:toptau:make-dist:1", "urn:toptau:make-dist"
	d.Parameters = map[string]string{"version": o.Version, "SOURCE_DATE_EPOCH": strconv.FormatInt(o.Time.Unix(), 10)}
	d.Resolved = []resource{source, {Name: "go.sum", Digest: map[string]string{"sha256": sha256Hex(sums)}},
		{Name: "go", URI: "pkg:generic/go@" + strings.TrimPrefix(runtime.Version(), "go")}}
	content, err := json.MarshalIndent(&s, "", "  ")
	if err != nil {
		return err
	}
	return o.put("toptau-"+o.Version+".intoto.json", append(content, '\n'))
}

const (
	// keyVariable names the private key for ssh-keygen in the environment.
	keyVariable = "TOPTAU_SIGNING_KEY"
	// namespace keeps a signature of a release from being one of anything else.
	namespace = "toptau-release"
)

// sign writes SHA256SUMS.sig, which ssh-keygen -Y verify checks: OpenSSH is on every Linux, macOS and Windows.
func (o *Options) sign(ctx context.Context) error {
	key, err := filepath.Abs(o.Key)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "ssh-keygen", "-Y", "sign", "-n", namespace, "-f", key, "SHA256SUMS")
	c.Dir = o.Dir
	if out, err := c.CombinedOutput(); err != nil {
		return errors.Join(errors.New("ssh-keygen cannot sign with the key that "+keyVariable+" names: "+strings.TrimSpace(string(out))), err)
	}
	return nil
}
