/* Forebay for C: the calls of forebay.hpp, for C99 and for what binds to C.
 *
 * Order of calls:
 *   fb_open -> fb_stream_open -> fb_replicated | fb_array | fb_particles_describe -> [fb_restore] ->
 *   { fb_particles_bind -> fb_save } ... -> fb_close -> fb_*_free
 *
 * Ranks:   calls marked "collective" are made by every rank of the session, in the same order; all others are local.
 * Threads: a session and its streams belong to one thread at a time. Those of ours that copy beside it (copy_threads in
 *          the configuration) call no MPI and take no signals: any thread mode of MPI will do.
 * Errors:  every call that can fail returns an fb_status, FB_OK being 0, and fills `error`, which may be NULL. Nothing
 *          prints, exits, aborts or installs a signal handler. What a call gives back is untouched when it fails.
 *          After an error the session stays usable unless it was FB_BROKEN.
 * Handles: fb_*_free() of NULL does nothing, nor does fb_options_set_*(). Handles may be freed in any order; the
 *          session lives as long as any of them. Calls that return a status answer a NULL handle with FB_REFUSED; the
 *          other calls must be given one.
 * Strings: NUL-terminated UTF-8, copied by the call. NULL stands for "" where a text may be empty.
 * Arrays:  sizes and positions are in elements, slowest dimension first (C order).
 */

#ifndef FOREBAY_FOREBAY_H
#define FOREBAY_FOREBAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What should I do now? */
typedef enum fb_status {
    FB_OK = 0,
    FB_RETRY = 1,       /* a passing fault: the same call may succeed later */
    FB_FULL = 2,        /* no room at a named place: free some, then call again */
    FB_MISSING = 3,     /* the named thing does not exist */
    FB_CORRUPT = 4,     /* bytes differ from their checksum or their format: use another copy */
    FB_REFUSED = 5,     /* the caller asked for something that is not allowed: correct the call */
    FB_UNSUPPORTED = 6, /* this build, file version or machine cannot do it */
    FB_BROKEN = 7       /* our own mistake: the session is closed, the simulation goes on */
} fb_status;

#define FB_ERROR_BYTES 2048

/* Says what failed, where, what is still safe and the next command; NUL-terminated, cut where it is longer. */
typedef struct fb_error {
    char text[FB_ERROR_BYTES];
} fb_error;

/* "retry", "full", ... ; "ok" for FB_OK. */
const char* fb_status_name(fb_status status);
/* "0.1.0". */
const char* fb_version(void);

typedef struct fb_options fb_options;
typedef struct fb_session fb_session;
typedef struct fb_stream fb_stream;
typedef struct fb_particles fb_particles;
typedef struct fb_restart fb_restart;
typedef struct fb_direct fb_direct;

/* ---- element types ---- */

/* The kind in the low 8 bits, the size in bytes above. Complex numbers are (real, imaginary) pairs; a string is a field
 * of fixed length, padded with NUL. */
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

/* The options of a session: the settings of docs/reference/configuration.md, as a TOML file or as the text of one;
 * "" gives
 * the defaults. Unknown keys are FB_REFUSED, with line and nearest known key. */
fb_status fb_options_load(const char* path, fb_options** options, fb_error* error);
fb_status fb_options_parse(const char* toml, fb_options** options, fb_error* error);
/* As fb_options_load(); but what is wrong with the file is told by the fb_open(), fb_open_mpi() or fb_dedicate() that
 * gets the options, with MPI on every rank, so that none waits for one that could not read its file. NULL only where
 * there is no memory. */
fb_options* fb_options_file(const char* path);
/* The run's directory at the target, and the node-local directory to stage in ("": /dev/shm). A run that is another one
 * than the file names is refused by fb_open(). */
void fb_options_set_run(fb_options* options, const char* directory);
void fb_options_set_staging(fb_options* options, const char* directory);
/* Called on world rank 0 with one line and with `context`; nothing is printed without it. What a call waits for is said
 * after 2 s, and again every 30 s. */
void fb_options_set_log(fb_options* options, void (*log)(const char* line, void* context), void* context);
/* Not 0: without such a function the lines go to standard error, as with FOREBAY_LOG=1 in the environment. */
void fb_options_set_log_to_stderr(fb_options* options, int yes);
void fb_options_free(fb_options* options);

/* ---- session ---- */

/* One application's use of one run, by this process alone; with MPI: fb_open_mpi() in forebay_mpi.h. */
fb_status fb_open(const fb_options* options, fb_session** session, fb_error* error);
/* Waits for the agents, releases staging, and reports what could not be committed: which step, where its staged copy
 * is, the next command. The session is closed also when that is an error. Collective. */
fb_status fb_close(fb_session* session, fb_error* error);
/* Without fb_close() before, leaves without waiting, as after a crash: agents finish what is staged. */
void fb_session_free(fb_session* session);
/* 1 while this node's agent drains, else 0. Local, a load from memory. */
int fb_draining(const fb_session* session);
/* A directory of this node for small files of any program of the job, which the agent packs into few files of the run
 * and then removes; `forebay extract RUN` gives them back. Write under a name that begins with a dot, then rename.
 * fb_close takes the directory away, but for what could not be packed, which it tells.
 * Empty when the session is closed; the text lives as long as the handle, until the next call. Local. */
const char* fb_spool(fb_session* session);

#define FB_REASON_BYTES 512

/* The agreement of all ranks at the end of a step. Equal on all ranks. */
typedef struct fb_job {
    int save;                     /* not 0: save now */
    int stop;                     /* not 0: save now, then end; `save` is set too */
    double seconds_left;          /* of the job; infinite where no limit is known */
    char reason[FB_REASON_BYTES]; /* why, where save is set; NUL-terminated, cut where it is longer */
    /* A condition of an analysis whose action is save, stop or tell, given at the next step after it was found
     * fulfilled, once; of several the most urgent first, one a step. "" without any. Cut as `reason` is. */
    char condition[FB_REASON_BYTES];
    double value;           /* that fulfils it */
    int64_t condition_step; /* of the snapshot that does; -1 without any */
} fb_job;

/* Whether to save or to end now: because the job ends ([job] of the configuration), somebody ran `forebay stop`, or any
 * rank gave a `stop_wanted` that is not 0, such as a flag that its signal handler set. At the end of a step; the first
 * call asks the batch system, each makes one maximum over the world. Collective. */
fb_status fb_check_job(fb_session* session, int stop_wanted, fb_job* job, fb_error* error);

/* A named sequence of snapshots. `options`: what could stand below [streams.NAME] in the configuration, a line each, as
 * in "slots = 2\nfile = \"combined:16\""; what it does not name has its default. NULL: those of the configuration, else
 * the defaults. Options that differ between ranks, or from those of a stream that is open already, are FB_REFUSED, as
 * are unknown ones, on every rank; the second handle of a stream shares its description. Collective. */
fb_status fb_stream_open(fb_session* session, const char* name, const char* options, fb_stream** stream,
                         fb_error* error);
void fb_stream_free(fb_stream* stream);

/* ---- describing ---- */

#define FB_DIMS_MAX 8

typedef enum fb_attribute_kind { FB_TEXT = 0, FB_REAL = 1, FB_INTEGER = 2 } fb_attribute_kind;
typedef struct fb_attribute {
    const char* name;
    fb_attribute_kind kind;
    const char* text; /* of FB_TEXT */
    double real;      /* of FB_REAL */
    int64_t integer;  /* of FB_INTEGER */
} fb_attribute;

/* Words for readers beside the numbers, equal on every rank; all of them may be NULL or 0. */
typedef struct fb_attributes {
    const char* unit;
    const char* description;
    size_t dimension_count;
    const char* const* dimensions; /* names, slowest first; arrays only */
    size_t other_count;
    const fb_attribute* others;
} fb_attributes;

/* A box of a global array and where it lies in memory: the address of its own first element (not of its halo), and the
 * distance in bytes between neighbours along each dimension. */
typedef struct fb_piece {
    uint64_t lo[FB_DIMS_MAX];
    uint64_t size[FB_DIMS_MAX];
    void* data;
    int64_t stride_bytes[FB_DIMS_MAX];
    /* Elements around the box that exist in memory too: not saved; a restart fills those inside the global shape. */
    uint64_t halo_lo[FB_DIMS_MAX];
    uint64_t halo_hi[FB_DIMS_MAX];
} fb_piece;

/* A box stored alone, row-major, without halo. */
fb_piece fb_packed(int dims, const uint64_t* lo, const uint64_t* size, fb_type type, void* data);
/* A box inside a row-major allocation that has halo[d] more elements on both sides of dimension d. */
fb_piece fb_with_halo(int dims, const uint64_t* lo, const uint64_t* size, const uint64_t* halo, fb_type type,
                      void* allocation);

/* Whether the boxes of all ranks must fill the global shape. */
typedef enum fb_coverage { FB_COVERAGE_FULL = 0, FB_COVERAGE_PARTIAL = 1 } fb_coverage;

/* A value that is equal on every rank, bit for bit: a save is FB_REFUSED, with the ranks and their values, where it is
 * not. (What a direct save writes itself is not compared.) dims 0 is a scalar. Local. */
fb_status fb_replicated(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape, void* data,
                        const fb_attributes* attributes, fb_error* error);
/* The same for a value in which ranks may differ: rank 0's is what a restart gives to all that describe it so. Local.
 */
fb_status fb_replicated_first_rank(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape,
                                   void* data, const fb_attributes* attributes, fb_error* error);
/* A global array; this rank owns the boxes of `pieces`, perhaps none. Local; boxes of all ranks are checked against one
 * another by the first save. */
fb_status fb_array(fb_stream* stream, const char* name, fb_type type, int dims, const uint64_t* shape,
                   size_t piece_count, const fb_piece* pieces, const fb_attributes* attributes, fb_coverage coverage,
                   fb_error* error);
/* New boxes or addresses for a described array; a new address for a replicated variable. Local. FB_REFUSED are boxes of
 * other dimensions than the variable's, such with elements that are larger than their distance in memory, and a
 * variable of the other kind; that an address is one of the described type and shape is the caller's care. */
fb_status fb_rebind_array(fb_stream* stream, const char* name, int dims, size_t piece_count, const fb_piece* pieces,
                          fb_error* error);
fb_status fb_rebind_replicated(fb_stream* stream, const char* name, void* data, fb_error* error);

/* Takes an array or a replicated variable out of the description; on every rank alike before the next save. Local. */
fb_status fb_forget(fb_stream* stream, const char* name, fb_error* error);

typedef struct fb_column {
    const char* name;
    fb_type type;
    const fb_attributes* attributes; /* NULL: none */
} fb_column;

/* Where one column's rows lie: the first row, and the distance between rows in bytes (0: contiguous). */
typedef struct fb_column_data {
    void* data;
    int64_t stride_bytes;
} fb_column_data;

/* A particle table: its columns share their rows. Local. */
fb_status fb_particles_describe(fb_stream* stream, const char* name, size_t column_count, const fb_column* columns,
                                fb_particles** particles, fb_error* error);
/* This rank's rows from now on, and where each column lies, in the order of describing; column_count 0: the number of
 * rows only. The addresses must stay valid until the save or read that uses them returns. Local. */
fb_status fb_particles_bind(fb_particles* particles, uint64_t rows, size_t column_count, const fb_column_data* columns,
                            fb_error* error);
void fb_particles_free(fb_particles* particles);

/* ---- saving ---- */

/* The answer of one save. Equal on all ranks but for bytes and seconds. */
typedef struct fb_saved {
    int64_t step;
    int kept;         /* 0: the policy skipped the step; nothing was staged */
    int64_t replaced; /* newest_only: the step that was dropped for this one, else -1 */
    uint64_t bytes;   /* this rank's */
    double blocked_seconds;
    double wait_seconds;
    double plan_seconds;
    double copy_seconds;
} fb_saved;

/* Lays the slots out and faults their pages in now, so that the first save costs no more than the others.
 * Collective. */
fb_status fb_prepare(fb_stream* stream, fb_error* error);
/* Saves everything described under `step`, from 0 to 2^63 - 2, and equal on every rank, as `time`. Returns when all is
 * copied and sealed on the node; draining goes on behind. An error of an earlier drain surfaces here; the step is then
 * not saved. `saved` may be NULL. Collective. */
fb_status fb_save(fb_stream* stream, int64_t step, double time, fb_saved* saved, fb_error* error);
/* Waits until what was saved is committed, at most so long. Collective. */
fb_status fb_wait_committed(fb_stream* stream, double seconds_max, fb_error* error);

/* A save whose blocks the application writes into the slot itself; blocks for which no address was asked are copied by
 * fb_direct_seal(). `saved->kept` 0: the policy skipped the step. fb_begin and fb_direct_seal are collective. */
fb_status fb_begin(fb_stream* stream, int64_t step, double time, fb_direct** direct, fb_saved* saved, fb_error* error);
/* Where this rank's box number `piece` lies, packed row-major, or a replicated value on the node's first rank (NULL on
 * the others); the application must fill all of it. Local. */
fb_status fb_direct_block(fb_direct* direct, const char* variable, size_t piece, void** address, fb_error* error);
/* Where this rank's rows of a column lie, contiguous. Local. */
fb_status fb_direct_column(fb_direct* direct, const fb_particles* particles, size_t column, void** address,
                           fb_error* error);
fb_status fb_direct_seal(fb_direct* direct, fb_saved* saved, fb_error* error);
void fb_direct_free(fb_direct* direct);

/* One of the totals since the session was opened, by its name in forebay/options.hpp. Three tell how a run does:
 * "blocked_seconds" (what saving has cost the simulation), "newest_durable_step" (where a restart would begin; -1:
 * nowhere) and "aborts" (drains that ended with an error). FB_REFUSED names all there are. Local. */
fb_status fb_counter(const fb_stream* stream, const char* name, double* value, fb_error* error);
/* All of them, a line each, as in "saves 3"; "" for NULL. The text lives as long as the handle, until the next call.
 * Local. */
const char* fb_counters_text(fb_stream* stream);

/* ---- restarting ---- */

/* For tables: binds each to fb_restart_rows() rows of `restart`, which is the library's and is valid during the call.
 * Another answer than FB_OK, with its reason in `error`, ends fb_restore() on every rank. */
typedef fb_status (*fb_bind_rows)(fb_restart* restart, void* context, fb_error* error);
/* Compilers warn of a program that does not look at the status: after an error it would begin anew, or compute with
 * memory that may hold anything. */
#if defined(__GNUC__)
#define FB_MUST_CHECK __attribute__((warn_unused_result))
#else
#define FB_MUST_CHECK
#endif

/* Restores the newest snapshot that reads whole: fb_newest(), `bind` (may be NULL; it gets `context`) and fb_read() in
 * one. If the data of a snapshot turn out to be damaged, it goes on with the snapshot before. *restart, to be freed,
 * says which it was; it is NULL, and the status FB_OK, if nothing is there. `restart` may be NULL. If snapshots are
 * there and none can be used, the status is an error, as of fb_newest(). An error of `bind`, of a variable that does
 * not fit or of storage ends it. After an error the described memory is undefined. Collective. */
FB_MUST_CHECK
fb_status fb_restore(fb_stream* stream, fb_bind_rows bind, void* context, fb_restart** restart, fb_error* error);

/* Looks for the newest snapshot that can be read whole: staged copies first, then the target. *restart is NULL, and the
 * status FB_OK, if nothing is there. If snapshots are there and none can be used, the status is FB_CORRUPT if anything
 * is damaged, else FB_REFUSED. A snapshot that is there and cannot be read now is an error at once, even if an older
 * snapshot is whole. FOREBAY_RESTART in the environment bounds the steps until the first save. Collective. */
FB_MUST_CHECK
fb_status fb_newest(fb_stream* stream, fb_restart** restart, fb_error* error);
/* The same among the steps below `below`: 301 names step 300, which is then taken even if it is marked. Collective. */
FB_MUST_CHECK
fb_status fb_newest_below(fb_stream* stream, int64_t below, fb_restart** restart, fb_error* error);
/* The snapshot before the last answer of fb_newest() or fb_older(). After an fb_read() that failed the answer is never
 * NULL with FB_OK. Collective. */
FB_MUST_CHECK
fb_status fb_older(fb_stream* stream, fb_restart** restart, fb_error* error);
/* Why snapshots were passed over; NULL from the end on. Valid until the next fb_restore(), fb_newest() or fb_older().
 */
const char* fb_note(const fb_stream* stream, size_t number);

int64_t fb_restart_step(const fb_restart* restart);
double fb_restart_time(const fb_restart* restart);
/* "staged copy on this node", or the snapshot's directory. Valid as long as `restart`. */
const char* fb_restart_source(const fb_restart* restart);
/* 1 when the same number of ranks saved it, else 0. */
int fb_restart_same_ranks(const fb_restart* restart);
/* The rows this rank gets of a table: its own where the rank counts agree, else a balanced share. Local. */
uint64_t fb_restart_rows(const fb_restart* restart, const fb_particles* particles);
/* Reads everything described into the described memory; tables must be bound to fb_restart_rows() rows. Every segment
 * is verified; FB_CORRUPT names the variable: call fb_older() then. After an error the described memory is undefined.
 * Collective. */
FB_MUST_CHECK
fb_status fb_read(fb_restart* restart, fb_error* error);
/* The same for some of the described arrays and replicated variables, as often as one likes; they may be described
 * after fb_newest(). Collective. */
FB_MUST_CHECK
fb_status fb_read_variables(fb_restart* restart, size_t count, const char* const* names, fb_error* error);
void fb_restart_free(fb_restart* restart);

#ifdef __cplusplus
}
#endif

#endif
