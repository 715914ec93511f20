package text

import "strings"

// Nearest returns the name with the fewest edits to ref, ignoring case, if that is at most a third of its
// letters. It returns "" without such a name, and for a text of more than 400 bytes.
func Nearest(ref string, all []string) string {
	if len(ref) > 400 {
		return ""
	}
	best, name := (len([]rune(ref))+4)/3, ""
	for _, candidate := range all {
		if d := Distance(strings.ToLower(ref), strings.ToLower(candidate)); d < best {
			best, name = d, candidate
		}
	}
	return name
}

// Distance counts the letters to insert, delete, replace or swap with their neighbour in order to get
// from a to b. Words are cut at 100 letters.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	s, t = s[:min(len(s), 100)], t[:min(len(t), 100)]
	cost := make([][]int, len(s)+1) // cost[i][j] is that of the first i and j letters
	for i := range cost {
		cost[i] = make([]int, len(t)+1)
		for j := range cost[i] {
			if i == 0 || j == 0 {
				cost[i][j] = i + j
				continue
			}
			replaced := cost[i-1][j-1]
			if s[i-1] != t[j-1] {
				replaced++
			}
			cost[i][j] = min(replaced, cost[i-1][j]+1, cost[i][j-1]+1)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				cost[i][j] = min(cost[i][j], cost[i-2][j-2]+1)
			}
		}
	}
	return cost[len(s)][len(t)]
}
