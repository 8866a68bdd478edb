/* atmos: see --help. The one call to fb_dedicate() and the configuration decide which process drains. */

#include <stdio.h>

#include "iterate.h"
#include "saving.h"

static void log_line(const char* line, void* context) {
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static fb_status forebay_options(const struct options* given, fb_options** options, fb_error* error) {
    const fb_status status =
        given->config != NULL ? fb_options_load(given->config, options, error) : fb_options_parse("", options, error);
    if (status != FB_OK) return status;
    if (given->run != NULL) fb_options_set_run(*options, given->run);
    if (given->staging != NULL) fb_options_set_staging(*options, given->staging);
    fb_options_set_log(*options, log_line, NULL);
    return FB_OK;
}

/* Called by the ranks that compute. Returns the exit code. */
static int simulate(MPI_Comm comm, const struct options* given, const fb_options* options) {
    struct grid grid;
    struct model model;
    struct saving* saving = NULL;
    int64_t done = 0;
    int failed = 1;
    const char* why = grid_open(&grid, comm, given->grid[0] > 0 ? given->grid : NULL, given->variable_mib);
    if (why != NULL) {
        int rank;
        MPI_Comm_rank(comm, &rank);
        if (rank == 0) fprintf(stderr, "atmos: %s. Next: lower the number of ranks, or enlarge --grid.\n", why);
        return 2;
    }
    if (!model_open(&model, &grid)) {
        fprintf(stderr, "atmos: rank %d: out of memory. Next: lower --mib-per-variable.\n", grid.rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    model_exchange(&model);
    if (!given->no_output) saving = saving_open(options, &model, &done);
    if (given->no_output) {
        failed = iterate(given, &model, NULL, 0);
    } else if (saving != NULL) {
        const struct output output = saving_output(saving);
        failed = iterate(given, &model, &output, done);
        if (!saving_close(saving)) failed = 1;
    }
    model_close(&model);
    grid_close(&grid);
    return failed;
}

int main(int count, char** words) {
    struct options given;
    fb_options* options = NULL;
    fb_error error;
    char why[256];
    int rank, fortran_comm;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const enum asked asked = options_read(count, words, &given, why);
    if (asked != ASKED_RUN) {
        if (rank == 0 && asked == ASKED_HELP) fputs(options_help, stdout);
        if (rank == 0 && asked == ASKED_WRONG) fprintf(stderr, "atmos: %s. Next: atmos --help\n", why);
        MPI_Finalize();
        return asked == ASKED_HELP ? 0 : 2;
    }
    int failed = 2;
    fb_status status = forebay_options(&given, &options, &error);
    if (status == FB_OK) status = fb_dedicate((int)MPI_Comm_c2f(MPI_COMM_WORLD), options, &fortran_comm, &error);
    if (status == FB_OK) {
        MPI_Comm comm = MPI_Comm_f2c((MPI_Fint)fortran_comm);
        failed = 0;
        if (comm != MPI_COMM_NULL) { /* otherwise this rank was an agent */
            failed = simulate(comm, &given, options);
            MPI_Comm_free(&comm);
        }
    } else if (rank == 0) {
        fprintf(stderr, "atmos: %s: %s\n", fb_status_name(status), error.text);
    }
    fb_options_free(options);
    MPI_Finalize();
    return failed;
}
