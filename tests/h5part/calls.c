/* Every call of H5Part from a serial program: what it answers, its codes, and what stands in the file afterwards. Run
   in an empty folder; calls_test.py looks at the files by h5py. Nothing here knows of Forebay but the last lines. */

#define _XOPEN_SOURCE 700
#include <H5Part.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int failures, reported;
static h5part_int64_t told_code;
static char told_text[2000];

#define EXPECT(condition)                                                             \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "calls.c:%d: %s; %s\n", __LINE__, #condition, told_text); \
            ++failures;                                                               \
        }                                                                             \
    } while (0)

static h5part_int64_t remember(const char* function, const h5part_int64_t code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = snprintf(told_text, sizeof told_text, "%s: ", function);
    vsnprintf(told_text + length, sizeof told_text - (size_t)length, format, arguments);
    va_end(arguments);
    ++reported;
    told_code = code;
    return code;
}

enum { n = 100 };
static double x[n], y[n];
static float w[n];
static int64_t id[n];
static int32_t kind[n];

static void fill(int step) {
    for (int i = 0; i < n; ++i) {
        x[i] = i + 1000 * step;
        y[i] = -x[i];
        w[i] = (float)i / 4;
        id[i] = 5000000000LL + i;
        kind[i] = i % 7;
    }
}

static void write_main(void) {
    static const double three[3] = {1.5, 2.5, 3.5};
    static const int64_t big = 1LL << 40;
    char name[64];
    H5PartFile* f = H5PartOpenFile("main.h5part", H5PART_WRITE | H5PART_VFD_MPIPOSIX);
    EXPECT(f != NULL && H5PartFileIsValid(f) == H5PART_SUCCESS);
    EXPECT(H5PartWriteFileAttribString(f, "title", "a run") == 0);
    EXPECT(H5PartWriteFileAttrib(f, "box", H5PART_FLOAT64, three, 3) == 0);
    EXPECT(H5PartWriteFileAttribFloat32(f, "f4", 0.5f) == 0);
    EXPECT(H5PartWriteFileAttribFloat64(f, "f8", 0.25) == 0);
    EXPECT(H5PartWriteFileAttribInt32(f, "i4", -7) == 0);
    EXPECT(H5PartWriteFileAttribInt64(f, "i8", big) == 0);
    EXPECT(H5PartWriteFileAttrib(f, "chars", H5PART_CHAR, "abc", 3) == 0);
    EXPECT(H5PartWriteFileAttribString(f, "title", "another") == H5PART_ERR_HDF5);
    for (int step = 0; step < 4; ++step) {
        fill(step);
        EXPECT(H5PartSetStep(f, step) == 0);
        EXPECT(H5PartHasStep(f, step) == 1 && H5PartHasStep(f, 99) == 0);
        EXPECT(H5PartSetNumParticles(f, n) == 0);
        EXPECT(H5PartWriteStepAttribFloat64(f, "time", 0.1 * step) == 0);
        EXPECT(H5PartWriteDataFloat64(f, "x", x) == 0);
        EXPECT(H5PartWriteDataFloat64(f, "y", y) == 0);
        EXPECT(H5PartWriteDataInt64(f, "id", id) == 0);
        EXPECT(H5PartGetNumParticles(f) == n && H5PartGetNumDatasets(f) == 3);
        if (step == 2) { /* a step unlike the others, written after it was begun like them */
            EXPECT(H5PartWriteDataInt32(f, "kind", kind) == 0);
            EXPECT(H5PartWriteStepAttribString(f, "note", "with kinds") == 0);
        }
        if (step == 3) { /* the same column again, and again as another type */
            y[0] = 77;
            EXPECT(H5PartWriteDataFloat64(f, "y", y) == 0);
            EXPECT(H5PartWriteDataFloat32(f, "id", w) == 0);
        }
        memset(x, 0, sizeof x);
    }
    EXPECT(H5PartSetStep(f, 3) == 0 && H5PartGetNumDatasets(f) == 3); /* the step that is set goes on */
    EXPECT(H5PartSetNumParticles(f, n / 2) == H5PART_ERR_INVAL);
    EXPECT(H5PartGetFileAttribInfo(f, 0, name, sizeof name, NULL, NULL) == 0 && strcmp(name, "title") == 0);
    EXPECT(H5PartGetFileAttribInfo(f, 1, name, sizeof name, NULL, NULL) == 0 && strcmp(name, "box") == 0);
    /* Back in a step that is there: something is added to it. */
    EXPECT(H5PartSetStep(f, 1) == 0);
    EXPECT(H5PartSetNumParticles(f, n) == 0 && H5PartWriteDataFloat32(f, "late", w) == 0);
    fill(50);
    EXPECT(H5PartWriteDataFloat64(f, "y", y) == 0); /* instead of what it has */
    EXPECT(H5PartGetNumSteps(f) == 4);
    EXPECT(H5PartGetNumDatasets(f) == 4);
    EXPECT(H5PartSetStep(f, 8) == 0); /* a step with attributes alone */
    EXPECT(H5PartWriteStepAttribInt32(f, "empty", 1) == 0);
    EXPECT(H5PartCloseFile(f) == 0);
}

static void write_others(void) {
    static struct {
        int32_t a;
        float b;
    } pairs[n];
    char name[81];
    memset(name, 'n', 80);
    name[80] = '\0';
    fill(0);
    for (int i = 0; i < n; ++i) pairs[i].a = i, pairs[i].b = (float)i / 2;
    /* Several files at once, another step name, strides, a long name, and odd ones. */
    H5PartFile* named =
        H5PartOpenFileAlign("named.h5part", H5PART_WRITE | H5PART_FS_LUSTRE | H5PART_VFD_MPIIO_IND, 65536);
    H5PartFile* plain = H5PartOpenFile("plain.h5part", H5PART_WRITE | H5PART_VFD_CORE);
    EXPECT(named != NULL && plain != NULL);
    EXPECT(H5PartDefineStepName(named, "Time", 5) == 0);
    EXPECT(H5PartSetStep(named, 42) == 0 && H5PartSetStep(plain, 7) == 0);
    EXPECT(H5PartSetNumParticlesStrided(named, n, 2) == 0);
    EXPECT(H5PartSetNumParticles(plain, n / 2) == 0);
    EXPECT(H5PartSetChunkSize(plain, 10) == 0 && H5PartSetThrottle(plain, 2) == 0);
    EXPECT(H5PartWriteDataInt32(named, "a", &pairs->a) == 0);
    EXPECT(H5PartWriteDataFloat32(plain, name, w) == 0);
    EXPECT(H5PartWriteDataFloat32(named, "b", &pairs->b) == 0);
    EXPECT(H5PartSetNumParticles(named, n) == 0);
    EXPECT(H5PartWriteDataFloat64(named, "100% odd.", x) == 0);
    EXPECT(H5PartSetNumParticles(named, n / 2) == H5PART_ERR_INVAL);
    EXPECT(H5PartCloseFile(plain) == 0 && H5PartCloseFile(named) == 0);
    named = H5PartOpenFile("cut.h5part", H5PART_WRITE);
    EXPECT(H5PartDefineStepName(named, name, 6) == 0 && H5PartDefineStepName(named, name, 62) == H5PART_ERR_INVAL);
    EXPECT(H5PartSetStep(named, 12) == 0 && H5PartSetNumParticles(named, n) == 0);
    EXPECT(H5PartWriteDataFloat64(named, "x", x) == 0 && H5PartHasStep(named, 12) == 1);
    EXPECT(H5PartGetNumSteps(named) == 1 && H5PartCloseFile(named) == 0);
    H5PartFile* empty = H5PartOpenFile("empty.h5part", H5PART_WRITE);
    EXPECT(H5PartWriteFileAttribString(empty, "why", "") == 0);
    EXPECT(H5PartCloseFile(empty) == 0);
}

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* A step for which there is no room is not in the file, and is written again; the step after it loses nothing. */
static void no_room(void) {
    enum { many = 1 << 20 };
    static double large[many];
    signal(SIGXFSZ, SIG_IGN);
    fill(0);
    H5PartFile* f = H5PartOpenFile("room.h5part", H5PART_WRITE);
    EXPECT(H5PartSetStep(f, 0) == 0 && H5PartSetNumParticles(f, n) == 0 && H5PartWriteDataFloat64(f, "x", x) == 0);
    EXPECT(H5PartSetStep(f, 1) == 0 && H5PartSetNumParticles(f, many) == 0);
    EXPECT(H5PartWriteStepAttribInt32(f, "a", 1) == 0);
    limit_files(1 << 20);
    EXPECT(H5PartWriteDataFloat64(f, "x", large) != 0 && strstr(told_text, "RLIMIT_FSIZE") != NULL);
    const h5part_int64_t answer = H5PartSetStep(f, 2);
    EXPECT(answer != 0 && strstr(told_text, "step 1 is NOT in the file") != NULL);
    limit_files(RLIM_INFINITY);
    EXPECT(H5PartHasStep(f, 1) == 0 && H5PartGetNumSteps(f) == 2);
    EXPECT(H5PartSetNumParticles(f, n) == 0 && H5PartWriteDataFloat64(f, "x", x) == 0); /* in step 2 */
    EXPECT(H5PartGetNumDatasets(f) == 1);
    EXPECT(H5PartSetStep(f, 1) == 0 && H5PartGetNumDatasets(f) == 0 && H5PartGetNumStepAttribs(f) == 0);
    EXPECT(H5PartWriteStepAttribInt32(f, "a", 2) == 0 && H5PartWriteDataFloat64(f, "x", x) == 0);
    EXPECT(H5PartCloseFile(f) == 0);
}

/* Rows in two passes, with a hole between them, into a step that lays the memory out and into one after it. */
static void write_views(void) {
    h5part_int64_t start = 0, end = 0;
    H5PartFile* f = H5PartOpenFile("views.h5part", H5PART_WRITE);
    for (int step = 0; step < 2; ++step) {
        fill(step);
        EXPECT(H5PartSetStep(f, step) == 0 && H5PartSetNumParticlesStrided(f, n / 2, 2) == 0);
        EXPECT(H5PartWriteDataFloat64(f, "y", y) == 0); /* the view ends the stride */
        EXPECT(H5PartSetView(f, 0, 9) == 0 && H5PartGetView(f, &start, &end) == 10 && start == 0 && end == 9);
        EXPECT(H5PartWriteDataFloat64(f, "x", x) == 0);
        EXPECT(H5PartSetView(f, 40, -1) == 0 && H5PartWriteDataFloat64(f, "x", x + 40) == 0);
        EXPECT(H5PartSetView(f, -1, -1) == 0 && H5PartWriteDataInt64(f, "id", id) == 0);
    }
    fill(9);
    EXPECT(H5PartSetStep(f, 0) == 0 && H5PartSetView(f, 0, 9) == 0); /* of a step that was saved */
    EXPECT(H5PartWriteDataFloat64(f, "x", x) == H5PART_ERR_INVAL && strstr(told_text, "as a whole") != NULL);
    EXPECT(H5PartSetStep(f, 2) == H5PART_ERR_INVAL);
    /* The array of a number that was refused may be shorter than the one before. */
    EXPECT(H5PartSetNumParticles(f, n) == 0 && H5PartWriteDataFloat64(f, "y", y) == 0);
    EXPECT(H5PartSetNumParticles(f, 5) == H5PART_ERR_INVAL && H5PartWriteDataFloat64(f, "x", x) == H5PART_ERR_INVAL);
    EXPECT(H5PartCloseFile(f) == H5PART_ERR_INVAL && strstr(told_text, "step 2 is NOT in the file") != NULL);
}

/* Of a dataset with two dimensions, by another program, there are no views. */
static void read_flat(const char* path) {
    double all[20];
    H5PartFile* f = H5PartOpenFile(path, H5PART_READ);
    EXPECT(H5PartSetStep(f, 0) == 0 && H5PartSetView(f, 2, 3) == 0);
    EXPECT(H5PartReadDataFloat64(f, "x", all) == H5PART_ERR_NOTYPE);
    static const h5part_int64_t indices[] = {1};
    EXPECT(H5PartSetViewIndices(f, indices, 1) == 0 && H5PartReadDataFloat64(f, "x", all) == H5PART_ERR_NOTYPE);
    EXPECT(H5PartResetView(f) == 0 && H5PartReadDataFloat64(f, "x", all) == 0 && all[19] == 19);
    EXPECT(H5PartCloseFile(f) == 0);
}

/* Whoever forgets to close a file has all its steps nevertheless. */
static void leave_open(void) {
    H5PartFile* f = H5PartOpenFile("left.h5part", H5PART_WRITE);
    fill(0);
    for (int step = 0; step < 2; ++step)
        EXPECT(H5PartSetStep(f, step) == 0 && H5PartSetNumParticles(f, n) == 0 &&
               H5PartWriteDataFloat64(f, "x", x) == 0);
}

static void append(void) {
    H5PartFile* f = H5PartOpenFile("main.h5part", H5PART_APPEND);
    EXPECT(f != NULL && H5PartGetNumSteps(f) == 5 && H5PartGetNumFileAttribs(f) == 7);
    fill(1);
    EXPECT(H5PartWriteFileAttribInt32(f, "i4", 3) == H5PART_ERR_HDF5);
    EXPECT(H5PartWriteFileAttribInt32(f, "appended", 3) == 0);
    EXPECT(H5PartSetStep(f, 1) == 0 && H5PartReadDataFloat64(f, "x", y) == 0 && y[5] == x[5]);
    EXPECT(H5PartSetStep(f, 5) == 0 && H5PartSetNumParticles(f, 3) == 0 && H5PartWriteDataFloat64(f, "x", x) == 0);
    EXPECT(H5PartReadDataFloat64(f, "x", y) == H5PART_ERR_INVAL);
    EXPECT(H5PartGetNumSteps(f) == 6);
    EXPECT(H5PartCloseFile(f) == 0);
    f = H5PartOpenFile("main.h5part", H5PART_APPEND); /* and nothing */
    EXPECT(f != NULL && H5PartGetNumSteps(f) == 6 && H5PartCloseFile(f) == 0);
}

static void read_main(void) {
    char name[64];
    double three[3];
    float f4;
    int32_t i4;
    h5part_int64_t type = 0, count = 0, start = 0, end = 0;
    double got[2 * n];
    H5PartFile* f = H5PartOpenFile("main.h5part", H5PART_READ);
    EXPECT(f != NULL && H5PartGetNumSteps(f) == 6);
    EXPECT(H5PartSetStep(f, 2) == 0 && H5PartGetNumDatasets(f) == 4);
    static const char* const names[] = {"id", "kind", "x", "y"};
    for (int i = 0; i < 4; ++i)
        EXPECT(H5PartGetDatasetName(f, i, name, sizeof name) == 0 && strcmp(name, names[i]) == 0);
    EXPECT(H5PartGetDatasetName(f, 4, name, sizeof name) == H5PART_ERR_NOENTRY && told_code == H5PART_ERR_NOENTRY);
    EXPECT(H5PartGetDatasetName(f, 1, name, 3) == 0 && strcmp(name, "ki") == 0);
    EXPECT(H5PartGetDatasetInfo(f, 0, name, sizeof name, &type, &count) == 0 && type == H5PART_INT64 && count == n);
    EXPECT(H5PartGetDatasetInfo(f, 1, name, sizeof name, &type, &count) == 0 && type == H5PART_INT32);
    EXPECT(H5PartGetDatasetInfo(f, 3, name, sizeof name, &type, &count) == 0 && type == H5PART_FLOAT64);
    /* Views: inclusive, -1 for an end, lists; types are converted. */
    fill(2);
    EXPECT(H5PartHasView(f) == 0 && H5PartGetNumParticles(f) == n);
    EXPECT(H5PartGetView(f, &start, &end) == n && start == 0 && end == n - 1);
    EXPECT(H5PartSetView(f, 10, 19) == 0 && H5PartHasView(f) == 1 && H5PartGetNumParticles(f) == 10);
    EXPECT(H5PartReadDataFloat64(f, "x", got) == 0 && got[0] == x[10] && got[9] == x[19]);
    EXPECT(H5PartReadDataInt64(f, "kind", id) == 0 && id[0] == 10 % 7 && id[9] == 19 % 7);
    EXPECT(H5PartGetView(f, &start, &end) == 10 && start == 10 && end == 19);
    EXPECT(H5PartSetView(f, 90, -1) == 0 && H5PartGetNumParticles(f) == 10);
    EXPECT(H5PartSetView(f, -1, 4) == 0 && H5PartGetNumParticles(f) == 5);
    EXPECT(H5PartSetView(f, 8, 4) == 0 && H5PartGetNumParticles(f) == 1);
    EXPECT(H5PartSetView(f, n, n + 5) == 0 && H5PartGetNumParticles(f) == 6);
    EXPECT(H5PartReadDataFloat64(f, "x", got) == H5PART_ERR_HDF5);
    EXPECT(H5PartSetView(f, 3, INT64_MAX) == 0 && H5PartReadDataFloat64(f, "x", got) == 0); /* larger: ignored */
    got[0] = -1;
    EXPECT(H5PartSetView(f, -5, 4) == H5PART_ERR_HDF5 && H5PartReadDataFloat64(f, "x", got) == H5PART_ERR_HDF5);
    EXPECT(got[0] == -1);
    EXPECT(H5PartSetView(f, -1, -1) == 0 && H5PartHasView(f) == 0);
    static const h5part_int64_t indices[] = {99, 0, 50};
    EXPECT(H5PartSetViewIndices(f, indices, 3) == 0 && H5PartGetNumParticles(f) == 3);
    EXPECT(H5PartReadDataFloat64(f, "y", got) == 0 && got[0] == y[99] && got[1] == y[0] && got[2] == y[50]);
    EXPECT(H5PartGetView(f, &start, &end) == H5PART_ERR_INVAL);
    static const h5part_int64_t beyond[] = {n};
    EXPECT(H5PartSetViewIndices(f, beyond, 1) == 0 && H5PartReadDataFloat64(f, "y", got) == H5PART_ERR_HDF5);
    EXPECT(H5PartSetViewIndices(f, NULL, 0) == 0 && H5PartHasView(f) == 0);
    EXPECT(H5PartSetCanonicalView(f) == 0 && H5PartGetNumParticles(f) == n);
    EXPECT(H5PartSetNumParticlesStrided(f, n, 2) == 0 && H5PartReadDataFloat64(f, "x", got) == 0);
    EXPECT(got[0] == x[0] && got[2] == x[1] && got[198] == x[99]);
    EXPECT(H5PartResetView(f) == 0);
    EXPECT(H5PartReadDataFloat64(f, "no such", got) == H5PART_ERR_HDF5);
    EXPECT(H5PartSetStep(f, 77) == H5PART_ERR_HDF5);
    EXPECT(H5PartReadParticleStep(f, 2, got, got, got, got, got, got, id) == H5PART_ERR_HDF5); /* there is no z */
    /* Attributes by name and by index. */
    EXPECT(H5PartGetNumFileAttribs(f) == 8 && H5PartGetNumStepAttribs(f) == 2);
    static const char* const attributes[] = {"title", "box", "f4", "f8", "i4", "i8", "chars", "appended"};
    for (int i = 0; i < 8; ++i)
        EXPECT(H5PartGetFileAttribInfo(f, i, name, sizeof name, NULL, NULL) == 0 && strcmp(name, attributes[i]) == 0);
    EXPECT(H5PartGetFileAttribInfo(f, 1, name, sizeof name, &type, &count) == 0);
    EXPECT(strcmp(name, "box") == 0 && type == H5PART_FLOAT64 && count == 3);
    EXPECT(H5PartGetStepAttribInfo(f, 0, name, sizeof name, &type, &count) == 0); /* HDF5 had room for it at first */
    EXPECT(strcmp(name, "note") == 0 && type == H5PART_STRING && count == 1);
    EXPECT(H5PartGetStepAttribInfo(f, 2, name, sizeof name, &type, &count) == H5PART_ERR_HDF5);
    EXPECT(H5PartReadFileAttrib(f, "box", three) == 0 && three[2] == 3.5);
    EXPECT(H5PartReadFileAttrib(f, "f4", &f4) == 0 && f4 == 0.5f && H5PartReadFileAttrib(f, "i4", &i4) == 0 &&
           i4 == -7);
    EXPECT(H5PartReadFileAttrib(f, "title", name) == 0 && strcmp(name, "a run") == 0);
    EXPECT(H5PartReadStepAttrib(f, "note", name) == 0 && strcmp(name, "with kinds") == 0);
    EXPECT(H5PartReadStepAttrib(f, "no such", name) == H5PART_ERR_HDF5);
    /* A file that is read is not written. */
    EXPECT(H5PartWriteDataFloat64(f, "x", x) == H5PART_ERR_INVAL);
    EXPECT(H5PartWriteFileAttribInt32(f, "no", 1) == H5PART_ERR_INVAL);
    EXPECT(H5PartCloseFile(f) == 0);
    EXPECT(H5PartCloseFile(f) == H5PART_ERR_BADFD && H5PartFileIsValid(f) == H5PART_ERR_BADFD);
    f = H5PartOpenFile("named.h5part", H5PART_READ);
    EXPECT(H5PartGetNumSteps(f) == 0 && H5PartDefineStepName(f, "Time", 5) == 0 && H5PartGetNumSteps(f) == 1);
    EXPECT(H5PartHasStep(f, 42) == 1 && H5PartSetStep(f, 42) == 0 && H5PartGetNumDatasets(f) == 3);
    EXPECT(H5PartCloseFile(f) == 0);
    char longer[81];
    memset(longer, 'n', 80);
    longer[80] = '\0';
    f = H5PartOpenFile("plain.h5part", H5PART_READ);
    EXPECT(H5PartSetStep(f, 7) == 0 && H5PartReadDataFloat64(f, longer, got) == 0); /* by the name it was written by */
    EXPECT(H5PartCloseFile(f) == 0);
}

static void codes(void) {
    EXPECT(H5PartOpenFile("missing.h5part", H5PART_READ) == NULL && told_code == H5PART_ERR_HDF5);
    EXPECT(H5PartOpenFile("main.h5part", 0) == NULL && told_code == H5PART_ERR_INVAL);
    EXPECT(H5PartOpenFile("no/such/folder/file", H5PART_WRITE) == NULL && told_code == H5PART_ERR_HDF5);
    EXPECT(H5PartSetStep(NULL, 0) == H5PART_ERR_BADFD && H5PartGetErrno() == H5PART_ERR_BADFD);
    EXPECT(H5PartGetNumSteps(NULL) == H5PART_ERR_BADFD);
    /* Storage that cannot be asked is told, and not taken for one without the file. */
    EXPECT(symlink("loop", "loop") == 0);
    EXPECT(H5PartOpenFile("loop/file.h5part", H5PART_APPEND) == NULL && strstr(told_text, "lstat") != NULL);
    EXPECT(unlink("loop") == 0);
    H5PartFile* f = H5PartOpenFile("codes.h5part", H5PART_WRITE);
    EXPECT(H5PartWriteDataFloat64(f, "x", x) == H5PART_ERR_BAD_VIEW);
    EXPECT(H5PartSetNumParticles(f, 0) == H5PART_ERR_INVAL && H5PartSetNumParticles(f, -1) == H5PART_ERR_INVAL);
    EXPECT(H5PartSetNumParticles(f, n) == 0 && H5PartWriteDataFloat64(f, "x", x) == H5PART_ERR_INVAL); /* no step */
    EXPECT(H5PartWriteStepAttribInt32(f, "a", 1) == H5PART_ERR_INVAL);
    EXPECT(H5PartSetStep(f, -1) == H5PART_ERR_INVAL && H5PartSetStep(f, 0) == 0);
    EXPECT(H5PartWriteFileAttrib(f, "a", (h5part_int64_t)H5T_NATIVE_SHORT, x, 1) == H5PART_ERR_NOTYPE);
    EXPECT(H5PartWriteDataFloat64(f, "a/b", x) == H5PART_ERR_HDF5 &&
           H5PartWriteDataFloat64(f, "", x) == H5PART_ERR_INVAL);
    EXPECT(H5PartHasView(f) == H5PART_ERR_INVAL && H5PartResetView(f) == H5PART_ERR_INVAL);
    H5PartFile* other = H5PartOpenFile("codes.h5part", H5PART_WRITE); /* twice at once */
    EXPECT(other == NULL && told_code == H5PART_ERR_INVAL && strstr(told_text, "Next:") != NULL);
    EXPECT(H5PartCloseFile(f) == 0);
    const int before = reported;
    EXPECT(H5PartSetErrorHandler(H5PartReportErrorHandler) == 0 && H5PartSetVerbosityLevel(H5PART_VERB_NONE) == 0);
    EXPECT(H5PartGetErrorHandler() == H5PartReportErrorHandler);
    EXPECT(H5PartGetNumSteps(NULL) == H5PART_ERR_BADFD && reported == before);
}

/* CUT: a file of another program, whose step name was cut to 56 characters, '#' and 6 digits. */
static void read_cut(const char* path) {
    char name[81];
    memset(name, 'n', 80);
    name[80] = '\0';
    H5PartFile* f = H5PartOpenFile(path, H5PART_READ);
    EXPECT(H5PartDefineStepName(f, name, 6) == 0 && H5PartGetNumSteps(f) == 1 && H5PartHasStep(f, 12) == 1);
    EXPECT(H5PartSetStep(f, 12) == 0 && H5PartGetNumParticles(f) == 20 && H5PartCloseFile(f) == 0);
}

/* FLAT: a file of another program, whose dataset has two dimensions. */
int main(int argc, char** argv) {
    EXPECT(H5PartSetErrorHandler(remember) == 0 && H5PartGetErrorHandler() == remember);
    write_main();
    write_others();
    write_views();
    append();
    read_main();
    if (argc > 1) read_flat(argv[1]);
    if (argc > 2) read_cut(argv[2]);
    no_room();
    codes();
    leave_open();
#ifndef H5PART_IS_FOREBAY
    ++failures; /* compiled with another H5Part */
#endif
    return failures != 0;
}
