package tune

// size returns about how many bytes a model with a setting takes in a file. Boosting uses the first trees only.
func (p *foldPath) size(s *Setting) int64 {
	columns := p.x.features.Cols()
	if b := p.x.features.Boosting(); b != nil && s.Trees > 0 && s.Trees < len(b.Rounds) {
		columns = columns * s.Trees / len(b.Rounds)
	}
	return int64(p.x.columnBytes * float64(columns))
}

// fits reports whether the best candidates of tasks fit into one model of the given size; 0: no limit.
func fits(tasks []*task, most int64) bool {
	var total int64
	for _, t := range tasks {
		total += t.tried[t.best].Bytes
	}
	return most == 0 || total <= most
}
