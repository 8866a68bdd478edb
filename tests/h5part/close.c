/* A file that says when it is closed: close write FILE [SECONDS], close read FILE, close leave FILE. SECONDS
   pass before the end; leave ends without closing. */

#define _XOPEN_SOURCE 700
#define PARALLEL_IO
#include <H5Part.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n = 4500 };

int main(int argc, char** argv) {
    static double x[2 * n];
    int rank = 0, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int writes = strcmp(argv[1], "read") != 0;
    H5PartFile* file = H5PartOpenFileParallel(argv[2], writes ? H5PART_WRITE : H5PART_READ, MPI_COMM_WORLD);
    bad |= file == NULL || H5PartSetStep(file, 0) != 0;
    if (writes) {
        for (int i = 0; i < n; ++i) x[i] = rank * n + i;
        bad |= H5PartSetNumParticles(file, n) != 0 || H5PartWriteDataFloat64(file, "x", x) != 0;
    } else {
        bad |= H5PartReadDataFloat64(file, "x", x) != 0;
        for (int i = 0; i < 2 * n; ++i) bad |= x[i] != i;
    }
    if (strcmp(argv[1], "leave") != 0) bad |= H5PartCloseFile(file) != 0;
    if (rank == 0) printf("closed\n");
    fflush(stdout);
    if (argc > 3) sleep((unsigned)atoi(argv[3]));
    MPI_Finalize();
    return bad;
}
