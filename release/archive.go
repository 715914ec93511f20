package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"strings"
	"time"
)

// tarGzip returns a compressed archive that contains nothing of this machine: no owner, and one time.
func tarGzip(files []file, t time.Time) ([]byte, error) {
	content, err := tarOf(files, t)
	if err != nil {
		return nil, err
	}
	return gzipped(content)
}

func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression) // without a name and a time in its header
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func tarOf(files []file, t time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if strings.HasSuffix(f.name, "/") {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.name, Mode: 0o755, Uid: f.owner, Gid: f.owner, ModTime: t, Format: tar.FormatUSTAR}); err != nil {
				return nil, err
			}
			continue
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.content)), Mode: 0o644, ModTime: t, Format: tar.FormatUSTAR}
		if f.executable {
			header.Mode = 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func zipped(files []file, t time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: t}
		header.SetMode(0o644)
		if f.executable {
			header.SetMode(0o755)
		}
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
