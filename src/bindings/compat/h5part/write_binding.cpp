// The calls that write steps and columns.

#include <fmt/format.h>

#include <algorithm>

#include "bindings/compat/h5part/file.hpp"
#include "core/base/try.hpp"

using namespace forebay;
using namespace forebay::h5part;

namespace {

// One character stays for the name: '#', the number and a NUL take the rest.
constexpr h5part_int64_t step_width_max = H5PART_STEPNAME_LEN - 3;

h5part_int64_t write(const char* function, H5PartFile* f, const char* name, Type type, const void* data) {
    if (is_open(f) && f->writing && !f->writer()->has_particles())
        return fail(function, H5PART_ERR_BAD_VIEW,
                    {ErrorKind::refused, "the number of particles is not set", "", "H5PartSetNumParticles"});
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY(need_writer(*f));
        FB_TRY(need_step(*f));
        if (name == nullptr || *name == '\0') return Error{ErrorKind::refused, "the dataset has no name."};
        if (std::string_view(name).find('/') != std::string_view::npos || std::string_view(name) == ".")
            return Error{ErrorKind::broken,
                         fmt::format("the dataset's name '{}' is a path, and HDF5 cannot use it as a name.", name)};
        FB_TRY(f->writer()->write(dataset_name(function, name), type, data, f->view));
        return H5PART_SUCCESS;
    });
}

Result<std::int64_t> first_row(H5PartFile& file, std::int64_t count) {
    if (auto* writer = file.writer()) return writer->set_particles(count);
    FB_TRY_ASSIGN(share, share_of(*file.ranks.world, count));
    return share.first;
}

// Sets each rank's part of the datasets, and its layout in memory, for the next writes and reads.
h5part_int64_t set_particles(const char* function, H5PartFile* f, h5part_int64_t count, h5part_int64_t stride) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        // If the call fails, later calls for data are refused: the old view would be wrong for the caller's arrays.
        f->view = RowsView::nowhere();
        // With several ranks the calls below refuse a negative count on all ranks: no rank may leave the others waiting
        // in them.
        if (count <= 0 && f->ranks.key.empty()) return refused_particles(count);
        if (stride < 1) warn(function, "a stride below 1 counts as 1.");
        FB_TRY_ASSIGN(first, first_row(*f, count));
        f->view = {.kind = RowsView::Kind::range,
                   .start = first,
                   .count = count,
                   .stride = static_cast<std::uint64_t>(std::max<h5part_int64_t>(stride, 1))};
        return H5PART_SUCCESS;
    });
}

}  // namespace

extern "C" {

h5part_int64_t H5PartDefineStepName(H5PartFile* f, const char* name, const h5part_int64_t width) {
    return with("H5PartDefineStepName", f, [&]() -> Result<h5part_int64_t> {
        if (name == nullptr || *name == '\0' || std::string_view(name).find('/') != std::string_view::npos ||
            width < 0 || width > step_width_max)
            return Error{ErrorKind::refused,
                         fmt::format("the step name '{}' of width {} is refused.", name == nullptr ? "" : name, width)};
        f->step_name = std::string(name).substr(0, static_cast<std::size_t>(step_width_max + 1 - width));
        f->step_width = width;
        if (f->step_name != name)
            warn("H5PartDefineStepName", fmt::format("the step name '{}' is cut to '{}': with '#' and a number of {} "
                                                     "digits it must have less than {} characters.",
                                                     name, f->step_name, width, H5PART_STEPNAME_LEN));
        return H5PART_SUCCESS;
    });
}

h5part_int64_t H5PartSetStep(H5PartFile* f, const h5part_int64_t step) {
    if (!is_open(f)) return with("H5PartSetStep", f, [] { return Result<h5part_int64_t>(0); });
    return set_step(*f, step, "H5PartSetStep");
}

h5part_int64_t H5PartSetNumParticles(H5PartFile* f, const h5part_int64_t nparticles) {
    return set_particles("H5PartSetNumParticles", f, nparticles, 1);
}

h5part_int64_t H5PartSetNumParticlesStrided(H5PartFile* f, const h5part_int64_t nparticles,
                                            const h5part_int64_t stride) {
    return set_particles("H5PartSetNumParticlesStrided", f, nparticles, stride);
}

// Chunks are for files that grow and shrink. Here each dataset is laid out once, contiguous.
h5part_int64_t H5PartSetChunkSize(H5PartFile* f, const h5part_int64_t size) {
    return with("H5PartSetChunkSize", f, [&]() -> Result<h5part_int64_t> {
        if (size <= 0) return Error{ErrorKind::refused, fmt::format("the chunk size {} is refused.", size)};
        warn("H5PartSetChunkSize", "datasets are contiguous, so the chunk size is ignored.");
        return H5PART_SUCCESS;
    });
}

h5part_int64_t H5PartWriteDataFloat64(H5PartFile* f, const char* name, const h5part_float64_t* array) {
    return write("H5PartWriteDataFloat64", f, name, f64, array);
}

h5part_int64_t H5PartWriteDataFloat32(H5PartFile* f, const char* name, const h5part_float32_t* array) {
    return write("H5PartWriteDataFloat32", f, name, f32, array);
}

h5part_int64_t H5PartWriteDataInt64(H5PartFile* f, const char* name, const h5part_int64_t* array) {
    return write("H5PartWriteDataInt64", f, name, i64, array);
}

h5part_int64_t H5PartWriteDataInt32(H5PartFile* f, const char* name, const h5part_int32_t* array) {
    return write("H5PartWriteDataInt32", f, name, i32, array);
}

// Ranks do not write to storage themselves, and the reads of a rank wait for no other rank.
h5part_int64_t H5PartSetThrottle(H5PartFile* f, int factor) {
    return with("H5PartSetThrottle", f, [&]() -> Result<h5part_int64_t> {
        if (factor < 0) return Error{ErrorKind::refused, fmt::format("the throttle {} is refused.", factor)};
        warn("H5PartSetThrottle", "there is nothing to throttle. See rate_bytes_per_second in the configuration.");
        return H5PART_SUCCESS;
    });
}

}  // extern "C"
