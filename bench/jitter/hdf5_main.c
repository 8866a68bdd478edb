/* atmos, its iterations and options unchanged, with the output of hdf5_output.c:
 *   jitter_hdf5 each|collective FOLDER [OPTION OF ATMOS ...] */

#include <stdio.h>
#include <string.h>

#include "hdf5_output.h"
#include "iterate.h"

static int simulate(const struct options* given, struct hdf5_output* output) {
    struct grid grid;
    struct model model;
    const char* why = grid_open(&grid, MPI_COMM_WORLD, given->grid[0] > 0 ? given->grid : NULL, given->variable_mib);
    if (why != NULL) {
        fprintf(stderr, "jitter_hdf5: %s\n", why);
        return 2;
    }
    if (!model_open(&model, &grid) || !hdf5_output_open(output, &grid)) {
        fprintf(stderr, "jitter_hdf5: rank %d: out of memory\n", grid.rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    model_exchange(&model);
    const struct output calls = hdf5_output_calls(output);
    const int failed = iterate(given, &model, &calls, 0);
    hdf5_output_close(output);
    model_close(&model);
    grid_close(&grid);
    return failed;
}

int main(int count, char** words) {
    struct options given;
    char why[256] = "the first word is each or collective, the second a folder";
    MPI_Init(&count, &words);
    const int is_collective = count > 2 && strcmp(words[1], "collective") == 0;
    int failed = 2;
    if ((is_collective || (count > 2 && strcmp(words[1], "each") == 0)) &&
        options_read(count - 2, words + 2, &given, why) == ASKED_RUN) {
        struct hdf5_output output = {.folder = words[2], .is_collective = is_collective};
        failed = simulate(&given, &output);
    } else {
        fprintf(stderr, "jitter_hdf5: %s\n", why);
    }
    MPI_Finalize();
    return failed;
}
