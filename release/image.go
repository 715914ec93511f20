package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The part of the OCI image format that an image of one program needs.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type imageConfig struct {
	platform
	Created string `json:"created"`
	Config  struct {
		User       string
		Entrypoint []string
		WorkingDir string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []imageHistory `json:"history"`
}

type imageHistory struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

type manifest struct {
	SchemaVersion int           `json:"schemaVersion"`
	MediaType     string        `json:"mediaType"`
	Config        *descriptor   `json:"config,omitempty"`
	Layers        []*descriptor `json:"layers,omitempty"`
	Manifests     []*descriptor `json:"manifests,omitempty"`
}

const ociType = "application/vnd.oci.image."

// imageUser is the user and group of the image: not root, and the number that images without a distribution usually have.
const imageUser = 65532

// image writes an OCI layout in a tar file: one index with an image for each of the programs, which has that program and the licences.
func (o *Options) image(programs []built, pages []file) error {
	l := &layout{blobs: map[string][]byte{}}
	labels := map[string]string{"org.opencontainers.image.title": "toptau", "org.opencontainers.image.version": o.Version,
		"org.opencontainers.image.licenses": "BSD-3-Clause", "org.opencontainers.image.created": o.Time.Format(time.RFC3339)}
	index := manifest{SchemaVersion: 2, MediaType: ociType + "index.v1+json"}
	for _, p := range programs {
		layer, err := tarOf([]file{{name: "toptau", content: p.program, executable: true},
			{name: "licenses/LICENSE", content: page(pages, "LICENSE")},
			{name: "licenses/THIRD-PARTY-LICENSES", content: page(pages, "THIRD-PARTY-LICENSES")},
			{name: "work/", owner: imageUser}, {name: "state/", owner: imageUser}}, o.Time) // a new volume there gets the folder's owner
		if err != nil {
			return err
		}
		packed, err := gzipped(layer)
		if err != nil {
			return err
		}
		c := imageConfig{platform: platform{p.Arch, p.OS}, Created: o.Time.Format(time.RFC3339)}
		c.Config.User, c.Config.Entrypoint, c.Config.WorkingDir, c.Config.Labels = fmt.Sprintf("%d:%d", imageUser, imageUser), []string{"/toptau"}, "/work", labels
		c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{"sha256:" + sha256Hex(layer)}
		c.History = []imageHistory{{c.Created, "toptau " + o.Version}}
		config, err := l.addJSON(ociType+"config.v1+json", c)
		if err != nil {
			return err
		}
		one, err := l.addJSON(ociType+"manifest.v1+json", manifest{SchemaVersion: 2, MediaType: ociType + "manifest.v1+json", Config: config,
			Layers: []*descriptor{l.add(ociType+"layer.v1.tar+gzip", packed)}})
		if err != nil {
			return err
		}
		one.Platform = &platform{p.Arch, p.OS}
		index.Manifests = append(index.Manifests, one)
	}
	all, err := l.addJSON(index.MediaType, index)
	if err != nil {
		return err
	}
	// One image with a name: podman load refuses a file with several. The second name is the one that containerd, and so docker load, reads.
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": "toptau:" + o.Version,
		"io.containerd.image.name": "docker.io/library/toptau:" + o.Version}
	top, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: index.MediaType, Manifests: []*descriptor{all}})
	if err != nil {
		return err
	}
	files := []file{{name: "oci-layout", content: []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {name: "index.json", content: top}}
	for name, content := range l.blobs {
		files = append(files, file{name: "blobs/sha256/" + name, content: content})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	content, err := tarOf(files, o.Time)
	if err != nil {
		return err
	}
	return o.put("toptau-"+o.Version+"-oci.tar", content)
}

// layout is the content of an OCI layout by digest.
type layout struct{ blobs map[string][]byte }

func (l *layout) add(mediaType string, content []byte) *descriptor {
	digest := sha256Hex(content)
	l.blobs[digest] = content
	return &descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}
}

func (l *layout) addJSON(mediaType string, value any) (*descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return l.add(mediaType, content), nil
}
