package verbs

// Synonyms are words of other programs for verbs and flags (cli.App.Synonyms).
var Synonyms = map[string]string{
	"predict": "score", "infer": "score", "classify": "score", "apply": "score", "test": "evaluate", "validate": "evaluate",
	"eval":     "evaluate",
	"describe": "inspect", "info": "inspect", "show": "inspect", "head": "inspect", "profile": "inspect", "learn": "train", "tune": "train",
	"calibrate": "threshold", "convert": "export", "compile": "export", "server": "serve", "report": "evaluate",

	"--target": "--label", "--y": "--label", "--class": "--label", "--pos-label": "--positive", "--precision": "--min-precision",
	"--recall": "--min-recall", "--fpr": "--max-fpr", "--alpha": "--max-fpr --delta", "--budget": "--max-fpr", "--capacity": "--top",
	"--top": "--best", "--limit": "--best", "--threshold": "--at",
	"--confidence": "--delta", "--out": "--output", "--out-file": "--output", "--random-state": "--seed", "--n-jobs": "--threads",
	"--jobs": "--threads", "--dsn": "--dsn-env", "--url": "--dsn-env",
	"--na": "--missing", "--na-values": "--missing", "--test-size": "--test-fraction", "--ignore": "--drop", "--exclude": "--drop",
	"--index": "--id", "--groups": "--group", "--port": "--listen", "--html": "--report", "--sep": "--delimiter", "--model": "--method",
}
