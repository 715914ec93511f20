package onnx

import "strconv"

// graph is a GraphProto that grows by nodes. Names of its tensors start with "toptau/", so that they differ from those of
// inputs.
type graph struct {
	nodes, constants []message
	inputs, outputs  []message
	count            int
}

func (g *graph) fresh() string {
	g.count++
	return "toptau/" + strconv.Itoa(g.count)
}

// constant adds an initializer and returns its name.
func (g *graph) constant(dims []int64, values any) string {
	name := g.fresh()
	g.constants = append(g.constants, tensor(name, dims, values))
	return name
}

// row adds a constant of one row.
func (g *graph) row(values []float64) string {
	return g.constant([]int64{1, int64(len(values))}, values)
}

// scalar adds a constant of one number.
func (g *graph) scalar(x float64) string { return g.constant([]int64{1, 1}, []float64{x}) }

// list adds a constant list of whole numbers.
func (g *graph) list(values ...int64) string { return g.constant([]int64{int64(len(values))}, values) }

// node adds an operator of the default domain with one output, and returns the output's name.
func (g *graph) node(op string, inputs []string, attributes ...message) string {
	out := g.fresh()
	g.add("", op, inputs, out, attributes)
	return out
}

// ml adds an operator of the domain ai.onnx.ml.
func (g *graph) ml(op, input string, attributes ...message) string {
	out := g.fresh()
	g.add("ai.onnx.ml", op, []string{input}, out, attributes)
	return out
}

func (g *graph) add(domain, op string, inputs []string, output string, attributes []message) {
	var m message
	for _, name := range inputs {
		m.text(1, name)
	}
	m.text(2, output)
	m.text(3, "toptau/node "+strconv.Itoa(len(g.nodes)+1))
	m.text(4, op)
	for _, a := range attributes {
		m.bytes(5, a)
	}
	if domain != "" {
		m.text(7, domain)
	}
	g.nodes = append(g.nodes, m)
}

// columns concatenates tensors of N rows.
func (g *graph) columns(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return g.node("Concat", names, attribute("axis", 1))
}

// pick returns some columns of a tensor.
func (g *graph) pick(from string, columns []int64) string {
	return g.node("Gather", []string{from, g.list(columns...)}, attribute("axis", 1))
}

// pickOf is pick for a tensor of width columns. It copies nothing if all are picked in order.
func (g *graph) pickOf(from string, width int, columns []int64) string {
	all := len(columns) == width
	for i, c := range columns {
		all = all && c == int64(i)
	}
	if all {
		return from
	}
	return g.pick(from, columns)
}

func (g *graph) op2(op, a, b string) string { return g.node(op, []string{a, b}) }

func (g *graph) where(condition, a, b string) string {
	return g.node("Where", []string{condition, a, b})
}

// message returns the GraphProto.
func (g *graph) message(doc string) message {
	var m message
	for _, n := range g.nodes {
		m.bytes(1, n)
	}
	m.text(2, "toptau")
	for _, c := range g.constants {
		m.bytes(5, c)
	}
	m.text(10, doc)
	for _, v := range g.inputs {
		m.bytes(11, v)
	}
	for _, v := range g.outputs {
		m.bytes(12, v)
	}
	return m
}
