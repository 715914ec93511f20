module toptau/bench

go 1.26.0

require (
	golang.org/x/sys v0.49.0
	toptau v0.0.0
)

require (
	github.com/dsnet/compress v0.0.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	toptau/sql v0.0.0
)

replace toptau => ../

replace toptau/sql => ../sql
