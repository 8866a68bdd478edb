#include "grid.h"

enum { HEIGHTS = 64, CELLS_OF_MIB = (1 << 20) / 4 };

/* The columns of a rank, nearly a square: ny is a power of two. */
static void columns_of(int variable_mib, int* ny, int* nx) {
    const int columns = variable_mib * (CELLS_OF_MIB / HEIGHTS);
    *ny = 1;
    while (4 * *ny * *ny <= columns) *ny *= 2;
    *nx = columns / *ny;
}

static MPI_Datatype edge(const struct grid* grid, int axis, int start) {
    const int sizes[3] = {grid->size[0], grid->size[1] + 2, grid->size[2] + 2};
    int part[3] = {grid->size[0], grid->size[1], grid->size[2]};
    int starts[3] = {0, 1, 1};
    part[axis] = 1;
    starts[axis] = start;
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes, part, starts, MPI_ORDER_C, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    return type;
}

const char* grid_open(struct grid* grid, MPI_Comm comm, const int* global, int variable_mib) {
    int parts[2] = {0, 0}, place[2];
    const int periodic[2] = {1, 1};
    MPI_Comm_size(comm, &grid->ranks);
    MPI_Dims_create(grid->ranks, 2, parts);
    if (global != NULL) {
        for (int axis = 0; axis < 3; ++axis) grid->global[axis] = global[axis];
    } else {
        int ny, nx;
        columns_of(variable_mib, &ny, &nx);
        grid->global[0] = HEIGHTS;
        grid->global[1] = ny * parts[0];
        grid->global[2] = nx * parts[1];
    }
    if (grid->global[1] < parts[0] || grid->global[2] < parts[1]) return "the grid has fewer columns than ranks";
    MPI_Cart_create(comm, 2, parts, periodic, 0, &grid->comm);
    MPI_Comm_rank(grid->comm, &grid->rank);
    MPI_Cart_coords(grid->comm, grid->rank, 2, place);
    grid->first[0] = 0;
    grid->size[0] = grid->global[0];
    for (int axis = 1; axis < 3; ++axis) {
        const long cells = grid->global[axis];
        grid->first[axis] = (int)(cells * place[axis - 1] / parts[axis - 1]);
        grid->size[axis] = (int)(cells * (place[axis - 1] + 1) / parts[axis - 1]) - grid->first[axis];
        const int low = 2 * (axis - 1);
        MPI_Cart_shift(grid->comm, axis - 1, 1, &grid->neighbour[low], &grid->neighbour[low + 1]);
    }
    for (int axis = 1; axis < 3; ++axis) {
        const int low = 2 * (axis - 1), last = grid->size[axis];
        grid->own[low] = edge(grid, axis, 1);
        grid->own[low + 1] = edge(grid, axis, last);
        grid->halo[low] = edge(grid, axis, 0);
        grid->halo[low + 1] = edge(grid, axis, last + 1);
    }
    return NULL;
}

void grid_close(struct grid* grid) {
    for (int i = 0; i < EDGES; ++i) {
        MPI_Type_free(&grid->own[i]);
        MPI_Type_free(&grid->halo[i]);
    }
    MPI_Comm_free(&grid->comm);
}

size_t grid_room(const struct grid* grid) {
    return (size_t)grid->size[0] * (size_t)(grid->size[1] + 2) * (size_t)(grid->size[2] + 2);
}

void grid_exchange(const struct grid* grid, float* field) {
    for (int side = 0; side < EDGES; ++side) {
        const int other = side ^ 1; /* data sent to one side arrives in the halo of the opposite side */
        MPI_Sendrecv(field, 1, grid->own[side], grid->neighbour[side], side, field, 1, grid->halo[other],
                     grid->neighbour[other], side, grid->comm, MPI_STATUS_IGNORE);
    }
}
