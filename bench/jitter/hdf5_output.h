/* The fields into HDF5 files, as atmosphere codes write them: one file a process and step, or one for all ranks. */

#ifndef JITTER_HDF5_OUTPUT_H
#define JITTER_HDF5_OUTPUT_H

#include "output.h"

struct hdf5_output {
    const char* folder;
    int is_collective;
    float* packed; /* one field without its halo, as these codes gather it before they write */
    uint64_t kept;
    int64_t newest;
};

/* `output` is to be filled but for folder and is_collective; 0 without memory. */
int hdf5_output_open(struct hdf5_output* output, const struct grid* grid);
struct output hdf5_output_calls(struct hdf5_output* output);
void hdf5_output_close(struct hdf5_output* output);

#endif
