package onnx

import (
	"encoding/binary"
	"math"
)

// message is a protobuf message in its wire format. The fields and their numbers are those of onnx.proto, version 1.17; ours
// are varints and lengths with bytes.
type message []byte

func (m *message) varint(field int, x int64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3)
	*m = binary.AppendUvarint(*m, uint64(x))
}

func (m *message) bytes(field int, data []byte) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2)
	*m = binary.AppendUvarint(*m, uint64(len(data)))
	*m = append(*m, data...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

func (m *message) packed(field int, list []int64) {
	var data message
	for _, x := range list {
		data = binary.AppendUvarint(data, uint64(x))
	}
	m.bytes(field, data)
}

// Types of the elements of a tensor, TensorProto.DataType.
const (
	typeFloat  = 1
	typeUint8  = 2
	typeInt64  = 7
	typeString = 8
	typeBool   = 9
	typeDouble = 11
)

// Types of attributes, AttributeProto.AttributeType.
const (
	attributeInt    = 2
	attributeTensor = 4
	attributeInts   = 7
)

// tensor returns a TensorProto of doubles, int64, booleans, bytes or strings.
func tensor(name string, dims []int64, values any) message {
	var m message
	m.packed(1, dims)
	var raw []byte
	kind := int64(0)
	switch values := values.(type) {
	case []float64:
		kind = typeDouble
		for _, x := range values {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
	case []int64:
		kind = typeInt64
		for _, x := range values {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
		}
	case []bool:
		kind = typeBool
		for _, x := range values {
			if x {
				raw = append(raw, 1)
			} else {
				raw = append(raw, 0)
			}
		}
	case []uint8:
		kind, raw = typeUint8, values
	case []string:
		kind = typeString
		for _, s := range values {
			m.text(6, s)
		}
	}
	m.varint(2, kind)
	m.text(8, name)
	if kind != typeString {
		m.bytes(9, raw)
	}
	return m
}

// attribute returns an AttributeProto of an int, a list of int64, or a tensor.
func attribute(name string, value any) message {
	var m message
	m.text(1, name)
	switch value := value.(type) {
	case int:
		m.varint(3, int64(value))
		m.varint(20, attributeInt)
	case []int64:
		for _, x := range value {
			m.varint(8, x)
		}
		m.varint(20, attributeInts)
	case message:
		m.bytes(5, value)
		m.varint(20, attributeTensor)
	}
	return m
}

// valueInfo returns a ValueInfoProto of a matrix with N rows.
func valueInfo(name string, kind, columns int) message {
	var rows, cols, shape, typed, wrapped, m message
	rows.text(2, "N")
	cols.varint(1, int64(columns))
	shape.bytes(1, rows)
	shape.bytes(1, cols)
	typed.varint(1, int64(kind))
	typed.bytes(2, shape)
	wrapped.bytes(1, typed)
	m.text(1, name)
	m.bytes(2, wrapped)
	return m
}

// pair returns a StringStringEntryProto.
func pair(key, value string) message {
	var m message
	m.text(1, key)
	m.text(2, value)
	return m
}
