package feature

import (
	"encoding/json"
	"strings"
	"testing"

	"toptau/schema"
)

const goldenMap = `{"scale":"standard","impute":"indicator","inputs":[` +
	`{"column":0,"name":"x","kind":"numeric"},` +
	`{"column":1,"name":"s","kind":"categorical","categories":["a<b","b"]}],` +
	`"dropped":[{"column":2,"name":"zero","reason":"constant"}],"blocks":[` +
	`{"kind":"numeric","block":{"inputs":[0],"shift":[2],"scale":[1]}},` +
	`{"kind":"onehot","block":{"columns":[{"input":0,"missing":true},{"input":1}]}}]}`

func TestGoldenJSON(t *testing.T) {
	data := tableOf(number("x", 1, 3, missing), symbol("s", "a<b", "b", "a<b"), number("zero", 0, 0, 0))
	got, err := fit(t, data, Options{Impute: schema.ImputeIndicator}).MarshalJSON()
	if err != nil || string(got) != goldenMap {
		t.Errorf("%v\n%s\nwant\n%s", err, got, goldenMap)
	}
}

func TestBadJSONIsRefused(t *testing.T) {
	for _, edit := range []struct{ old, new, want string }{
		{`"kind":"numeric","block"`, `"kind":"pairs","block"`, `"pairs" is not known`},
		{`"impute":"indicator"`, `"impute":"mean"`, "impute"},
		{`"impute":"indicator"`, `"impute":"indicator","surplus":1`, "unknown field"},
		{`"inputs":[0],"shift"`, `"inputs":[0],"surplus":1,"shift"`, "unknown field"},
		{`"shift":[2]`, `"shift":[2,3]`, "2 shifts"},
		{`"scale":[1]`, `"scale":[0]`, "not positive"},
		{`"scale":[1]`, `"scale":[-1]`, "not positive"},
		{`"scale":[1]`, `"scale":[1e999]`, "1e999"},
		{`"shift":[2],"scale":[1]`, `"shift":[2]`, "0 scales"},
		{`"inputs":[0]`, `"inputs":[7]`, "not a numeric input"},
		{`"inputs":[0]`, `"inputs":[-1]`, "not a numeric input"},
		{`"inputs":[0]`, `"inputs":[1]`, "not a numeric input"},
		{`{"input":1}`, `{"input":9}`, "no input"},
		{`{"input":1}`, `{"input":1,"scale":[1]}`, "1 scales for 2 weights"},
		{`{"input":1}`, `{"input":1,"scale":[1,1e-60]}`, "out of range"},
		{`["a<b","b"]`, `["b","b"]`, "twice"},
		{`["a<b","b"]`, `[]`, "without categories"},
		{`"column":1`, `"column":0`, "out of order"},
		{`"kind":"categorical"`, `"kind":"word"`, `kind "word"`},
		{`{"scale"`, `{"sparse":true,"scale"`, "is not numeric"},
	} {
		if !strings.Contains(goldenMap, edit.old) {
			t.Fatalf("no %s", edit.old)
		}
		text := strings.Replace(goldenMap, edit.old, edit.new, 1)
		err := json.Unmarshal([]byte(text), new(Map))
		if err == nil || !strings.Contains(err.Error(), edit.want) {
			t.Errorf("%s: error %v, want %q", edit.new, err, edit.want)
		}
	}
}
