/* Goal: the calls of forebay.h that story.c does not make: direct saves, rebinding, attributes, single variables, older
 * snapshots, notes, counters, NULL handles. One process in an empty directory. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forebay/forebay.h"

static int failures = 0;

static void check(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    ++failures;
}

static void must(fb_status status, const fb_error* error) {
    if (status == FB_OK) return;
    fprintf(stderr, "%s: %s\n", fb_status_name(status), error->text);
    exit(1);
}

static int lines = 0;
static void count_line(const char* line, void* context) {
    check(strncmp(line, "forebay: ", 9) == 0, "a line of the log");
    ++*(int*)context;
}

static fb_session* open_session(void) {
    fb_error error;
    fb_options* options = NULL;
    fb_session* session = NULL;
    must(fb_options_load("config.toml", &options, &error), &error);
    fb_options_set_run(options, "run");
    fb_options_set_staging(options, "memory");
    fb_options_set_log(options, count_line, &lines);
    must(fb_open(options, &session, &error), &error);
    fb_options_free(options);
    return session;
}

static void direct_saves(fb_stream* stream, fb_particles* table) {
    fb_error error;
    fb_saved saved;
    fb_direct* direct = NULL;
    void* address = NULL;
    must(fb_particles_bind(table, 2, 0, NULL, &error), &error);
    must(fb_begin(stream, 2, 1.0, &direct, &saved, &error), &error);
    check(saved.kept && saved.step == 2, "a direct save begins");
    must(fb_direct_block(direct, "u", 0, &address, &error), &error);
    for (int i = 0; i < 6; ++i) ((double*)address)[i] = 20 + i;
    must(fb_direct_column(direct, table, 0, &address, &error), &error);
    ((int64_t*)address)[0] = 7;
    ((int64_t*)address)[1] = 8;
    check(fb_direct_block(direct, "nothing", 0, &address, &error) == FB_MISSING, "a block of nothing");
    must(fb_direct_seal(direct, &saved, &error), &error);
    check(saved.kept && saved.bytes > 0, "a direct save is sealed");
    fb_direct_free(direct);
}

static void restarts(fb_stream* stream, fb_particles* table, double* u, double* value) {
    fb_error error;
    fb_restart* restart = NULL;
    int64_t ids[2] = {0, 0};
    const char* names[] = {"u", "nothing"};
    fb_column_data column;
    column.data = ids;
    column.stride_bytes = 0;
    must(fb_newest(stream, &restart, &error), &error);
    check(fb_restart_step(restart) == 2 && fb_restart_time(restart) == 1.0 && fb_restart_same_ranks(restart),
          "the newest");
    check(strlen(fb_restart_source(restart)) > 0 && fb_note(stream, 0) == NULL, "its source, and no notes");
    check(fb_restart_rows(restart, table) == 2, "its rows");
    must(fb_particles_bind(table, 2, 1, &column, &error), &error);
    must(fb_read(restart, &error), &error);
    check(u[0] == 20 && u[5] == 25 && ids[0] == 7 && ids[1] == 8 && *value == 0.5, "what was written into the slot");
    fb_restart_free(restart);
    restart = NULL;
    must(fb_older(stream, &restart, &error), &error);
    check(fb_restart_step(restart) == 1, "the older one");
    must(fb_read_variables(restart, 1, names, &error), &error);
    check(u[0] == 10 && u[5] == 15, "one variable of it");
    check(fb_read_variables(restart, 2, names, &error) == FB_MISSING, "a variable that is not described");
    fb_restart_free(restart);
    restart = NULL;
    must(fb_newest_below(stream, 2, &restart, &error), &error);
    check(fb_restart_step(restart) == 1, "the newest below 2");
    fb_restart_free(restart);
    restart = NULL;
    must(fb_newest_below(stream, 1, &restart, &error), &error);
    check(restart == NULL, "none below 1");
}

static void jobs(fb_session* session) {
    fb_error error;
    fb_job job;
    must(fb_check_job(session, 0, &job, &error), &error);
    check(!job.save && !job.stop && job.reason[0] == '\0', "nobody asks");
    check(job.condition[0] == '\0' && job.condition_step == -1 && job.value != job.value, "nothing is found");
    check(job.seconds_left > 3500 && job.seconds_left <= 3600, "what is left of the job");
    must(fb_check_job(session, 1, &job, &error), &error);
    check(job.save && job.stop && strcmp(job.reason, "the application, on rank 0") == 0, "the application asks");
    check(fb_check_job(NULL, 0, &job, &error) == FB_REFUSED, "a job without a session");
}

static int says(const fb_error* error, const char* part) {
    if (strstr(error->text, part) != NULL) return 1;
    fprintf(stderr, "not '%s': %s\n", part, error->text);
    return 0;
}

/* A call that binds again cannot check the type: it gets none. */
static void bind_again(fb_stream* stream, double* u, double* value) {
    fb_error error;
    const uint64_t lo[] = {0, 0}, size[] = {2, 3};
    float single[6] = {0, 0, 0, 0, 0, 0};
    fb_piece piece = fb_packed(2, lo, size, FB_F32, single);
    check(fb_rebind_array(stream, "u", 2, 1, &piece, &error) == FB_REFUSED &&
              says(&error, "neighbours along dimension 1 are 4 bytes apart, but an element, f64, has 8"),
          "elements that would overlap");
    piece = fb_packed(1, lo, size, FB_F64, u);
    check(fb_rebind_array(stream, "u", 1, 1, &piece, &error) == FB_REFUSED &&
              says(&error, "a box of 1 dimensions, of a global shape of 2 (2 x 3)"),
          "a box of other dimensions");
    check(fb_rebind_array(stream, "value", 1, 1, &piece, &error) == FB_REFUSED &&
              says(&error, "'value' is described as f64 replicated of scalar, but bound as f64 array"),
          "an array for a value");
    check(fb_rebind_replicated(stream, "u", value, &error) == FB_REFUSED &&
              says(&error, "'u' is described as f64 array of 2 x 3, but bound as f64 replicated"),
          "a value for an array");
    check(fb_rebind_replicated(stream, "nothing", value, &error) == FB_MISSING, "what is not described");
}

static void options_that_differ(fb_session* session, const char* kept) {
    fb_error error;
    fb_stream *again = NULL, *other = NULL;
    fb_session* none = NULL;
    fb_options* options = NULL;
    must(fb_stream_open(session, "restart", kept, &again, &error), &error);
    fb_stream_free(again);
    must(fb_stream_open(session, "restart", NULL, &again, &error), &error);
    check(fb_stream_open(session, "restart", "slots = 2\nkeep = 9", &other, &error) == FB_REFUSED && other == NULL &&
              says(&error, "is open already, with other options: policy is wait_at_most there and wait here"),
          "a stream that is open already");
    fb_stream_free(again);
    options = fb_options_file("nowhere.toml");
    fb_options_set_run(options, "run2");
    fb_options_set_staging(options, "memory");
    fb_options_set_log(options, NULL, NULL);
    fb_options_set_log_to_stderr(options, 1);
    check(
        fb_open(options, &none, &error) == FB_MISSING && none == NULL && says(&error, "'nowhere.toml' cannot be read"),
        "a file that opening looks for");
    fb_options_free(options);
    options = NULL;
    must(fb_options_parse("run = \"here\"", &options, &error), &error);
    fb_options_set_run(options, "there");
    check(fb_open(options, &none, &error) == FB_REFUSED && none == NULL &&
              says(&error, "the run is there in the program, but here in its configuration file"),
          "two runs");
    fb_options_free(options);
    options = NULL;
    must(fb_options_parse("run = \"run\"\nstaging = \"memory\"\nprofile = \"nowhere.json\"", &options, &error), &error);
    check(fb_open(options, &none, &error) == FB_MISSING && none == NULL && says(&error, "nowhere.json"),
          "a profile that is not there");
    fb_options_free(options);
}

/* By hand: a value that only rank 0 has. One process cannot see the difference. */
static void own_value(fb_session* session) {
    fb_error error;
    fb_stream* stream = NULL;
    fb_restart* restart = NULL;
    double value = 2.5;
    must(fb_stream_open(session, "own", NULL, &stream, &error), &error);
    must(fb_replicated_first_rank(stream, "value", FB_F64, 0, NULL, &value, NULL, &error), &error);
    must(fb_save(stream, 1, 0, NULL, &error), &error);
    value = 0;
    must(fb_newest(stream, &restart, &error), &error);
    must(fb_read(restart, &error), &error);
    check(value == 2.5, "a value of the first rank");
    fb_restart_free(restart);
    fb_stream_free(stream);
}

/* An unusable snapshot must not start a new run. */
static void nothing_usable(fb_session* session) {
    fb_error error;
    fb_stream* stream = NULL;
    fb_restart* restart = NULL;
    FILE* manifest = NULL;
    double value = 2.5;
    must(fb_stream_open(session, "broken", "view = false", &stream, &error), &error);
    must(fb_replicated(stream, "value", FB_F64, 0, NULL, &value, NULL, &error), &error);
    must(fb_restore(stream, NULL, NULL, &restart, &error), &error);
    check(restart == NULL, "nothing is there");
    must(fb_save(stream, 1, 0, NULL, &error), &error);
    must(fb_wait_committed(stream, 60, &error), &error);
    manifest = fopen("run/broken/step-000001/manifest.json", "w");
    check(manifest != NULL && fclose(manifest) == 0, "a manifest without bytes");
    check(fb_restore(stream, NULL, NULL, &restart, &error) == FB_CORRUPT && restart == NULL &&
              says(&error, "step 1: ") && says(&error, "FOREBAY_RESTART=none"),
          "restore");
    check(fb_newest(stream, &restart, &error) == FB_CORRUPT && restart == NULL && says(&error, "step 1: "), "newest");
    check(fb_older(stream, &restart, &error) == FB_CORRUPT && restart == NULL, "older");
    check(rename("run/broken", "broken") == 0, "away with it");
    fb_stream_free(stream);
}

static void mistakes(fb_session* session, fb_stream* stream) {
    fb_error error;
    fb_options* options = NULL;
    fb_stream* none = NULL;
    const uint64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    double value = 0;
    check(fb_stream_open(session, "other", "slots = 3", &none, &error) == FB_REFUSED && none == NULL, "three slots");
    check(fb_stream_open(session, "other", "deadline_seconds = -1", &none, &error) == FB_REFUSED,
          "a deadline before the seal");
    check(fb_stream_open(session, "other", "slots = 1\nslot = 1", &none, &error) == FB_REFUSED &&
              says(&error, "the options of the stream, line 2: 'slot' is not known. Nearest: 'slots'"),
          "an option of a stream that is not known");
    check(fb_stream_open(session, "other", "nodes_per_file = 16", &none, &error) == FB_REFUSED &&
              says(&error, "nodes_per_file = 16 is now file = \"combined:16\""),
          "an option of before");
    check(fb_stream_open(session, "other", "file = \"shared\"\ncompression = \"lz4\"", &none, &error) == FB_REFUSED &&
              says(&error, "file = \"shared\" and compression exclude each other"),
          "options that exclude each other");
    check(fb_counter(stream, "save", &value, &error) == FB_REFUSED && says(&error, "there is no counter 'save'") &&
              says(&error, "saves, skipped"),
          "a counter that there is not");
    check(fb_options_parse("slot = 1", &options, &error) == FB_REFUSED && options == NULL, "an unknown option");
    check(fb_options_load("nowhere.toml", &options, &error) == FB_MISSING, "a file that is not there");
    check(fb_replicated(stream, "w", FB_F64, 9, shape, &value, NULL, &error) == FB_REFUSED, "nine dimensions");
    check(fb_replicated(stream, "w", FB_F64, -1, shape, &value, NULL, &error) == FB_REFUSED, "minus one dimension");
    check(fb_replicated(stream, "w", FB_F64, 1, NULL, &value, NULL, &error) == FB_REFUSED, "no shape");
    check(fb_replicated(stream, "w", FB_TYPE(3, 4), 0, NULL, &value, NULL, &error) == FB_REFUSED,
          "a type that is none");
    check(fb_save(NULL, 1, 0, NULL, &error) == FB_REFUSED && strstr(error.text, "NULL") != NULL, "a NULL stream");
    check(fb_open(NULL, &session, NULL) == FB_REFUSED, "NULL options, and nowhere to tell");
    check(fb_forget(stream, "nothing", &error) == FB_MISSING, "forgetting what is not described");
    fb_stream_free(NULL);
    fb_restart_free(NULL);
    fb_direct_free(NULL);
}

static double counted(const fb_stream* stream, const char* name) {
    fb_error error;
    double value = -2;
    must(fb_counter(stream, name, &value, &error), &error);
    return value;
}

int main(void) {
    fb_error error;
    fb_session* session = open_session();
    fb_stream* stream = NULL;
    fb_particles* table = NULL;
    double u[6], elsewhere[6], first = 0.5, value = 0.5;
    int64_t id = 3;
    const uint64_t shape[] = {2, 3}, lo[] = {0, 0};
    const fb_attribute others[] = {
        {"origin", FB_TEXT, "here", 0, 0}, {"scale", FB_REAL, NULL, 2.5, 0}, {"count", FB_INTEGER, NULL, 0, 4}};
    const fb_attributes attributes = {"m", NULL, 0, NULL, 3, others};
    const fb_column columns[] = {{"id", FB_I64, &attributes}};
    fb_column_data column;
    /* no drain keeps this deadline at this rate */
    const char* kept =
        "slots = 2\npolicy = \"wait_at_most\"\nwait_max_seconds = 60\npriority = 3\ndeadline_seconds = 1e-3\n"
        "rate_bytes_per_second = 100000\n";
    fb_piece piece = fb_packed(2, lo, shape, FB_F64, elsewhere);
    must(fb_stream_open(session, "restart", kept, &stream, &error), &error);
    must(fb_replicated(stream, "value", FB_F64, 0, NULL, &first, NULL, &error), &error);
    must(fb_array(stream, "u", FB_F64, 2, shape, 1, &piece, &attributes, FB_COVERAGE_FULL, &error), &error);
    must(fb_particles_describe(stream, "gas", 1, columns, &table, &error), &error);
    piece.data = u;
    must(fb_rebind_array(stream, "u", 2, 1, &piece, &error), &error);
    must(fb_rebind_replicated(stream, "value", &value, &error), &error);
    first = -1;
    column.data = &id;
    column.stride_bytes = 0;
    must(fb_particles_bind(table, 1, 1, &column, &error), &error);
    must(fb_prepare(stream, &error), &error);
    for (int i = 0; i < 6; ++i) u[i] = 10 + i;
    must(fb_save(stream, 1, 0.5, NULL, &error), &error);
    direct_saves(stream, table);
    must(fb_wait_committed(stream, 60, &error), &error);
    check(
        counted(stream, "saves") == 2 && counted(stream, "commits") == 2 && counted(stream, "newest_durable_step") == 2,
        "counters");
    check(counted(stream, "deadlines_missed") == 2 && counted(stream, "overtakes") == 0 &&
              counted(stream, "limits_overruled") == 0,
          "deadlines");
    check(counted(stream, "steps_counted") == 0 && counted(stream, "slowdown_percent") == 0, "no step was counted");
    check(counted(stream, "drain_rate_bytes_per_second") == 0, "no limit on the agent");
    check(strncmp(fb_counters_text(stream), "saves 2\nskipped 0\n", 18) == 0 && fb_counters_text(NULL)[0] == 0,
          "all counters as text");
    check(fb_draining(session) == 0, "nothing drains");
    check(fb_spool(session)[0] == '/', "there is a spool");
    check(fb_spool(NULL)[0] == 0, "no session has no spool");
    restarts(stream, table, u, &value);
    jobs(session);
    bind_again(stream, u, &value);
    options_that_differ(session, kept);
    own_value(session);
    nothing_usable(session);
    mistakes(session, stream);
    must(fb_close(session, &error), &error);
    check(fb_close(session, &error) == FB_REFUSED, "closing twice");
    fb_particles_free(table);
    fb_session_free(session);
    fb_stream_free(stream);
    check(lines > 0 && strcmp(fb_status_name(FB_CORRUPT), "corrupt") == 0 && strlen(fb_version()) >= 5, "names, log");
    if (failures == 0) puts("all checks passed");
    return failures == 0 ? 0 : 1;
}
