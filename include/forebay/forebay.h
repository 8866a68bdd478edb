/* Forebay for C: the calls of forebay.hpp, for C99 and for languages that bind to C.
 *
 * Order of calls:
 *   fb_open -> fb_stream_open -> fb_replicated | fb_array | fb_particles_describe -> [fb_restore] ->
 *   { fb_particles_bind -> fb_save } ... -> fb_close -> fb_*_free
 *
 * Ranks:   every rank of the session makes the calls marked "collective", in the same order. All other calls are local.
 * Threads: use a session and its streams from one thread at a time. The library's own threads (copy_threads in the
 *          configuration) call no MPI and take no signals, so any thread mode of MPI works.
 * Errors:  every call that can fail returns an fb_status (FB_OK is 0) and fills `error`, which may be NULL. No call
 *          exits, aborts, installs a signal handler, or prints more than fb_options_set_log() says. A call that fails
 *          leaves its outputs unchanged. After an error you can still use the session, unless the status is FB_BROKEN.
 * Handles: fb_*_free() and fb_options_set_*() ignore NULL. Free handles in any order: the session lives as long as
 *          any of them. A call that returns a status answers a NULL handle with FB_REFUSED. All other calls need a
 *          handle that is not NULL.
 * Strings: NUL-terminated UTF-8, copied by the call. NULL means "" for a text that may be empty.
 * Arrays:  sizes and positions are in elements, slowest dimension first (C order). */

#ifndef FOREBAY_FOREBAY_H
#define FOREBAY_FOREBAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to react to an error. */
typedef enum fb_status {
    FB_OK = 0,
    FB_RETRY = 1,       /* a passing fault: the same call may succeed later */
    FB_FULL = 2,        /* no space at the place in the text: free some, then call again */
    FB_MISSING = 3,     /* the thing in the text does not exist */
    FB_CORRUPT = 4,     /* bytes differ from their checksum or their format: use another copy */
    FB_REFUSED = 5,     /* the call is not allowed as it is: correct it */
    FB_UNSUPPORTED = 6, /* this build, file version or machine cannot do it */
    FB_BROKEN = 7       /* a mistake in Forebay: the session is closed, the simulation continues */
} fb_status;

#define FB_ERROR_BYTES 2048

/* What failed and where, what is still safe, and the next command. NUL-terminated; a longer text is cut. */
typedef struct fb_error {
    char text[FB_ERROR_BYTES];
} fb_error;

/* "retry", "full", ... ; "ok" for FB_OK. */
const char* fb_status_name(fb_status status);
/* MAJOR.MINOR.PATCH, as in CMakeLists.txt. */
const char* fb_version(void);

typedef struct fb_options fb_options;
typedef struct fb_session fb_session;
typedef struct fb_stream fb_stream;
typedef struct fb_particles fb_particles;
typedef struct fb_restart fb_restart;
typedef struct fb_direct fb_direct;

/* ---- element types ---- */

/* The kind in the low 8 bits, the size in bytes in the higher bits. Complex numbers are (real, imaginary) pairs. A
 * string is a field of fixed length, padded with NUL. */
typedef uint32_t fb_type;
#define FB_TYPE(scalar, size_bytes) ((fb_type)(scalar) | (fb_type)(size_bytes) << 8)
#define FB_F16 FB_TYPE(1, 2)
#define FB_F32 FB_TYPE(2, 4)
#define FB_F64 FB_TYPE(3, 8)
#define FB_C64 FB_TYPE(4, 8)
#define FB_C128 FB_TYPE(5, 16)
#define FB_I8 FB_TYPE(6, 1)
#define FB_I16 FB_TYPE(7, 2)
#define FB_I32 FB_TYPE(8, 4)
#define FB_I64 FB_TYPE(9, 8)
#define FB_U8 FB_TYPE(10, 1)
#define FB_U16 FB_TYPE(11, 2)
#define FB_U32 FB_TYPE(12, 4)
#define FB_U64 FB_TYPE(13, 8)
#define FB_STRING(length_bytes) FB_TYPE(14, length_bytes)

/* ---- options ---- */

/* Reads the options of a session (docs/reference/configuration.md) from a TOML file, or from a text in TOML. "" gives
 * the defaults. An unknown key is FB_REFUSED: the error has the line and the nearest known key. */
fb_status fb_options_load(const char* path, fb_options** options, fb_error* error);
fb_status fb_options_parse(const char* toml, fb_options** options, fb_error* error);
/* Like fb_options_load(), but fb_open(), fb_open_mpi() or fb_dedicate() returns the error of the file. With MPI they
 * return it on every rank, so that no rank waits for a rank that could not read its file. NULL only if memory is short.
 */
fb_options* fb_options_file(const char* path);
/* Set the run's directory at the target, and the node-local directory for staging ("": /dev/shm). fb_open() refuses a
 * run that differs from the run in the file. */
void fb_options_set_run(fb_options* options, const char* directory);
void fb_options_set_staging(fb_options* options, const char* directory);
/* Sets a function that is called on world rank 0 with one line and with `context`. A waiting call
 * logs its reason after 2 s, then every 30 s. Without it only two events are printed: see Options::log in
 * forebay/options.hpp. */
void fb_options_set_log(fb_options* options, void (*log)(const char* line, void* context), void* context);
/* Not 0: if no function is set, the lines go to standard error, as with FOREBAY_LOG=1 in the environment. */
void fb_options_set_log_to_stderr(fb_options* options, int yes);
void fb_options_free(fb_options* options);

/* ---- session ---- */

/* Opens a session of this process only. With MPI use fb_open_mpi() in forebay_mpi.h. */
fb_status fb_open(const fb_options* options, fb_session** session, fb_error* error);
/* Waits for the agents, releases staging, and reports each snapshot that could not be committed: its step, the place of
 * its staged copy, and the next command. The session is closed even if this is an error. Collective. */
fb_status fb_close(fb_session* session, fb_error* error);
/* Frees the handle. Without an fb_close() before, it leaves without waiting, as after a crash: the agents finish the
 * staged snapshots. */
void fb_session_free(fb_session* session);
/* 1 while this node's agent drains, else 0. Costs a load from memory. Local. */
int fb_draining(const fb_session* session);
/* A directory of this node for small files of any program of the job. The agent packs the files into a few files of the
 * run, then removes them. `forebay extract RUN` restores them. Write a file under a name that begins with a dot, then
 * rename it. fb_close() removes the directory. Files that could not be packed stay, and fb_close() reports them. Empty
 * when the session is closed. The text is valid until the next call, or until the handle is freed. Local. */
const char* fb_spool(fb_session* session);

#define FB_REASON_BYTES 512

/* The agreement of all ranks at the end of a step. Equal on all ranks. */
typedef struct fb_job {
    int save;                     /* not 0: save now */
    int stop;                     /* not 0: save now, then end; `save` is set too */
    double seconds_left;          /* of the job; infinite if no limit is known */
    char reason[FB_REASON_BYTES]; /* why, if `save` is set; NUL-terminated, a longer text is cut */
    /* A fulfilled condition of an analysis with the action save, stop or tell. Each is returned once, at the next step
     * after the analysis found it, one a step, the most urgent first. "": none. Cut like `reason`. */
    char condition[FB_REASON_BYTES];
    double value;           /* the value that fulfils it */
    int64_t condition_step; /* the step of the snapshot that fulfils it; -1: none */
} fb_job;

/* Asks at the end of a step if it is time to save or to end. Reasons: the job's time is nearly over ([job] of the
 * configuration), somebody ran `forebay stop`, or a rank passed a `stop_wanted` that is not 0, for example from a flag
 * of its signal handler. The first call asks the batch system. Each call costs one maximum over all ranks. Collective.
 */
fb_status fb_check_job(fb_session* session, int stop_wanted, fb_job* job, fb_error* error);

/* Opens a named sequence of snapshots. `options` has the lines that could stand below [streams.NAME] in the
 * configuration, as in "slots = 2\nfile = \"combined:16\"". Options that it leaves out have their defaults. NULL: the
 * options of the configuration, else the defaults. FB_REFUSED on every rank if an option is unknown, or if options
 * differ between ranks or from the options of the stream that is already open. A second handle of a stream shares its
 * description. Collective. */
fb_status fb_stream_open(fb_session* session, const char* name, const char* options, fb_stream** stream,
                         fb_error* error);
void fb_stream_free(fb_stream* stream);

/* ---- describing ---- */

#define FB_DIMS_MAX 8

typedef enum fb_attribute_kind { FB_TEXT = 0, FB_REAL = 1, FB_INTEGER = 2 } fb_attribute_kind;
typedef struct fb_attribute {
    const char* name;
    fb_attribute_kind kind;
    const char* text; /* if FB_TEXT */
    double real;      /* if FB_REAL */
    int64_t integer;  /* if FB_INTEGER */
} fb_attribute;

/* Descriptions for readers of the files, equal on every rank. All may be NULL or 0. */
typedef struct fb_attributes {
    const char* unit;
    const char* description;
    size_t dimension_count;
    const char* const* dimensions; /* names, slowest dimension first; only for arrays */
    size_t other_count;
    const fb_attribute* others;
} fb_attributes;

/* A box of a global array and its place in memory: the address of the box's own first element (not of its halo), and
 * the distance in bytes between neighbouring elements along each dimension. */
typedef struct fb_piece {
    uint64_t lo[FB_DIMS_MAX];
    uint64_t size[FB_DIMS_MAX];
    void* data;
    int64_t stride_bytes[FB_DIMS_MAX];
    /* Elements in memory around the box: a save skips them, a restart fills the elements inside the global shape. */
    uint64_t halo_lo[FB_DIMS_MAX];
    uint64_t halo_hi[FB_DIMS_MAX];
} fb_piece;

/* A box alone in memory, row-major, without halo. */
fb_piece fb_packed(int dims, const uint64_t* lo, const uint64_t* size, fb_type type, void* data);
/* A box inside a row-major allocation that has halo[d] more elements on both sides of dimension d. */
fb_piece fb_with_halo(int dims, const uint64_t* lo, const uint64_t* size, const uint64_t* halo, fb_type type,
                      void* allocation);

/* Full: the boxes of all ranks must fill the global shape. Partial: they may leave holes. */
typedef enum fb_coverage { FB_COVERAGE_FULL = 0, FB_COVERAGE_PARTIAL = 1 } fb_coverage;

/* Describes a value with the same bits on every rank. If the ranks differ, a save is FB_REFUSED, and the error has the
 * ranks and their values. (Values that you write through a direct save are not compared.) With dims 0 it is a scalar.
 * Local. */
fb_status fb_replicated(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape, void* data,
                        const fb_attributes* attributes, fb_error* error);
/* Describes a value in which ranks may differ: a restart gives rank 0's value to all ranks that describe it so. Local.
 */
fb_status fb_replicated_first_rank(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape,
                                   void* data, const fb_attributes* attributes, fb_error* error);
/* Describes a global array. This rank owns the boxes of `pieces`, perhaps none. The first save compares the boxes of
 * all ranks. Local. */
fb_status fb_array(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape,
                   size_t piece_count, const fb_piece* pieces, const fb_attributes* attributes, fb_coverage coverage,
                   fb_error* error);
/* Give new boxes or addresses to a described array, or a new address to a replicated variable. FB_REFUSED if the
 * variable is of the other kind, if the boxes have another number of dimensions, or if an element is larger than its
 * distance in memory to the next. Make sure that an address has the described type and shape: the call cannot check it.
 * Local. */
fb_status fb_rebind_array(fb_stream* stream, const char* name, int dims, size_t piece_count, const fb_piece* pieces,
                          fb_error* error);
fb_status fb_rebind_replicated(fb_stream* stream, const char* name, void* data, fb_error* error);

/* Removes an array or a replicated variable from the description. Do it on every rank before the next save. Local. */
fb_status fb_forget(fb_stream* stream, const char* name, fb_error* error);

typedef struct fb_column {
    const char* name;
    fb_type type;
    const fb_attributes* attributes; /* NULL: none */
} fb_column;

/* The place of one column: its first row, and the distance between rows in bytes (0: contiguous). */
typedef struct fb_column_data {
    void* data;
    int64_t stride_bytes;
} fb_column_data;

/* Describes a particle table. All columns share their rows. Local. */
fb_status fb_particles_describe(fb_stream* stream, const char* name, size_t column_count, const fb_column* columns,
                                fb_particles** particles, fb_error* error);
/* Sets this rank's number of rows, and the place of each column, in the order of describing. With column_count 0 it
 * sets only the number of rows. Keep the addresses valid until the save or read returns that uses them. Local. */
fb_status fb_particles_bind(fb_particles* particles, uint64_t rows, size_t column_count, const fb_column_data* columns,
                            fb_error* error);
void fb_particles_free(fb_particles* particles);

/* ---- saving ---- */

/* The answer of one save. Equal on all ranks, except bytes and seconds. */
typedef struct fb_saved {
    int64_t step;
    int kept;         /* 0: the policy skipped the step, and nothing was staged */
    int64_t replaced; /* newest_only: the step dropped for this save, else -1 */
    uint64_t bytes;   /* of this rank */
    double blocked_seconds;
    double wait_seconds;
    double plan_seconds;
    double copy_seconds;
} fb_saved;

/* Lays out the slots and touches their pages now, so that the first save costs no more than later saves. Collective. */
fb_status fb_prepare(fb_stream* stream, fb_error* error);
/* Saves everything described, as step `step` at time `time`. `step` is from 0 to 2^63 - 2. Both are equal on every
 * rank. The call returns when all data are copied and sealed on the node. The agent drains them afterwards. If an
 * earlier drain failed, this call returns its error and does not save the step. `saved` may be NULL. Collective. */
fb_status fb_save(fb_stream* stream, int64_t step, double time, fb_saved* saved, fb_error* error);
/* Waits until your saves are committed, for at most `seconds_max`. Collective. */
fb_status fb_wait_committed(fb_stream* stream, double seconds_max, fb_error* error);

/* Begins a save into the slot itself: the application writes its blocks there. fb_direct_seal() copies the blocks for
 * which you asked no address. If `saved->kept` is 0, the policy skipped the step. fb_begin() and fb_direct_seal() are
 * collective. */
fb_status fb_begin(fb_stream* stream, int64_t step, double time, fb_direct** direct, fb_saved* saved, fb_error* error);
/* The address of this rank's box number `piece`, packed in row-major order. For a replicated value: its address on the
 * first rank of the node, NULL on the other ranks. Fill all of it. Local. */
fb_status fb_direct_block(fb_direct* direct, const char* variable, size_t piece, void** address, fb_error* error);
/* The address of this rank's rows of a column, contiguous. Local. */
fb_status fb_direct_column(fb_direct* direct, const fb_particles* particles, size_t column, void** address,
                           fb_error* error);
/* Computes the checksums, copies the rest, and seals. Collective. */
fb_status fb_direct_seal(fb_direct* direct, fb_saved* saved, fb_error* error);
void fb_direct_free(fb_direct* direct);

/* One of the totals since the session was opened, by its name in forebay/options.hpp. Three of them show how a run
 * does: "blocked_seconds" (the cost of saving for the simulation), "newest_durable_step" (the step at which a restart
 * would begin; -1: none) and "aborts" (failed drains). If `name` is unknown, the error of FB_REFUSED lists all names.
 * Local. */
fb_status fb_counter(const fb_stream* stream, const char* name, double* value, fb_error* error);
/* All counters, a line each, as in "saves 3". "" for NULL. The text is valid until the next call, or until the handle
 * is freed. Local. */
const char* fb_counters_text(fb_stream* stream);

/* ---- restarting ---- */

/* For tables: a function that binds each table to fb_restart_rows() rows of `restart`. The library owns `restart`,
 * which is valid only during the call. If the function returns another status than FB_OK, with its reason in `error`,
 * fb_restore() ends with it on every rank. */
typedef fb_status (*fb_bind_rows)(fb_restart* restart, void* context, fb_error* error);
/* The compiler warns if a program ignores the status. After an error such a program would begin anew, or compute with
 * undefined memory. */
#if defined(__GNUC__)
#define FB_MUST_CHECK __attribute__((warn_unused_result))
#else
#define FB_MUST_CHECK
#endif

/* Restores the newest snapshot that reads whole: fb_newest(), `bind` (may be NULL; it gets `context`) and fb_read() in
 * one call. If the data of a snapshot turn out to be damaged, it tries the snapshot before. *restart then has the facts
 * of the snapshot: free it. If no snapshot exists, *restart is NULL and the status FB_OK. `restart` may be NULL. If
 * snapshots exist but none can be used, the status is an error, as of fb_newest(). The call also ends with an error if
 * `bind` fails, if a variable does not fit, or if storage fails. After an error the described memory is undefined.
 * Collective. */
FB_MUST_CHECK
fb_status fb_restore(fb_stream* stream, fb_bind_rows bind, void* context, fb_restart** restart, fb_error* error);

/* Looks for the newest snapshot that can be read whole: first among the staged copies, then at the target. If no
 * snapshot exists, *restart is NULL and the status FB_OK. If snapshots exist but none can be used, the status is
 * FB_CORRUPT if a snapshot is damaged, else FB_REFUSED. If a snapshot exists but cannot be read now, the call is an
 * error at once, even if an older snapshot is whole. FOREBAY_RESTART in the environment limits the steps until the
 * first save. Collective. */
FB_MUST_CHECK
fb_status fb_newest(fb_stream* stream, fb_restart** restart, fb_error* error);
/* The same among the steps below `below`: 301 chooses step 300, even if it is marked. Collective. */
FB_MUST_CHECK
fb_status fb_newest_below(fb_stream* stream, int64_t below, fb_restart** restart, fb_error* error);
/* The snapshot before the last answer of fb_newest() or fb_older(). After a failed fb_read() the answer is never NULL
 * with FB_OK: if no snapshot is left, it is an error. Collective. */
FB_MUST_CHECK
fb_status fb_older(fb_stream* stream, fb_restart** restart, fb_error* error);
/* The reason number `number` why a snapshot was skipped, from 0; NULL after the last. Valid until the next
 * fb_restore(), fb_newest() or fb_older(). */
const char* fb_note(const fb_stream* stream, size_t number);

/* The step and the time with which the snapshot was saved. Local. */
int64_t fb_restart_step(const fb_restart* restart);
double fb_restart_time(const fb_restart* restart);
/* "staged copy on this node", or the snapshot's directory. Valid as long as `restart`. */
const char* fb_restart_source(const fb_restart* restart);
/* 1 if the same number of ranks saved it, else 0. */
int fb_restart_same_ranks(const fb_restart* restart);
/* The number of rows that this rank reads of a table. If the number of ranks is the same, these are the rank's own
 * rows, else a balanced share. Local. */
uint64_t fb_restart_rows(const fb_restart* restart, const fb_particles* particles);
/* Reads everything you described into the described memory. Bind tables to fb_restart_rows() rows first. Every segment
 * is verified. If data are damaged, the error of FB_CORRUPT has the variable's name: call fb_older() then. After an
 * error the described memory is undefined. Collective. */
FB_MUST_CHECK
fb_status fb_read(fb_restart* restart, fb_error* error);
/* Reads some of the described arrays and replicated variables. You can call it again for more variables, and describe
 * them after fb_newest(). Collective. */
FB_MUST_CHECK
fb_status fb_read_variables(fb_restart* restart, size_t count, const char* const* names, fb_error* error);
void fb_restart_free(fb_restart* restart);

#ifdef __cplusplus
}
#endif

#endif
