/* The story of story.md, in C. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forebay/forebay_mpi.h"

enum { ROWS = 12, COLUMNS = 10, PARTS = 3, PARTICLES_MAX = 64 };

static int rank, ranks;
static MPI_Comm world; /* the ranks that compute */

struct state {
    int first, count; /* this rank's rows of the arrays */
    double* density;  /* (count + 2) x (COLUMNS + 2), with a halo of 1 */
    float* velocity;  /* PARTS x count x COLUMNS */
    int32_t* mask;    /* count */
    double dt;
    uint64_t particles;
    int64_t id[PARTICLES_MAX];
    double x[PARTICLES_MAX];
};

static void must(fb_status status, const fb_error* error) {
    if (status == FB_OK) return;
    fprintf(stderr, "%s: %s\n", fb_status_name(status), error->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* memory(size_t bytes) {
    void* address = calloc(bytes + 1, 1);
    if (address == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    return address;
}

static void allocate(struct state* state) {
    state->first = ROWS * rank / ranks;
    state->count = ROWS * (rank + 1) / ranks - state->first;
    state->density = memory((size_t)(state->count + 2) * (COLUMNS + 2) * sizeof(double));
    state->velocity = memory((size_t)PARTS * (size_t)state->count * COLUMNS * sizeof(float));
    state->mask = memory((size_t)state->count * sizeof(int32_t));
    state->particles = 0;
    state->dt = 0;
}

static void release(struct state* state) {
    free(state->density);
    free(state->velocity);
    free(state->mask);
}

static double* density_at(struct state* state, int row, int column) {
    return state->density + (row + 1) * (COLUMNS + 2) + column + 1;
}
static float* velocity_at(struct state* state, int part, int row, int column) {
    return state->velocity + (part * state->count + row) * COLUMNS + column;
}

static void fill(struct state* state, int64_t step) {
    state->dt = 0.125;
    for (int row = 0; row < state->count; ++row) {
        const int global = state->first + row;
        state->mask[row] = (int32_t)(global * global + step);
        for (int column = 0; column < COLUMNS; ++column) {
            *density_at(state, row, column) = 100 * global + column + 0.25 * (double)step;
            for (int part = 0; part < PARTS; ++part)
                *velocity_at(state, part, row, column) = (float)(1000 * part + 10 * global + column);
        }
    }
    state->particles = rank % 2 == 1 ? 0 : 4 + (uint64_t)rank;
    for (uint64_t i = 0; i < state->particles; ++i) {
        state->id[i] = 100 * rank + (int64_t)i;
        state->x[i] = 0.5 * (double)state->id[i];
    }
}

/* Describes the state; `wrong` selects a wrong description, "" none. */
static fb_status describe(struct state* state, fb_stream* stream, const char* wrong, fb_particles** gas,
                          fb_error* error) {
    const uint64_t count = (uint64_t)state->count, first = (uint64_t)state->first;
    const char* const names[] = {"y", "x"};
    const fb_attributes density = {"kg m-3", "gas density", 2, names, 0, NULL};
    const uint64_t plane[] = {strcmp(wrong, "shape") == 0 ? ROWS + 1 : ROWS, COLUMNS}, lo[] = {first, 0},
                   size[] = {count, COLUMNS}, halo[] = {1, 1};
    const uint64_t space[] = {PARTS, ROWS, COLUMNS}, lo3[] = {0, first, 0}, size3[] = {PARTS, count, COLUMNS};
    const uint64_t line[] = {ROWS};
    const fb_column columns[] = {{"id", FB_I64, NULL}, {"x", FB_F64, NULL}};
    const fb_type mask_type = strcmp(wrong, "type") == 0 ? FB_F32 : FB_I32;
    const char* mask = strcmp(wrong, "missing") == 0 ? "maske" : "mask";
    const int mask_dims = strcmp(wrong, "rank") == 0 ? 2 : 1;
    const uint64_t square[] = {ROWS, 1}, lo2[] = {first, 0}, size2[] = {count, 1};
    fb_piece piece;
    fb_status status = strcmp(wrong, "owns") == 0
                           ? fb_replicated_first_rank(stream, "clock/dt", FB_F64, 0, NULL, &state->dt, NULL, error)
                           : fb_replicated(stream, "clock/dt", FB_F64, 0, NULL, &state->dt, NULL, error);
    if (status != FB_OK) return status;
    piece = fb_with_halo(2, lo, size, halo, FB_F64, state->density);
    status = fb_array(stream, "fields/density", FB_F64, 2, plane, 1, &piece, &density,
                      strcmp(wrong, "shape") == 0 ? FB_COVERAGE_PARTIAL : FB_COVERAGE_FULL, error);
    if (status != FB_OK) return status;
    piece = fb_packed(3, lo3, size3, FB_F32, state->velocity);
    status = fb_array(stream, "fields/velocity", FB_F32, 3, space, 1, &piece, NULL, FB_COVERAGE_FULL, error);
    if (status != FB_OK) return status;
    piece = fb_packed(mask_dims, mask_dims == 2 ? lo2 : lo, mask_dims == 2 ? size2 : size, mask_type, state->mask);
    status = fb_array(stream, mask, mask_type, mask_dims, mask_dims == 2 ? square : line, 1, &piece, NULL,
                      FB_COVERAGE_FULL, error);
    if (status != FB_OK) return status;
    return fb_particles_describe(stream, "gas", 2, columns, gas, error);
}

static fb_status bind(struct state* state, fb_particles* gas, fb_error* error) {
    fb_column_data columns[2];
    columns[0].data = state->id;
    columns[0].stride_bytes = 0;
    columns[1].data = state->x;
    columns[1].stride_bytes = 0;
    return fb_particles_bind(gas, state->particles, 2, columns, error);
}

static void save(struct state* state, fb_stream* stream, fb_particles* gas, int64_t step) {
    fb_error error;
    fb_saved saved;
    fill(state, step);
    must(bind(state, gas, &error), &error);
    must(fb_save(stream, step, 0.5 * (double)step, &saved, &error), &error);
    if (rank == 0) printf("saved step %lld, %s\n", (long long)saved.step, saved.kept ? "kept" : "skipped");
}

static void restart(struct state* state, fb_stream* stream, fb_particles* gas) {
    fb_error error;
    fb_restart* restart = NULL;
    double local[5] = {0, 0, 0, 0, 0}, sums[5];
    int64_t rows[64];
    int64_t own_rows;
    must(fb_newest(stream, &restart, &error), &error);
    if (restart == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    state->particles = fb_restart_rows(restart, gas);
    must(bind(state, gas, &error), &error);
    must(fb_read(restart, &error), &error);
    for (int row = 0; row < state->count; ++row) {
        local[2] += state->mask[row];
        for (int column = 0; column < COLUMNS; ++column) {
            local[0] += *density_at(state, row, column);
            for (int part = 0; part < PARTS; ++part) local[1] += (double)*velocity_at(state, part, row, column);
        }
    }
    for (uint64_t i = 0; i < state->particles; ++i) {
        local[3] += (double)state->id[i];
        local[4] += state->x[i];
    }
    MPI_Reduce(local, sums, 5, MPI_DOUBLE, MPI_SUM, 0, world);
    own_rows = (int64_t)state->particles;
    MPI_Gather(&own_rows, 1, MPI_INT64_T, rows, 1, MPI_INT64_T, 0, world);
    if (rank == 0) {
        printf("restart from step %lld, time %.2f, %s ranks, dt %.3f\n", (long long)fb_restart_step(restart),
               fb_restart_time(restart), fb_restart_same_ranks(restart) ? "the same" : "other", state->dt);
        printf("density %.2f velocity %.0f mask %.0f id %.0f x %.1f\n", sums[0], sums[1], sums[2], sums[3], sums[4]);
        for (int i = 0; i < ranks; ++i) printf("rank %d has %lld particles\n", i, (long long)rows[i]);
    }
    fb_restart_free(restart);
}

static void say(fb_status status, const fb_error* error) {
    if (rank == 0) printf("%s: %s\n", fb_status_name(status), status == FB_OK ? "" : error->text);
}

static fb_status save_unlike(struct state* state, fb_stream* stream, fb_particles* gas, const char* wrong,
                             fb_error* error) {
    const int steps = strcmp(wrong, "steps") == 0;
    state->dt = steps ? 0.125 : 0.125 * (1 + rank);
    must(bind(state, gas, error), error);
    return fb_save(stream, steps ? 9 + rank : 9, 0, NULL, error);
}

/* A mistake gives the error of the first call that notices. */
static void mistake(struct state* state, fb_session* session, fb_stream* stream, const char* wrong) {
    fb_error error;
    fb_particles* gas = NULL;
    fb_restart* restart = NULL;
    fb_status status = describe(state, stream, wrong, &gas, &error);
    if (strcmp(wrong, "closed") == 0) {
        must(bind(state, gas, &error), &error);
        must(fb_close(session, &error), &error);
        status = fb_save(stream, 9, 0, NULL, &error);
    } else if (strcmp(wrong, "options") == 0) {
        fb_stream* other = NULL;
        status = fb_stream_open(session, "other", rank == 0 ? "slots = 1" : "slots = 2", &other, &error);
        fb_stream_free(other);
    } else if (strcmp(wrong, "differs") == 0 || strcmp(wrong, "owns") == 0 || strcmp(wrong, "steps") == 0) {
        status = save_unlike(state, stream, gas, wrong, &error);
    } else {
        if (status == FB_OK) status = fb_newest(stream, &restart, &error);
        if (status == FB_OK) {
            state->particles = fb_restart_rows(restart, gas);
            status = bind(state, gas, &error);
        }
        if (status == FB_OK) status = fb_read(restart, &error);
    }
    say(status, &error);
    fb_restart_free(restart);
    fb_particles_free(gas);
}

/* Options that only a text can set: compression and file form; then options that are refused. */
static void forms(struct state* state, fb_session* session) {
    const char* const names[] = {"packed", "one"};
    const char* const options[] = {"compression = { codec = \"zstd\", level = 5 }", "file = \"shared\"\nkeep = 2"};
    fb_error error;
    fb_stream *streams[2] = {NULL, NULL}, *again = NULL;
    fb_particles* gas[2] = {NULL, NULL};
    for (int i = 0; i < 2; ++i) {
        must(fb_stream_open(session, names[i], options[i], &streams[i], &error), &error);
        must(describe(state, streams[i], "", &gas[i], &error), &error);
        save(state, streams[i], gas[i], 3);
        must(fb_wait_committed(streams[i], 60, &error), &error);
    }
    say(fb_stream_open(session, "packed", "compression = \"lz4\"", &again, &error), &error);
    say(fb_stream_open(session, "cut",
                       "[insitu.a]\nkind = \"density\"\nvariables = [\"gas/x\"]\nlength = [1, 2.5, 1]\n"
                       "range = [0.5, 4]\nevery = 2\npicture = false\nfactor = 2",
                       &again, &error),
        &error);
    for (int i = 0; i < 2; ++i) {
        fb_particles_free(gas[i]);
        fb_stream_free(streams[i]);
    }
    must(fb_close(session, &error), &error);
}

/* An analysis finds a fulfilled condition, and all ranks receive it at the end of a step. */
static void told(struct state* state, fb_session* session) {
    fb_error error;
    fb_stream* stream = NULL;
    fb_particles* gas = NULL;
    fb_job job;
    must(fb_stream_open(session, "looked",
                        "[insitu.numbers]\nvariables = [\"mask\"]\ncondition = \"*/count > 11.5\"\n"
                        "action = [\"save\", \"mark\"]\n",
                        &stream, &error),
         &error);
    must(describe(state, stream, "", &gas, &error), &error);
    save(state, stream, gas, 3);
    must(fb_wait_committed(stream, 60, &error), &error);
    do must(fb_check_job(session, 0, &job, &error), &error);
    while (job.condition[0] == '\0');
    if (rank == ranks - 1)
        printf("save %d, stop %d, value %.1f, step %lld: %s\n%s\n", job.save, job.stop, job.value,
               (long long)job.condition_step, job.condition, job.reason);
    fb_particles_free(gas);
    fb_stream_free(stream);
    must(fb_close(session, &error), &error);
}

/* The file is missing on the last rank. */
static int tell_of_file(int handle, const char* path, const char* run, const char* staging) {
    fb_error error;
    fb_session* session = NULL;
    fb_options* options = fb_options_file(rank == ranks - 1 ? "nowhere.toml" : path);
    fb_options_set_run(options, run);
    fb_options_set_staging(options, staging);
    say(fb_open_mpi(handle, options, &session, &error), &error);
    fb_session_free(session);
    fb_options_free(options);
    MPI_Comm_free(&world);
    return MPI_Finalize();
}

int main(int count, char** arguments) {
    fb_error error;
    fb_options* options = NULL;
    fb_session* session = NULL;
    fb_stream* stream = NULL;
    fb_particles* gas = NULL;
    struct state state;
    int handle = 0;
    MPI_Init(&count, &arguments);
    if (count != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    must(fb_options_load(arguments[4], &options, &error), &error);
    must(fb_dedicate(MPI_Comm_c2f(MPI_COMM_WORLD), options, &handle, &error), &error);
    world = MPI_Comm_f2c(handle);
    if (world == MPI_COMM_NULL) {
        fb_options_free(options);
        return MPI_Finalize();
    }
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    if (strcmp(arguments[1], "file") == 0) {
        fb_options_free(options);
        return tell_of_file(handle, arguments[4], arguments[2], arguments[3]);
    }
    fb_options_set_run(options, arguments[2]);
    fb_options_set_staging(options, arguments[3]);
    must(fb_open_mpi(handle, options, &session, &error), &error);
    fb_options_free(options);
    must(fb_stream_open(session, "restart", "slots = 2", &stream, &error), &error);
    allocate(&state);
    if (strcmp(arguments[1], "save") == 0 || strcmp(arguments[1], "restart") == 0) {
        must(describe(&state, stream, "", &gas, &error), &error);
        if (strcmp(arguments[1], "save") == 0) {
            save(&state, stream, gas, 3);
            save(&state, stream, gas, 7);
            must(fb_wait_committed(stream, 60, &error), &error);
        } else {
            restart(&state, stream, gas);
        }
        must(fb_close(session, &error), &error);
    } else if (strcmp(arguments[1], "forms") == 0) {
        forms(&state, session);
    } else if (strcmp(arguments[1], "told") == 0) {
        told(&state, session);
    } else {
        mistake(&state, session, stream, arguments[1]);
    }
    fb_particles_free(gas);
    fb_stream_free(stream);
    fb_session_free(session);
    release(&state);
    MPI_Comm_free(&world);
    MPI_Finalize();
    return 0;
}
