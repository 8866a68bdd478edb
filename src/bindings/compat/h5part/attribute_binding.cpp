// The calls for attributes of the file and of the current step.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bindings/compat/h5part/file.hpp"
#include "core/base/try.hpp"

using namespace forebay;
using namespace forebay::h5part;

namespace {

enum class Of { file, step };

Result<std::string> group_of(const H5PartFile& file, Of of) {
    if (of == Of::file) return std::string();
    FB_TRY(need_step(file));
    return file.group;
}

bool is_stored(const H5PartFile& file, Of of) { return of == Of::file ? file.reader.has_value() : file.group_is_read; }

Result<std::vector<DatasetInfo>> attributes(H5PartFile& file, Of of) {
    FB_TRY_ASSIGN(group, group_of(file, of));
    std::vector<DatasetInfo> all;
    if (is_stored(file, of)) {
        FB_TRY_ASSIGN(stored, file.reader->attributes(group));
        all = std::move(stored);
    }
    if (file.writer() != nullptr)
        for (const auto& attribute : file.writer()->attributes(group))
            all.push_back({attribute.name, code_of(attribute.type), static_cast<std::int64_t>(attribute.count)});
    return all;
}

h5part_int64_t write(const char* function, H5PartFile* f, Of of, const char* name, h5part_int64_t type,
                     const void* value, h5part_int64_t nelem) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY(need_writer(*f));
        FB_TRY_ASSIGN(group, group_of(*f, of));
        FB_TRY_ASSIGN(attribute, make_attribute(name == nullptr ? "" : name, type, value, nelem));
        FB_TRY_ASSIGN(there, attributes(*f, of));
        // As H5Part does: each attribute is written once.
        if (std::ranges::find(there, attribute.name, &DatasetInfo::name) != there.end())
            return Error{
                ErrorKind::broken,
                fmt::format("attribute '{}' exists already. H5Part writes each attribute once.", attribute.name)};
        f->writer()->put_attribute(group, std::move(attribute));
        return H5PART_SUCCESS;
    });
}

h5part_int64_t count(const char* function, H5PartFile* f, Of of) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(all, attributes(*f, of));
        return static_cast<h5part_int64_t>(all.size());
    });
}

h5part_int64_t info(const char* function, H5PartFile* f, Of of, h5part_int64_t idx, char* name, h5part_int64_t maxlen,
                    h5part_int64_t* type, h5part_int64_t* nelem) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(all, attributes(*f, of));
        if (idx < 0 || static_cast<std::size_t>(idx) >= all.size())
            return Error{ErrorKind::broken, fmt::format("there are {} attributes, but no index {}.", all.size(), idx)};
        const auto& attribute = all[static_cast<std::size_t>(idx)];
        if (type != nullptr && attribute.type == 0)
            return Error{ErrorKind::unsupported,
                         fmt::format("attribute '{}' has a type that H5Part does not have.", attribute.name)};
        copy_name(attribute.name, name, maxlen);
        if (type != nullptr) *type = attribute.type;
        if (nelem != nullptr) *nelem = attribute.count;
        return H5PART_SUCCESS;
    });
}

h5part_int64_t read(const char* function, H5PartFile* f, Of of, const char* name, void* value) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        FB_TRY_ASSIGN(group, group_of(*f, of));
        if (name == nullptr || value == nullptr)
            return Error{ErrorKind::refused, "the attribute has no name, or its value has no address."};
        const auto* written = f->writer() == nullptr ? nullptr : f->writer()->attribute(group, name);
        if (written != nullptr) {
            const auto* text = reinterpret_cast<const char*>(written->value.data());
            const auto bytes = written->type.scalar == Scalar::string ? strnlen(text, written->value.size()) + 1
                                                                      : written->value.size();
            std::memcpy(value, written->value.data(), bytes);
            return H5PART_SUCCESS;
        }
        if (!is_stored(*f, of)) return no_attribute(name);
        FB_TRY(f->reader->read_attribute(group, name, value));
        return H5PART_SUCCESS;
    });
}

h5part_int64_t write_text(const char* function, H5PartFile* f, Of of, const char* name, const char* value) {
    const auto bytes = value == nullptr ? 0 : static_cast<h5part_int64_t>(std::strlen(value) + 1);
    return write(function, f, of, name, H5PART_STRING, value, bytes);
}

}  // namespace

extern "C" {

h5part_int64_t H5PartWriteFileAttrib(H5PartFile* f, const char* name, const h5part_int64_t type, const void* value,
                                     const h5part_int64_t nelem) {
    return write("H5PartWriteFileAttrib", f, Of::file, name, type, value, nelem);
}

h5part_int64_t H5PartWriteStepAttrib(H5PartFile* f, const char* name, const h5part_int64_t type, const void* value,
                                     const h5part_int64_t nelem) {
    return write("H5PartWriteStepAttrib", f, Of::step, name, type, value, nelem);
}

h5part_int64_t H5PartWriteFileAttribString(H5PartFile* f, const char* name, const char* value) {
    return write_text("H5PartWriteFileAttribString", f, Of::file, name, value);
}

h5part_int64_t H5PartWriteStepAttribString(H5PartFile* f, const char* name, const char* value) {
    return write_text("H5PartWriteStepAttribString", f, Of::step, name, value);
}

h5part_int64_t H5PartWriteFileAttribFloat64(H5PartFile* f, const char* name, const h5part_float64_t data) {
    return write("H5PartWriteFileAttribFloat64", f, Of::file, name, H5PART_FLOAT64, &data, 1);
}

h5part_int64_t H5PartWriteFileAttribFloat32(H5PartFile* f, const char* name, const h5part_float32_t data) {
    return write("H5PartWriteFileAttribFloat32", f, Of::file, name, H5PART_FLOAT32, &data, 1);
}

h5part_int64_t H5PartWriteFileAttribInt64(H5PartFile* f, const char* name, const h5part_int64_t data) {
    return write("H5PartWriteFileAttribInt64", f, Of::file, name, H5PART_INT64, &data, 1);
}

h5part_int64_t H5PartWriteFileAttribInt32(H5PartFile* f, const char* name, const h5part_int32_t data) {
    return write("H5PartWriteFileAttribInt32", f, Of::file, name, H5PART_INT32, &data, 1);
}

h5part_int64_t H5PartWriteStepAttribFloat64(H5PartFile* f, const char* name, const h5part_float64_t data) {
    return write("H5PartWriteStepAttribFloat64", f, Of::step, name, H5PART_FLOAT64, &data, 1);
}

h5part_int64_t H5PartWriteStepAttribFloat32(H5PartFile* f, const char* name, const h5part_float32_t data) {
    return write("H5PartWriteStepAttribFloat32", f, Of::step, name, H5PART_FLOAT32, &data, 1);
}

h5part_int64_t H5PartWriteStepAttribInt64(H5PartFile* f, const char* name, const h5part_int64_t data) {
    return write("H5PartWriteStepAttribInt64", f, Of::step, name, H5PART_INT64, &data, 1);
}

h5part_int64_t H5PartWriteStepAttribInt32(H5PartFile* f, const char* name, const h5part_int32_t data) {
    return write("H5PartWriteStepAttribInt32", f, Of::step, name, H5PART_INT32, &data, 1);
}

h5part_int64_t H5PartGetNumFileAttribs(H5PartFile* f) { return count("H5PartGetNumFileAttribs", f, Of::file); }

h5part_int64_t H5PartGetNumStepAttribs(H5PartFile* f) { return count("H5PartGetNumStepAttribs", f, Of::step); }

h5part_int64_t H5PartGetFileAttribInfo(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen,
                                       h5part_int64_t* type, h5part_int64_t* nelem) {
    return info("H5PartGetFileAttribInfo", f, Of::file, idx, name, maxlen, type, nelem);
}

h5part_int64_t H5PartGetStepAttribInfo(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen,
                                       h5part_int64_t* type, h5part_int64_t* nelem) {
    return info("H5PartGetStepAttribInfo", f, Of::step, idx, name, maxlen, type, nelem);
}

h5part_int64_t H5PartReadFileAttrib(H5PartFile* f, const char* name, void* value) {
    return read("H5PartReadFileAttrib", f, Of::file, name, value);
}

h5part_int64_t H5PartReadStepAttrib(H5PartFile* f, const char* name, void* value) {
    return read("H5PartReadStepAttrib", f, Of::step, name, value);
}

}  // extern "C"
