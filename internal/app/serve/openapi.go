package serve

import (
	_ "embed"
	"encoding/json"
	"net/http"

	"toptau/schema"
)

//go:embed openapi.json
var openAPI []byte

// handleOpenAPI answers with the OpenAPI 3.1 document. It has the columns of each served model.
func (d documents) handleOpenAPI(c *call) {
	document, err := d.openAPI()
	if err != nil {
		panic(err) // the document is part of the program
	}
	c.answer(http.StatusOK, contentTypes[mediaJSON], append(document, '\n'))
}

// openAPI adds a schema Row.NAME for each model to the document.
func (d documents) openAPI() ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(openAPI, &document); err != nil {
		return nil, err
	}
	schemas := document["components"].(map[string]any)["schemas"].(map[string]any)
	var rows []any
	for _, m := range d.models.list {
		b := m.current()
		properties, required := map[string]any{}, []string{}
		for _, column := range b.columns() {
			types := []string{"string", "number", "boolean", "null"}
			if column.Kind == schema.Numeric {
				types = []string{"number", "string", "null"}
			}
			properties[column.Name] = map[string]any{"type": types}
			if b.plan.fields[b.plan.index[column.Name]].required {
				required = append(required, column.Name)
			}
		}
		schemas["Row."+m.name] = map[string]any{"type": "object",
			"description": "A row for the model " + m.name + ", " + b.digest,
			"properties":  properties, "required": required}
		rows = append(rows, map[string]any{"$ref": "#/components/schemas/Row." + m.name})
	}
	schemas["Row"].(map[string]any)["anyOf"] = rows
	if len(d.auth.tokens) > 0 {
		document["security"] = []any{map[string]any{"token": []string{}}}
	}
	return json.MarshalIndent(document, "", " ")
}
