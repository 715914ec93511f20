package scan

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toptau/diag"
	"toptau/internal/data/table"
	"toptau/internal/training/large"
)

var _ large.Keyed = (*Source)(nil)

// Keys returns the keys of rows by their numbers: decimal digits, or a text's bytes as hexadecimal digits.
func (s *Source) Keys(population bool, numbers []int32) ([]string, error) {
	list := make([]string, len(numbers))
	for i, number := range numbers {
		switch n := int(number); {
		case n < 0:
		case !population && s.memory != nil && n < len(s.held):
			list[i] = s.held[n]
			continue
		case population && n < len(s.population.known):
			list[i] = s.population.known[n].key
			continue
		case !population && s.memory == nil && n < len(s.positives.known):
			list[i] = s.positives.known[n].key
			continue
		}
		return nil, fmt.Errorf("scan: row %d was never returned", number)
	}
	return list, nil
}

// Numbers numbers rows by their keys. Rows that are not known are fetched.
//
// Errors: diag.Data for a key that no row of the class has, and for one that several servers have.
func (s *Source) Numbers(ctx context.Context, population bool, keys []string) ([]int32, error) {
	find, err := s.finder(ctx, population, keys)
	if err != nil {
		return nil, err
	}
	list := make([]int32, len(keys))
	for i, key := range keys {
		number, known := find[key]
		if !known {
			return nil, &diag.Error{Kind: diag.Data, File: s.rows.title(), Column: s.rows.layout.key.name, Found: "no row with the key " + diag.Quote(key) + " of its class",
				Expected: "the rows of the fit"}
		}
		list[i] = int32(number)
	}
	return list, nil
}

// finder returns the numbers of rows by their keys, after it has fetched those that are not known.
func (s *Source) finder(ctx context.Context, population bool, keys []string) (map[string]int, error) {
	find := map[string]int{}
	if !population && s.memory != nil {
		for number, key := range s.held {
			find[key] = number
		}
		return find, nil
	}
	c := s.positives
	if population {
		c = s.population
	}
	wanted := map[string]bool{}
	for _, key := range keys {
		if !s.rows.validKey(key) {
			return nil, &diag.Error{Kind: diag.Data, File: s.rows.title(), Found: "the key " + diag.Quote(key), Expected: "a key of the kind that the table has"}
		}
		wanted[key] = true
	}
	for _, numbers := range c.numbers {
		for key := range numbers {
			delete(wanted, key)
		}
	}
	if err := s.fetchKeys(ctx, c, wanted); err != nil {
		return nil, err
	}
	for _, numbers := range c.numbers {
		for key, number := range numbers {
			if _, twice := find[key]; twice {
				return nil, s.rows.twice(key)
			}
			find[key] = number
		}
	}
	return find, nil
}

// fetchKeys fetches the rows of a class with some keys, wherever they are.
func (s *Source) fetchKeys(ctx context.Context, c *class, wanted map[string]bool) error {
	if len(wanted) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(wanted), s.rows.layout.compareKeys)
	parts := make([]*table.Table, len(c.numbers))
	err := s.rows.everywhere(ctx, func(ctx context.Context, shard int) (err error) {
		parts[shard], err = s.rows.byKey(ctx, shard, c.where, keys)
		return err
	})
	if err != nil {
		return err
	}
	return s.keepAll(c, parts)
}
