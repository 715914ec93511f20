/* sgemv ROWS COLS: multiplies by a row-major float32 matrix with OpenBLAS, on one thread, when it is told to: for each
   letter on standard input, s for y = A x and g for x = A'y, it prints the nanoseconds of processor time that this took. The first line
   that it prints is the set of kernels that OpenBLAS has chosen. */

#include <cblas.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fputs("usage: sgemv ROWS COLS\n", stderr);
		return 2;
	}
	int rows = atoi(argv[1]), cols = atoi(argv[2]);
	size_t size = (size_t)rows * (size_t)cols;
	float *a = NULL, *x = malloc(cols * sizeof *x), *y = malloc(rows * sizeof *y);
	if (posix_memalign((void **)&a, 4096, size * sizeof *a) != 0 || !x || !y) {
		fputs("sgemv: out of memory\n", stderr);
		return 1;
	}
	for (size_t i = 0; i < size; i++)
		a[i] = (float)(i % 17) - 8;
	for (int i = 0; i < cols; i++)
		x[i] = 1.0f / (float)(i + 3);
	for (int i = 0; i < rows; i++)
		y[i] = 1.0f / (float)(i + 3);
	openblas_set_num_threads(1);
	printf("%s\n", openblas_get_corename());
	fflush(stdout);
	for (int c; (c = getchar()) != EOF;) {
		if (c != 's' && c != 'g')
			continue;
		int64_t start = now();
		if (c == 's')
			cblas_sgemv(CblasRowMajor, CblasNoTrans, rows, cols, 1, a, cols, x, 1, 0, y, 1);
		else
			cblas_sgemv(CblasRowMajor, CblasTrans, rows, cols, 1, a, cols, y, 1, 0, x, 1);
		printf("%lld\n", (long long)(now() - start));
		fflush(stdout);
	}
	return 0;
}
