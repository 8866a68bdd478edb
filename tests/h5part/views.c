/* Particles that are written through views: views passes|points|beyond|stored FILE. Each rank has 99 rows, rank 3 none.
   As most codes do, this one looks at no code but where it is told to. */

#define PARALLEL_IO
#include <H5Part.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { n = 99, cut = 32 };

static int rank, ranks, failures;
static double x[n];
static int id[n];

#define EXPECT(condition)                                                          \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "rank %d: line %d: %s\n", rank, __LINE__, #condition); \
            ++failures;                                                            \
        }                                                                          \
    } while (0)

static h5part_int64_t rows(void) { return rank == 3 ? 0 : n; }
static h5part_int64_t first(void) { return (h5part_int64_t)n * (rank > 3 ? rank - 1 : rank); }

static void fill(int step) {
    for (int i = 0; i < n; ++i) {
        x[i] = 1000.0 * step + (double)(first() + i);
        id[i] = (int)(2 * (first() + i)) + step;
    }
}

/* The rows from 32 on of a column, then those before; in step 0, which lays the memory out, and in those after it. */
static void passes(H5PartFile* f) {
    for (int step = 0; step < 3; ++step) {
        fill(step);
        H5PartSetStep(f, step);
        H5PartSetNumParticles(f, rows());
        if (rows() > 0) EXPECT(H5PartSetView(f, first() + cut, first() + n - 1) == 0);
        EXPECT(H5PartGetNumParticles(f) == (rows() > 0 ? n - cut : 0));
        EXPECT(H5PartWriteDataFloat64(f, "x", x + cut) == 0);
        if (step > 0) EXPECT(H5PartWriteDataInt32(f, "part", id + cut) == 0); /* its other rows are left out: zeros */
        if (rows() > 0) EXPECT(H5PartSetView(f, first(), first() + cut - 1) == 0);
        EXPECT(H5PartWriteDataFloat64(f, "x", x) == 0);
        EXPECT(H5PartSetNumParticles(f, rows()) == 0); /* ends the view */
        if (step == 0) EXPECT(H5PartWriteDataInt32(f, "part", id) == 0);
        EXPECT(H5PartWriteDataInt32(f, "id", id) == 0);
    }
}

/* Every third row, from the last one down, then a view of all ranks' rows in equal parts. */
static void points(H5PartFile* f) {
    static h5part_int64_t indices[n];
    static double some[n];
    int count = 0;
    fill(0);
    for (int i = n - 1; rows() > 0 && i >= 0; i -= 3, ++count) {
        indices[count] = first() + i;
        some[count] = x[i];
    }
    H5PartSetStep(f, 0);
    H5PartSetNumParticles(f, rows());
    EXPECT(H5PartSetViewIndices(f, indices, count) == 0);
    EXPECT(H5PartWriteDataFloat64(f, "x", some) == 0);
    if (ranks <= 3) {
        EXPECT(H5PartSetCanonicalView(f) == 0);
        EXPECT(H5PartWriteDataInt32(f, "id", id) == 0);
    }
}

/* Step 1 is refused on rank 0, whose view ends among the rows of the next one or behind all, and on all at its end. */
static void beyond(H5PartFile* f) {
    for (int step = 0; step < 3; ++step) {
        fill(step);
        EXPECT(H5PartSetStep(f, step) == (step == 2 ? H5PART_ERR_INVAL : 0));
        H5PartSetNumParticles(f, rows());
        if (step == 1 && rank == 0) {
            EXPECT(H5PartSetView(f, n - 1, n + 5) == 0);
            EXPECT(H5PartWriteDataFloat64(f, "x", x) == H5PART_ERR_INVAL);
        } else {
            EXPECT(H5PartWriteDataFloat64(f, "x", x) == 0);
        }
    }
}

/* What an earlier program wrote is replaced as a whole, or the step stays as it was. */
static void stored(H5PartFile* f) {
    H5PartSetStep(f, 0);
    H5PartSetNumParticles(f, rows());
    fill(7);
    EXPECT(H5PartWriteDataInt32(f, "id", id) == 0);
    H5PartSetStep(f, 1);
    if (rows() > 0) H5PartSetView(f, first(), first() + cut - 1);
    EXPECT(H5PartWriteDataFloat64(f, "x", x) == (rows() > 0 ? H5PART_ERR_INVAL : 0));
    EXPECT(H5PartSetStep(f, 2) == H5PART_ERR_INVAL);
    EXPECT(H5PartSetView(f, -7, 3) == H5PART_ERR_HDF5); /* refused; so is what follows it */
    EXPECT(H5PartWriteDataFloat64(f, "new", x) == H5PART_ERR_INVAL);
}

int main(int argc, char** argv) {
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* what = argv[1];
    const char mode = strcmp(what, "stored") == 0 ? H5PART_APPEND : H5PART_WRITE;
    H5PartFile* f = H5PartOpenFileParallel(argv[2], mode, MPI_COMM_WORLD);
    if (f == NULL) return 2;
    if (strcmp(what, "passes") == 0) passes(f);
    if (strcmp(what, "points") == 0) points(f);
    if (strcmp(what, "beyond") == 0) beyond(f);
    if (strcmp(what, "stored") == 0) stored(f);
    EXPECT(H5PartCloseFile(f) == (strcmp(what, "stored") == 0 ? H5PART_ERR_INVAL : 0));
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
