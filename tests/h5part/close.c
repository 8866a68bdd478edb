/* How long H5Part's opening and closing take: close write FILE, close read FILE. */

#define PARALLEL_IO
#include <H5Part.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { n = 4500 };

int main(int argc, char** argv) {
    static double x[2 * n];
    int rank = 0, bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int writes = strcmp(argv[1], "write") == 0;
    double start = MPI_Wtime();
    H5PartFile* file = H5PartOpenFileParallel(argv[2], writes ? H5PART_WRITE : H5PART_READ, MPI_COMM_WORLD);
    if (rank == 0) printf("opened after %.3f s\n", MPI_Wtime() - start);
    bad |= file == NULL || H5PartSetStep(file, 0) != 0;
    if (writes) {
        for (int i = 0; i < n; ++i) x[i] = rank * n + i;
        bad |= H5PartSetNumParticles(file, n) != 0 || H5PartWriteDataFloat64(file, "x", x) != 0;
    } else {
        bad |= H5PartReadDataFloat64(file, "x", x) != 0;
        for (int i = 0; i < 2 * n; ++i) bad |= x[i] != i;
    }
    start = MPI_Wtime();
    bad |= H5PartCloseFile(file) != 0;
    if (rank == 0) printf("closed after %.3f s\n", MPI_Wtime() - start);
    fflush(stdout);
    MPI_Finalize();
    return bad;
}
