module toptau/sql

go 1.26.0

require toptau v0.0.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace toptau => ../
