#include "saving.h"

#include <stdio.h>
#include <stdlib.h>

struct saving {
    const struct grid* grid;
    fb_session* session;
    fb_stream* stream;
    uint64_t failed;
};

/* Statuses are equal on all ranks: all ranks branch alike, and rank 0 prints. */
static int holds(const struct grid* grid, fb_status status, const fb_error* error) {
    if (status == FB_OK) return 1;
    if (grid->rank == 0) fprintf(stderr, "atmos: %s: %s\n", fb_status_name(status), error->text);
    return 0;
}

static fb_piece piece_of(const struct grid* grid, float* field) {
    uint64_t lo[3], size[3];
    const uint64_t halo[3] = {0, 1, 1};
    for (int axis = 0; axis < 3; ++axis) {
        lo[axis] = (uint64_t)grid->first[axis];
        size[axis] = (uint64_t)grid->size[axis];
    }
    return fb_with_halo(3, lo, size, halo, FB_F32, field);
}

static fb_status describe(struct saving* saving, struct model* model, fb_error* error) {
    static const char* const dimensions[3] = {"z", "y", "x"};
    const struct grid* grid = saving->grid;
    uint64_t shape[3];
    for (int axis = 0; axis < 3; ++axis) shape[axis] = (uint64_t)grid->global[axis];
    fb_status status = fb_stream_open(saving->session, "fields", NULL, &saving->stream, error);
    for (int field = 0; field < FIELDS && status == FB_OK; ++field) {
        const fb_attributes attributes = {.unit = field_units[field], .dimension_count = 3, .dimensions = dimensions};
        const fb_piece piece = piece_of(grid, model->now[field]);
        status = fb_array(saving->stream, field_names[field], FB_F32, 3, shape, 1, &piece, &attributes,
                          FB_COVERAGE_FULL, error);
    }
    return status;
}

static fb_status restore(struct saving* saving, int64_t* done, fb_error* error) {
    fb_restart* restart = NULL;
    const fb_status status = fb_restore(saving->stream, NULL, NULL, &restart, error);
    if (restart == NULL) return status;
    *done = fb_restart_step(restart);
    if (saving->grid->rank == 0) printf("restart from step %lld, %s\n", (long long)*done, fb_restart_source(restart));
    fb_restart_free(restart);
    return status;
}

struct saving* saving_open(const fb_options* options, struct model* model, int64_t* done) {
    fb_error error;
    struct saving* saving = calloc(1, sizeof *saving);
    if (saving == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    saving->grid = model->grid;
    *done = 0;
    fb_status status = fb_open_mpi((int)MPI_Comm_c2f(saving->grid->comm), options, &saving->session, &error);
    if (status == FB_OK) status = describe(saving, model, &error);
    if (status == FB_OK) status = restore(saving, done, &error);
    if (status == FB_OK) status = fb_prepare(saving->stream, &error);
    if (holds(saving->grid, status, &error)) {
        /* A snapshot holds no halos. */
        if (*done > 0) model_exchange(model);
        return saving;
    }
    saving_close(saving);
    return NULL;
}

/* The next save reports a failed drain. The staged copy stays and a later save may succeed, so the simulation goes on.
 * Other errors need a change of the program or its configuration: they end the run. */
static int save(void* self, struct model* model, int64_t step, struct saved* saved) {
    struct saving* saving = self;
    fb_error error;
    fb_saved answer;
    fb_status status = FB_OK;
    for (int field = 0; field < FIELDS && status == FB_OK; ++field) {
        const fb_piece piece = piece_of(saving->grid, model->now[field]); /* model_step() swaps the fields' memory */
        status = fb_rebind_array(saving->stream, field_names[field], 3, 1, &piece, &error);
    }
    if (status == FB_OK) status = fb_save(saving->stream, step, (double)step, &answer, &error);
    if (!holds(saving->grid, status, &error)) {
        ++saving->failed;
        return status == FB_RETRY || status == FB_FULL || status == FB_MISSING;
    }
    saved->kept = answer.kept;
    saved->replaced = answer.replaced;
    return 1;
}

static int64_t counted(const struct saving* saving, const char* name) {
    double value = 0;
    fb_error error;
    return holds(saving->grid, fb_counter(saving->stream, name, &value, &error), &error) ? (int64_t)value : 0;
}

static int finish(void* self, struct totals* totals) {
    const double seconds_max = 86400; /* if the drain stalls, stall_wait ends the wait earlier */
    struct saving* saving = self;
    fb_error error;
    const int all = holds(saving->grid, fb_wait_committed(saving->stream, seconds_max, &error), &error);
    totals->kept = counted(saving, "saves");
    totals->skipped = counted(saving, "skipped");
    totals->replaced = counted(saving, "replaced");
    totals->failed = saving->failed;
    totals->durable = counted(saving, "newest_durable_step");
    return all;
}

struct output saving_output(struct saving* saving) {
    const struct output output = {saving, save, finish};
    return output;
}

int saving_close(struct saving* saving) {
    fb_error error;
    int good = 1;
    if (saving->session != NULL) good = holds(saving->grid, fb_close(saving->session, &error), &error);
    fb_stream_free(saving->stream);
    fb_session_free(saving->session);
    free(saving);
    return good;
}
