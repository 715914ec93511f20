package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The part of CycloneDX 1.6 that describes a program and the modules in it.
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     bomMetadata  `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type bomMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []bomHash  `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type bomHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// sbom lists what is linked into a program, as the program itself records it: the modules, and the standard library.
func (o *Options) sbom(path string, t Target, program []byte) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	digest := sha256Hex(program)
	own := component{Type: "application", Ref: "toptau", Name: "toptau", Version: o.Version, Hashes: []bomHash{{"SHA-256", digest}},
		Properties: []property{{"toptau:platform", t.String()}}}
	own.Licenses = make([]license, 1)
	own.Licenses[0].License.ID = "BSD-3-Clause"
	b := bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", SerialNumber: "urn:uuid:" + uuidOf(digest), Version: 1,
		Metadata: bomMetadata{Timestamp: o.Time.Format(time.RFC3339), Component: own}, Components: []component{}}
	depends := dependency{Ref: own.Ref}
	add := func(c component) {
		c.Type, c.Ref = "library", c.PURL
		b.Components, depends.DependsOn = append(b.Components, c), append(depends.DependsOn, c.Ref)
	}
	add(component{Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")})
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		c := component{Name: module.Path, Version: module.Version, PURL: "pkg:golang/" + module.Path + "@" + module.Version}
		// The checksum of go.sum is a SHA-256 of a list of files, not of one file, so it is no hash in the sense of the format.
		if sum, found := strings.CutPrefix(module.Sum, "h1:"); found {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return nil, fmt.Errorf("the checksum of %s: %w", module.Path, err)
			}
			c.Properties = []property{{"go:sum:h1", hex.EncodeToString(raw)}}
		}
		add(c)
	}
	b.Dependencies = []dependency{depends}
	for _, c := range b.Components {
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
	}
	content, err := json.MarshalIndent(&b, "", "  ")
	return append(content, '\n'), err
}

// uuidOf returns a UUID of version 8 (RFC 9562) made of a digest, so that the same program has the same one.
func uuidOf(digest string) string {
	return digest[:8] + "-" + digest[8:12] + "-8" + digest[13:16] + "-8" + digest[17:20] + "-" + digest[20:32]
}
