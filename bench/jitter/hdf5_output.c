#include "hdf5_output.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

static hid_t create(const struct hdf5_output* output, const struct grid* grid, int64_t step) {
    char path[4096];
    if (!output->is_collective) {
        snprintf(path, sizeof path, "%s/step-%06lld-%04d.h5", output->folder, (long long)step, grid->rank);
        return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    }
    snprintf(path, sizeof path, "%s/step-%06lld.h5", output->folder, (long long)step);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    if (H5Pset_fapl_mpio(access, grid->comm, MPI_INFO_NULL) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

static int write_field(const struct hdf5_output* output, const struct grid* grid, hid_t file, int field) {
    hsize_t shape[3], first[3], size[3];
    for (int axis = 0; axis < 3; ++axis) {
        size[axis] = (hsize_t)grid->size[axis];
        shape[axis] = output->is_collective ? (hsize_t)grid->global[axis] : size[axis];
        first[axis] = output->is_collective ? (hsize_t)grid->first[axis] : 0;
    }
    const hid_t whole = H5Screate_simple(3, shape, NULL), part = H5Screate_simple(3, size, NULL);
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    const hid_t data =
        H5Dcreate2(file, field_names[field], H5T_NATIVE_FLOAT, whole, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int good = data >= 0 && H5Sselect_hyperslab(whole, H5S_SELECT_SET, first, NULL, size, NULL) >= 0;
    if (good && output->is_collective) good = H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE) >= 0;
    if (good) good = H5Dwrite(data, H5T_NATIVE_FLOAT, part, whole, transfer, output->packed) >= 0;
    if (data >= 0) good = H5Dclose(data) >= 0 && good;
    H5Pclose(transfer);
    H5Sclose(part);
    H5Sclose(whole);
    return good;
}

static int save(void* self, struct model* model, int64_t step, struct saved* saved) {
    struct hdf5_output* output = self;
    const hid_t file = create(output, model->grid, step);
    int good = file >= 0;
    for (int field = 0; good && field < FIELDS; ++field) {
        model_pack(model, field, output->packed);
        good = write_field(output, model->grid, file, field);
    }
    if (file >= 0) good = H5Fclose(file) >= 0 && good;
    if (!good) { /* HDF5 has printed why; the other ranks may be in a collective call */
        fprintf(stderr, "jitter_hdf5: step %lld was not written\n", (long long)step);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    saved->kept = 1;
    ++output->kept;
    output->newest = step;
    return good;
}

static int finish(void* self, struct totals* totals) {
    const struct hdf5_output* output = self;
    totals->kept = output->kept;
    totals->durable = output->newest;
    return 1;
}

int hdf5_output_open(struct hdf5_output* output, const struct grid* grid) {
    output->packed = malloc(grid_room(grid) * sizeof(float));
    output->kept = 0;
    output->newest = -1;
    return output->packed != NULL;
}

struct output hdf5_output_calls(struct hdf5_output* output) {
    const struct output calls = {output, save, finish};
    return calls;
}

void hdf5_output_close(struct hdf5_output* output) { free(output->packed); }
