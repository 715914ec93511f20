package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version says which build this is: the module's version, or the commit where it was built from a checkout.
func version() string {
	text := "toptau (unknown version)"
	if info, ok := debug.ReadBuildInfo(); ok {
		text = "toptau " + info.Main.Version
	}
	return fmt.Sprintf("%s, %s, %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
