// The calls that list contents, set a view, and read.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bindings/compat/h5part/file.hpp"
#include "core/base/try.hpp"

using namespace forebay;
using namespace forebay::h5part;

namespace {

bool has_view(const H5PartFile& file) { return file.view.kind != RowsView::Kind::none; }

// As in H5Part: calls that need a step use step 0 if none was set.
Result<> some_step(H5PartFile& file, const char* function) {
    if (!file.group.empty()) return {};
    if (set_step(file, 0, function) == H5PART_SUCCESS) return {};
    return Error{ErrorKind::broken, fmt::format("{} has no step 0, and no other step was set.", file.path)};
}

/// All particles of the step, independent of the view.
Result<std::int64_t> all_particles(H5PartFile& file) {
    FB_TRY_ASSIGN(list, datasets(file));
    if (!list.empty()) return list.front().count;
    return file.writer() != nullptr ? file.writer()->all_particles() : std::int64_t{0};
}

Result<std::int64_t> particles(H5PartFile& file) {
    if (file.view.kind == RowsView::Kind::range) return file.view.count;
    if (file.view.kind == RowsView::Kind::points) return static_cast<std::int64_t>(file.view.points.size());
    return all_particles(file);
}

Result<> need_reading(const H5PartFile& file) {
    if (!file.writing) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} is open for writing, but the call needs a file open for reading", file.path), "",
                 "to end a view, call H5PartSetNumParticles"};
}

h5part_int64_t read(const char* function, H5PartFile* f, const char* name, hid_t type, void* to) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY(some_step(*f, function));
        if (name == nullptr) return Error{ErrorKind::refused, "the dataset has no name."};
        if (!f->group_is_read)
            return Error{
                ErrorKind::refused,
                fmt::format("step '{}' is being written. Close {} and open it again to read it.", f->group, f->path)};
        std::string note;
        FB_TRY(f->reader->read(f->group, dataset_name(function, name), type, f->view, to, note));
        if (!note.empty()) warn(function, fmt::format("'{}': {}", name, note));
        return H5PART_SUCCESS;
    });
}

h5part_int64_t dataset_info(const char* function, H5PartFile* f, h5part_int64_t idx, char* name, h5part_int64_t maxlen,
                            h5part_int64_t* type, h5part_int64_t* nelem) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(list, datasets(*f));
        if (idx < 0 || static_cast<std::size_t>(idx) >= list.size())
            return Error{ErrorKind::missing,
                         fmt::format("'{}' has {} datasets, but no index {}.", f->group, list.size(), idx)};
        const auto& dataset = list[static_cast<std::size_t>(idx)];
        if (type != nullptr && dataset.type == 0)
            return Error{ErrorKind::unsupported,
                         fmt::format("'{}' has a type that H5Part does not have.", dataset.name)};
        copy_name(dataset.name, name, maxlen);
        if (type != nullptr) *type = dataset.type;
        if (nelem != nullptr) *nelem = dataset.count;
        return H5PART_SUCCESS;
    });
}

}  // namespace

extern "C" {

h5part_int64_t H5PartHasStep(H5PartFile* f, const h5part_int64_t step) {
    return with("H5PartHasStep", f, [&]() -> Result<h5part_int64_t> {
        const auto group = f->group_of(step);
        if (f->writer() != nullptr && f->writer()->groups().contains(group)) return h5part_int64_t{1};
        if (!f->reader) return h5part_int64_t{0};
        FB_TRY_ASSIGN(has_group, f->reader->has_group(group));
        return h5part_int64_t{has_group ? 1 : 0};
    });
}

h5part_int64_t H5PartGetNumSteps(H5PartFile* f) {
    return with("H5PartGetNumSteps", f, [&]() -> Result<h5part_int64_t> {
        std::set<std::string> all;
        if (f->reader) {
            FB_TRY_ASSIGN(stored, f->reader->groups(f->step_name));
            all.insert(stored.begin(), stored.end());
        }
        if (f->writer() != nullptr)
            for (const auto& group : f->writer()->groups())
                if (group.starts_with(f->step_name)) all.insert(group);
        return static_cast<h5part_int64_t>(all.size());
    });
}

h5part_int64_t H5PartGetNumDatasets(H5PartFile* f) {
    return with("H5PartGetNumDatasets", f, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(list, datasets(*f));
        return static_cast<h5part_int64_t>(list.size());
    });
}

h5part_int64_t H5PartGetDatasetName(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen) {
    return dataset_info("H5PartGetDatasetName", f, idx, name, maxlen, nullptr, nullptr);
}

h5part_int64_t H5PartGetDatasetInfo(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen,
                                    h5part_int64_t* type, h5part_int64_t* nelem) {
    return dataset_info("H5PartGetDatasetInfo", f, idx, name, maxlen, type, nelem);
}

h5part_int64_t H5PartGetNumParticles(H5PartFile* f) {
    return with("H5PartGetNumParticles", f, [&]() -> Result<h5part_int64_t> {
        FB_TRY(some_step(*f, "H5PartGetNumParticles"));
        return particles(*f);
    });
}

h5part_int64_t H5PartSetView(H5PartFile* f, const h5part_int64_t start, const h5part_int64_t end) {
    return with("H5PartSetView", f, [&]() -> Result<h5part_int64_t> {
        f->view = RowsView::nowhere();
        FB_TRY(some_step(*f, "H5PartSetView"));
        FB_TRY_ASSIGN(all, all_particles(*f));
        if (all == 0 || (start == -1 && end == -1)) {
            f->view = {};
            return H5PART_SUCCESS;
        }
        // -1 stands for the beginning, and below for the end.
        const auto first = start == -1 ? 0 : start;
        auto last = end == -1 ? all - 1 : std::min(end, std::numeric_limits<h5part_int64_t>::max() - 1);
        if (first < 0) return Error{ErrorKind::broken, fmt::format("the view begins at {}.", first)};
        if (last < first) {
            warn("H5PartSetView", fmt::format("the view's end {} is less than its start {}.", last, first));
            last = first;
        }
        // As in H5Part, a view that passes the end of a dataset is refused only when data are read or written.
        f->view = {.kind = RowsView::Kind::range, .start = first, .count = last - first + 1};
        return H5PART_SUCCESS;
    });
}

h5part_int64_t H5PartSetViewIndices(H5PartFile* f, const h5part_int64_t* indices, h5part_int64_t nelems) {
    return with("H5PartSetViewIndices", f, [&]() -> Result<h5part_int64_t> {
        f->view = RowsView::nowhere();
        FB_TRY(some_step(*f, "H5PartSetViewIndices"));
        FB_TRY_ASSIGN(all, all_particles(*f));
        f->view = {};
        if (all == 0 || indices == nullptr || nelems < 0) return H5PART_SUCCESS;
        f->view.kind = RowsView::Kind::points;
        f->view.points.assign(indices, indices + nelems);
        return H5PART_SUCCESS;
    });
}

h5part_int64_t H5PartGetView(H5PartFile* f, h5part_int64_t* start, h5part_int64_t* end) {
    return with("H5PartGetView", f, [&]() -> Result<h5part_int64_t> {
        if (f->view.kind == RowsView::Kind::points)
            return Error{ErrorKind::refused, "the view is a list of indices, without start and end."};
        FB_TRY(some_step(*f, "H5PartGetView"));
        FB_TRY_ASSIGN(count, particles(*f));
        const auto first = has_view(*f) ? f->view.start : 0;
        if (start != nullptr) *start = first;
        if (end != nullptr) *end = first + count - 1;
        return count;
    });
}

h5part_int64_t H5PartHasView(H5PartFile* f) {
    return with("H5PartHasView", f, [&]() -> Result<h5part_int64_t> {
        FB_TRY(need_reading(*f));
        return h5part_int64_t{has_view(*f) ? 1 : 0};
    });
}

h5part_int64_t H5PartResetView(H5PartFile* f) {
    return with("H5PartResetView", f, [&]() -> Result<h5part_int64_t> {
        FB_TRY(need_reading(*f));
        f->view = {};
        return H5PART_SUCCESS;
    });
}

// H5Part gives each rank N / ranks and drops the rest. Here the first ranks have one more.
h5part_int64_t H5PartSetCanonicalView(H5PartFile* f) {
    return with("H5PartSetCanonicalView", f, [&]() -> Result<h5part_int64_t> {
        f->view = {};
        if (f->ranks.key.empty()) return H5PART_SUCCESS;
        f->view = RowsView::nowhere();
        FB_TRY(some_step(*f, "H5PartSetCanonicalView"));
        FB_TRY_ASSIGN(all, all_particles(*f));
        const std::int64_t rank = f->ranks.world->rank(), ranks = f->ranks.world->size();
        const auto share = all / ranks, rest = all % ranks;
        f->view = {.kind = RowsView::Kind::range,
                   .start = rank * share + std::min(rank, rest),
                   .count = share + (rank < rest ? 1 : 0)};
        return H5PART_SUCCESS;
    });
}

h5part_int64_t H5PartReadDataFloat64(H5PartFile* f, const char* name, h5part_float64_t* array) {
    return read("H5PartReadDataFloat64", f, name, H5T_NATIVE_DOUBLE, array);
}

h5part_int64_t H5PartReadDataFloat32(H5PartFile* f, const char* name, h5part_float32_t* array) {
    return read("H5PartReadDataFloat32", f, name, H5T_NATIVE_FLOAT, array);
}

h5part_int64_t H5PartReadDataInt64(H5PartFile* f, const char* name, h5part_int64_t* array) {
    return read("H5PartReadDataInt64", f, name, H5T_NATIVE_INT64, array);
}

h5part_int64_t H5PartReadDataInt32(H5PartFile* f, const char* name, h5part_int32_t* array) {
    return read("H5PartReadDataInt32", f, name, H5T_NATIVE_INT32, array);
}

h5part_int64_t H5PartReadParticleStep(H5PartFile* f, const h5part_int64_t step, h5part_float64_t* x,
                                      h5part_float64_t* y, h5part_float64_t* z, h5part_float64_t* px,
                                      h5part_float64_t* py, h5part_float64_t* pz, h5part_int64_t* id) {
    auto answer = H5PartSetStep(f, step);
    const std::pair<const char*, h5part_float64_t*> columns[] = {{"x", x},   {"y", y},   {"z", z},
                                                                 {"px", px}, {"py", py}, {"pz", pz}};
    for (const auto& [name, to] : columns)
        if (answer == H5PART_SUCCESS) answer = H5PartReadDataFloat64(f, name, to);
    return answer == H5PART_SUCCESS ? H5PartReadDataInt64(f, "id", id) : answer;
}

}  // extern "C"
