package table

// MaxFeatures is the largest index that is accepted in a LIBSVM file.
const MaxFeatures = 100_000_000
