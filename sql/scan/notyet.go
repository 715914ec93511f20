package scan

import "errors"

var errNotYet = errors.New("not built yet")
