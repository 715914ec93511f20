package serve

import (
	"os"
	"time"
)

// stamp is what shows that a file has changed.
type stamp struct {
	size  int64
	time  time.Time
	inode uint64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime(), inodeOf(info)}, nil
}
