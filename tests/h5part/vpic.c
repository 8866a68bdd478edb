/* A particle code as it writes by H5Part: arrays of structs of eight 4-byte fields, counts that differ by up to 15 % a
   rank and grow from step to step, some ranks without any. vpic write|again|append FILE STEPS, vpic read FILE STEPS,
   vpic refused FILE 0.
   Nothing here knows of Forebay. */

#define PARALLEL_IO
#include <H5Block.h>
#include <H5Part.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    float dX, dY, dZ;
    int i;
    float Ux, Uy, Uz, q;
} particle;

static int rank, ranks, failures;

static void expect(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    ++failures;
}

static h5part_int64_t count_of(int of_rank, int step) {
    if (of_rank == 3) return step == 0 ? 0 : 40;
    return 1000 + (150 * of_rank) / (ranks > 1 ? ranks - 1 : 1) + 7 * step;
}

static h5part_int64_t first_of(int of_rank, int step) {
    h5part_int64_t first = 0;
    for (int r = 0; r < of_rank; ++r) first += count_of(r, step);
    return first;
}

/* Every value follows from the global index and the step. */
static particle particle_at(h5part_int64_t index, int step) {
    const float base = (float)(index % 100000) + 0.25f * (float)step;
    const particle value = {base, base + 1, base + 2, (int)index * 10 + step, -base, -base - 1, -base - 2, base * 2};
    return value;
}

static void write_step(H5PartFile* file, int step, int number) {
    static particle particles[8192];
    const h5part_int64_t np = count_of(rank, step), first = first_of(rank, step);
    for (h5part_int64_t p = 0; p < np; ++p) particles[p] = particle_at(first + p, step);
    h5part_int64_t bad = 0;
    bad |= H5PartSetStep(file, number);
    bad |= H5PartSetNumParticlesStrided(file, np, 8);
    bad |= H5PartWriteDataFloat32(file, "dX", &particles->dX);
    bad |= H5PartWriteDataFloat32(file, "dY", &particles->dY);
    bad |= H5PartWriteDataFloat32(file, "dZ", &particles->dZ);
    bad |= H5PartWriteDataInt32(file, "i", &particles->i);
    bad |= H5PartWriteDataFloat32(file, "Ux", &particles->Ux);
    bad |= H5PartWriteDataFloat32(file, "Uy", &particles->Uy);
    bad |= H5PartWriteDataFloat32(file, "Uz", &particles->Uz);
    bad |= H5PartWriteDataFloat32(file, "q", &particles->q);
    expect(bad == 0, "a call that writes failed");
    memset(particles, 0xff, sizeof particles); /* the buffer is ours again */
}

static void write_file(const char* name, int steps, char mode, int from) {
    H5PartFile* file = H5PartOpenFileParallel(name, mode | H5PART_FS_LUSTRE, MPI_COMM_WORLD);
    expect(file != NULL, "the file did not open");
    if (file == NULL) return;
    for (int step = from; step < from + steps; ++step) write_step(file, step, 10 * step);
    expect(H5PartCloseFile(file) == 0, "the file did not close");
}

static void read_file(const char* name, int steps, int writers) {
    static float dX[40000];
    static int i[40000];
    H5PartFile* file = H5PartOpenFileParallel(name, H5PART_READ, MPI_COMM_WORLD);
    expect(file != NULL, "the file did not open for reading");
    if (file == NULL) return;
    const int readers = ranks, reader = rank;
    expect(H5PartGetNumSteps(file) == steps, "the number of steps");
    for (int step = 0; step < steps; ++step) {
        expect(H5PartSetStep(file, 10 * step) == 0, "the step is not there");
        ranks = writers;
        const h5part_int64_t all = first_of(writers, step);
        ranks = readers;
        expect(H5PartGetNumDatasets(file) == 8, "the number of datasets");
        expect(H5PartSetView(file, -1, -1) == 0 && H5PartGetNumParticles(file) == all, "the number of particles");
        expect(H5PartSetCanonicalView(file) == 0, "no canonical view");
        const h5part_int64_t share = all / readers, rest = all % readers;
        const h5part_int64_t n = share + (reader < rest), first = reader * share + (reader < rest ? reader : rest);
        expect(H5PartGetNumParticles(file) == n, "the size of the canonical view");
        /* A rank that reads less often than the others keeps nobody waiting. */
        if (reader != 1) expect(H5PartReadDataFloat32(file, "dX", dX) == 0, "reading dX");
        expect(H5PartReadDataInt32(file, "i", i) == 0, "reading i");
        for (h5part_int64_t p = 0; p < n; ++p) {
            const particle value = particle_at(first + p, step);
            if ((reader != 1 && dX[p] != value.dX) || i[p] != value.i) {
                expect(0, "a value differs");
                break;
            }
        }
    }
    expect(H5PartCloseFile(file) == 0, "the reader did not close");
}

/* What is wrong on one rank is refused on all, and keeps nobody waiting. */
static void refuse(const char* name) {
    const h5part_int64_t wrong = rank == ranks - 1 ? -1 : 1;
    const int value = rank;
    int got = -1;
    H5PartFile* file = H5PartOpenFileParallel(name, H5PART_WRITE, MPI_COMM_WORLD);
    expect(file != NULL && H5PartSetStep(file, 0) == 0, "the file did not open");
    expect(H5PartSetNumParticles(file, wrong) == H5PART_ERR_INVAL, "a writer's negative number");
    expect(H5PartSetNumParticles(file, 1) == 0 && H5PartWriteDataInt32(file, "i", &value) == 0, "the next call");
    expect(H5PartCloseFile(file) == 0, "the file did not close");
    file = H5PartOpenFileParallel(name, H5PART_READ, MPI_COMM_WORLD);
    expect(H5PartSetStep(file, 0) == 0, "the step");
    expect(H5PartSetNumParticles(file, wrong) == H5PART_ERR_INVAL, "a reader's negative number");
    expect(H5PartSetNumParticles(file, 1) == 0 && H5PartReadDataInt32(file, "i", &got) == 0 && got == rank, "its own");
    expect(H5PartCloseFile(file) == 0, "the reader did not close");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    H5PartSetVerbosityLevel(H5PART_VERB_WARN);
    const char *what = argv[1], *name = argv[2];
    const int steps = atoi(argv[3]);
    if (strcmp(what, "write") == 0) write_file(name, steps, H5PART_WRITE, 0);
    if (strcmp(what, "append") == 0) write_file(name, steps, H5PART_APPEND, atoi(argv[4]));
    if (strcmp(what, "read") == 0) read_file(name, steps, atoi(argv[4]));
    if (strcmp(what, "refused") == 0) refuse(name);
    if (strcmp(what, "again") == 0) { /* read what was just written, and a file a step */
        write_file(name, steps, H5PART_WRITE, 0);
        read_file(name, steps, ranks);
        for (int step = 0; step < steps; ++step) {
            char own[512];
            snprintf(own, sizeof own, "%s-%d", name, step);
            write_file(own, 1, H5PART_WRITE, 0);
        }
    }
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
