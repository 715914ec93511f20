package result

// Statement is what people state about a model.
type Statement struct {
	Title string // such as Purpose
	Text  string // "": not stated
}
