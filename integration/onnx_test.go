package integration

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"toptau/internal/models/export/onnx"
)

// onnxRuntime runs exports in ONNX Runtime on a number of threads.
func onnxRuntime(threads string, tensor bool) engine {
	name := "ONNX Runtime, " + threads + " threads"
	if tensor {
		name += ", one tensor"
	}
	return engine{name: name, missing: needsPython("onnxruntime"), run: func(t *testing.T, dir string, jobs []job) []answer {
		dirs, answers := jobDirs(t, dir, jobs), make([]answer, len(jobs))
		for i, j := range jobs {
			answers[i].bytes, answers[i].refused = writeExport(t, filepath.Join(dirs[i], "model.onnx"), func(w io.Writer) error {
				return onnx.Write(w, j.p, onnx.Options{Tensor: tensor})
			})
			if answers[i].refused == nil {
				pythonData(t, dirs[i], j)
			}
		}
		command(t, nil, python(), append([]string{"scripts/onnx_score.py", threads}, kept(dirs, answers)...)...)
		for i, j := range jobs {
			if a := &answers[i]; a.refused == nil {
				size := a.bytes
				*a = readAnswer(t, filepath.Join(dirs[i], "answer.bin"), j)
				a.bytes = size
				one, err := os.ReadFile(filepath.Join(dirs[i], "onerow.txt"))
				if err != nil {
					t.Fatal(err)
				}
				if a.oneRow, err = parseFloat(string(one)); err != nil {
					t.Fatal(err)
				}
			}
		}
		return answers
	}}
}
