//go:build !amd64 || purego

package kernel

// hasAssembly is false: only plain Go runs here.
const hasAssembly = false

func readsOneStream() bool { return true }

func detect(family) level { return levelGo }

func levels() []level { return []level{levelGo} }
