package feature

import (
	"bytes"
	"encoding/json"

	"toptau/internal/core/matrix"
	"toptau/internal/data/table"
)

// Block is a run of consecutive weights made from the map's inputs. Each kind has a file.
//
// encode appends exactly Spec().Cols values to dst.Dense when the block is dense, and the non-zero entries
// with ascending columns, counted from first, to dst.Cols and dst.Values when it is sparse or coded. It reads
// the resolved row (dst.numbers, dst.codes), or the table's sparse row, and allocates nothing once dst has
// grown.
type Block interface {
	Kind() string           // for messages and the order of blocks
	Spec() matrix.BlockSpec // storage and number of weights
	// appendWeights appends one Weight for each column of the block.
	appendWeights(m *Map, list []Weight) []Weight
	encode(m *Map, t *table.Table, row int, first uint32, dst *Encoded) error
	// reads marks the inputs that encode reads.
	reads(inputs []bool)
	// check returns an error unless everything that encode relies on holds. A file may have anything wrong.
	check(m *Map) error
}

// Weight describes one weight of the model.
type Weight struct {
	Name  string // "src_bytes", "service=http", "load missing", "column 5=tcp", "index 17"
	Input int    // the input it belongs to, so that contributions can be added up by column; -1 for an index of LIBSVM or a leaf
}

// blocks is the list of a map's blocks. In JSON each is an object whose first field is its kind.
type blocks []Block

type blockFile struct {
	Kind  string          `json:"kind"`
	Block json.RawMessage `json:"block"`
}

// MarshalJSON writes each block as {"kind":K,"block":{...}}.
func (b blocks) MarshalJSON() ([]byte, error) {
	list := make([]blockFile, len(b))
	for i, block := range b {
		content, err := marshal(block)
		if err != nil {
			return nil, err
		}
		list[i] = blockFile{Kind: block.Kind(), Block: content}
	}
	return marshal(list)
}

// marshal is json.Marshal without escapes for HTML, so that names stay readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
