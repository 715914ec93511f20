// Package detmath computes exponentials, logarithms and compensated sums in plain Go with fixed rounding, so that they have
// the same bits on every platform.
//
// The functions of package math may use assembly, or fused multiply-add where the processor has it, so their last bit
// depends on the machine. Here every product that feeds a sum is rounded separately, written float64(x*y) + z. The
// error is below one unit in the last place everywhere, subnormal results included.
package detmath
