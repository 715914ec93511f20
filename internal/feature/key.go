package feature

// Key opens parts of package model to this module: no other module can import this package and make one.
type Key struct{ _ [0]func() }
