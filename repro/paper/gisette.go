package paper

import (
	"fmt"
	"math"
	"math/rand/v2"

	"toptau/diag"
	"toptau/internal/data/table"
)

// Gisette was made from the digits 4 and 9 of MNIST. Half of its columns are pixels of the upper middle,
// where a 4 and a 9 differ, and products of such pixels. The other half are distractors ("probes") without
// information on the digit. All are whole numbers from 0 to 999, and the columns are in random order. Only a
// description was published, without details. readDigits follows the description on the 1,991 images of a 4
// (positive) or a 9 in the test file of MNIST:
//
//	pixel        rows 4-17 and columns 6-21 of the image (from 0), if not 0 in at least 1 % of the images; from 0 to 1
//	informative  all such pixels, then products of two different random pixels, up to half of the columns
//	probe        one informative column each, with the images in another random order: same values, unrelated to the class
//	value        floor(999 v)
//
// A last column is 1 everywhere, because the paper counts 5,001 features.
const (
	gisetteColumns = 5000
	imageSide      = 28
)

// digitColumn is a pixel or a product of two pixels, with the rows in their order or permuted.
type digitColumn struct {
	a, b  int     // pixels; b < 0 for the pixel a alone
	order []int32 // permutation of the rows; nil for their order
}

// readDigits returns columns+1 columns of the images.
func readDigits(images, labels string, columns int, seed uint64) (*rows, error) {
	digits, err := readIDX(labels)
	if err != nil {
		return nil, err
	}
	pictures, err := readIDX(images)
	if err != nil {
		return nil, err
	}
	if len(pictures) != len(digits) || len(pictures) == 0 || len(pictures[0]) != imageSide*imageSide || len(digits[0]) != 1 {
		return nil, &diag.Error{Kind: diag.Data, File: images, Found: fmt.Sprintf("%d images and %d labels", len(pictures), len(digits)),
			Expected: fmt.Sprintf("a label for each image of %d x %d pixels", imageSide, imageSide)}
	}
	var list []int
	r := &rows{columns: columns + 1}
	for i, digit := range digits {
		if digit[0] == 4 || digit[0] == 9 {
			list = append(list, i)
			class := table.Negative
			if digit[0] == 4 {
				class = table.Positive
			}
			r.class = append(r.class, class)
		}
	}
	pixel := func(p, row int) float64 { return float64(pictures[list[row]][p]) / 255 }
	made := drawColumns(usefulPixels(pixel, len(list)), columns, len(list), seed)
	r.fill = func(row int, dst []float64) {
		for j, c := range made {
			from := row
			if c.order != nil {
				from = int(c.order[row])
			}
			v := pixel(c.a, from)
			if c.b >= 0 {
				v *= pixel(c.b, from)
			}
			dst[j] = math.Floor(999 * v)
		}
		dst[columns] = 1
	}
	return r, nil
}

// usefulPixels returns the pixels of the upper middle that are not 0 in at least 1 % of the images.
func usefulPixels(pixel func(p, row int) float64, n int) []int {
	var useful []int
	for y := 4; y <= 17; y++ {
		for x := 6; x <= 21; x++ {
			p, lit := y*imageSide+x, 0
			for row := range n {
				if pixel(p, row) > 0 {
					lit++
				}
			}
			if 100*lit >= n {
				useful = append(useful, p)
			}
		}
	}
	return useful
}

// drawColumns draws the columns from the pixels.
func drawColumns(pixels []int, columns, n int, seed uint64) []digitColumn {
	random := rand.New(rand.NewPCG(seed, 0x67697365747465))
	var made []digitColumn
	for _, p := range pixels[:min(len(pixels), columns/2)] {
		made = append(made, digitColumn{a: p, b: -1})
	}
	for len(made) < columns/2 {
		a, b := pixels[random.IntN(len(pixels))], pixels[random.IntN(len(pixels))]
		if a != b {
			made = append(made, digitColumn{a: a, b: b})
		}
	}
	for k := 0; len(made) < columns; k++ {
		probe := made[k]
		probe.order = make([]int32, n)
		for i := range probe.order {
			probe.order[i] = int32(i)
		}
		random.Shuffle(n, func(i, j int) { probe.order[i], probe.order[j] = probe.order[j], probe.order[i] })
		made = append(made, probe)
	}
	random.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
	return made
}

// digitsProbe returns a digest of the columns that are drawn from 150 pixels of ten images.
func digitsProbe() string {
	pixels := make([]int, 150)
	for i := range pixels {
		pixels[i] = i
	}
	return digestOf([]byte(fmt.Sprint(drawColumns(pixels, 400, 10, 1))))
}
