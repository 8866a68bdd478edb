/* Splits the horizontal among the ranks. Each rank owns all heights of a rectangle, with a halo of one cell around it,
 * and sends its edges to its four neighbours. The horizontal is periodic.
 *
 * Memory of a field: [nz][ny + 2][nx + 2], x fastest. */

#ifndef ATMOS_GRID_H
#define ATMOS_GRID_H

#include <mpi.h>
#include <stddef.h>

enum { EDGES = 4 };

struct grid {
    MPI_Comm comm;        /* the ranks that compute, as a grid */
    int rank, ranks;      /* in comm */
    int global[3];        /* cells of the whole grid: nz, ny, nx */
    int first[3];         /* this rank's first cell in the whole grid */
    int size[3];          /* cells of this rank; size[0] is global[0] */
    int neighbour[EDGES]; /* below and above in y, below and above in x */
    MPI_Datatype own[EDGES], halo[EDGES];
};

/* Gives every rank about the same number of cells. `global` is nz, ny, nx. If it is NULL, each rank gets 64 heights and
 * enough columns for `variable_mib` MiB a field. Returns NULL, or the reason of a failure. Collective. */
const char* grid_open(struct grid* grid, MPI_Comm comm, const int* global, int variable_mib);
void grid_close(struct grid* grid);

/* The number of elements of a field with its halo. */
size_t grid_room(const struct grid* grid);
/* Fills the halo of a field from its neighbours. Collective among neighbours. */
void grid_exchange(const struct grid* grid, float* field);

#endif
