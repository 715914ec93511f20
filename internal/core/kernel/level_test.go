package kernel

import "testing"

func TestFamiliesCanBeSwitchedOff(t *testing.T) {
	before := off
	t.Cleanup(func() { off = before })
	off = ""
	all := defaultLevels()
	off = "tile,AVX2,scores"
	for f, l := range defaultLevels() {
		switch {
		case family(f) == tileFamily || family(f) == scoresFamily:
			if l != levelGo {
				t.Errorf("%s is at level %v", familyNames[f], l)
			}
		case l > levelAVX2 || l > all[f]:
			t.Errorf("%s is at level %v, limited to AVX2 and %v", familyNames[f], l, all[f])
		case needsAVX512[f] && l != levelGo:
			t.Errorf("%s needs AVX-512 and is at level %v", familyNames[f], l)
		}
	}
}
