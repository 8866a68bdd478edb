#include "iterate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sample {
    double step, seconds, blocked, kept;
};

static void compute(const struct options* options, struct model* model) {
    struct timespec left = {.tv_sec = (time_t)options->compute};
    left.tv_nsec = (long)((options->compute - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
    for (int i = 0; i < options->substeps; ++i) model_step(model);
    if (options->substeps == 0) model_exchange(model);
}

static void tell(const struct grid* grid, const struct sample* sample, const struct saved* saved, int is_saved) {
    if (grid->rank != 0) return;
    printf("step %.0f: %.3f s, %.4f s blocked, ", sample->step, sample->seconds, sample->blocked);
    if (is_saved && saved->replaced >= 0) printf("kept instead of step %lld\n", (long long)saved->replaced);
    else printf("%s\n", !is_saved ? "no output" : saved->kept ? "kept" : "skipped");
    fflush(stdout);
}

/* Rank 0 writes the times of all ranks. Returns 0 if it cannot. Collective. */
static int record(const struct grid* grid, const char* path, struct sample* samples, int count) {
    enum { NUMBERS = sizeof(struct sample) / sizeof(double) };
    struct sample* all = grid->rank == 0 ? calloc((size_t)count * (size_t)grid->ranks + 1, sizeof *all) : NULL;
    MPI_Gather(samples, count * NUMBERS, MPI_DOUBLE, all, count * NUMBERS, MPI_DOUBLE, 0, grid->comm);
    if (grid->rank != 0) return 1;
    FILE* file = fopen(path, "w");
    int good = file != NULL && all != NULL;
    if (good) good = fprintf(file, "rank,step,seconds,blocked_seconds,kept\n") > 0;
    for (int i = 0; good && i < count * grid->ranks; ++i)
        good = fprintf(file, "%d,%.0f,%.9f,%.9f,%.0f\n", i / count, all[i].step, all[i].seconds, all[i].blocked,
                       all[i].kept) > 0;
    if (file != NULL) good = fclose(file) == 0 && good;
    if (!good) fprintf(stderr, "atmos: writing %s: %s\n", path, strerror(errno));
    free(all);
    return good;
}

static void tell_totals(int steps, double looped, double ended, double blocked, const struct totals* totals) {
    printf(
        "total: %d steps in %.3f s, ended after %.3f s, %.4f s blocked; kept %llu, skipped %llu, replaced %llu, "
        "failed %llu; newest durable step %lld\n",
        steps, looped, ended, blocked, (unsigned long long)totals->kept, (unsigned long long)totals->skipped,
        (unsigned long long)totals->replaced, (unsigned long long)totals->failed, (long long)totals->durable);
    fflush(stdout);
}

int iterate(const struct options* options, struct model* model, const struct output* output, int64_t done) {
    const struct grid* grid = model->grid;
    const int count = options->iterations > done ? (int)(options->iterations - done) : 0;
    struct sample* samples = calloc((size_t)count + 1, sizeof *samples);
    if (samples == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    struct totals totals = {.durable = -1};
    double blocked = 0;
    int good = 1;
    MPI_Barrier(grid->comm);
    const double start = MPI_Wtime();
    for (int i = 0; good && i < count; ++i) {
        const int64_t step = done + 1 + i;
        struct saved saved = {.kept = 0, .replaced = -1};
        const double begin = MPI_Wtime();
        compute(options, model);
        const double computed = MPI_Wtime();
        if (output != NULL) good = output->save(output->self, model, step, &saved);
        const double end = MPI_Wtime();
        const struct sample sample = {(double)step, end - begin, end - computed, saved.kept};
        samples[i] = sample;
        blocked += sample.blocked;
        if (good) tell(grid, &sample, &saved, output != NULL);
    }
    const double looped = MPI_Wtime() - start;
    if (output != NULL) good = output->finish(output->self, &totals) && good;
    const double ended = MPI_Wtime() - start;
    if (options->record != NULL) {
        int written = record(grid, options->record, samples, count);
        /* All ranks must end with the same exit code. */
        MPI_Bcast(&written, 1, MPI_INT, 0, grid->comm);
        good = good && written;
    }
    if (grid->rank == 0) tell_totals(count, looped, ended, blocked, &totals);
    free(samples);
    return good && totals.failed == 0 ? 0 : 1;
}
