package result

// Statement is what people state about a model.
type Statement struct {
	Title string // such as Purpose
	Text  string // "": not stated
}

// StatementTitles are the statements that every report with statements has, in their order. Others may follow.
func StatementTitles() []string {
	return []string{"Purpose", "Not for", "Users", "Origin of the data", "Known limits and risks",
		"Human oversight", "Contact", "Licence"}
}
