// The calls of Fortran 77, under the names of its compilers. As in H5Part, steps and the bounds of h5pt_setview count
// from 1, all else from 0.

#include <fmt/format.h>

#include "bindings/compat/h5part/file.hpp"
#include "bindings/compat/h5part/fortran_text.hpp"
#include "core/base/try.hpp"

using namespace forebay;
using namespace forebay::h5part;

namespace {

// A text longer than its variable is cut, not written past the variable's end.
h5part_int64_t read_text(const char* function, H5PartFile* f, bool of_step, const std::string& name, char* value,
                         std::size_t length) {
    return with(function, f, [&]() -> Result<h5part_int64_t> {
        if (of_step) FB_TRY(need_step(*f));
        const auto group = of_step ? f->group : std::string();
        const auto* written = f->writer() == nullptr ? nullptr : f->writer()->attribute(group, name);
        if (written != nullptr) {
            const auto* text = reinterpret_cast<const char*>(written->value.data());
            pad({text, strnlen(text, written->value.size())}, value, length);
            return H5PART_SUCCESS;
        }
        if (of_step ? !f->group_is_read : !f->reader.has_value()) return no_attribute(name);
        FB_TRY_ASSIGN(text, f->reader->read_text(group, name));
        pad(text, value, length);
        return H5PART_SUCCESS;
    });
}

}  // namespace

extern "C" {

h5part_int64_t h5pt_openr_(const char* name, std::size_t length) {
    return handle_of(H5PartOpenFile(text_of(name, length).c_str(), H5PART_READ));
}

h5part_int64_t h5pt_openw_(const char* name, std::size_t length) {
    return handle_of(H5PartOpenFile(text_of(name, length).c_str(), H5PART_WRITE));
}

h5part_int64_t h5pt_opena_(const char* name, std::size_t length) {
    return handle_of(H5PartOpenFile(text_of(name, length).c_str(), H5PART_APPEND));
}

h5part_int64_t h5pt_openr_align_(const char* name, const h5part_int64_t* align, std::size_t length) {
    return handle_of(H5PartOpenFileAlign(text_of(name, length).c_str(), H5PART_READ, *align));
}

h5part_int64_t h5pt_openw_align_(const char* name, const h5part_int64_t* align, std::size_t length) {
    return handle_of(H5PartOpenFileAlign(text_of(name, length).c_str(), H5PART_WRITE, *align));
}

h5part_int64_t h5pt_opena_align_(const char* name, const h5part_int64_t* align, std::size_t length) {
    return handle_of(H5PartOpenFileAlign(text_of(name, length).c_str(), H5PART_APPEND, *align));
}

h5part_int64_t h5pt_close_(const h5part_int64_t* f) { return H5PartCloseFile(file_of(f)); }

h5part_int64_t h5pt_setnpoints_(const h5part_int64_t* f, const h5part_int64_t* count) {
    return H5PartSetNumParticles(file_of(f), *count);
}

h5part_int64_t h5pt_setnpoints_strided_(const h5part_int64_t* f, const h5part_int64_t* count,
                                        const h5part_int64_t* stride) {
    return H5PartSetNumParticlesStrided(file_of(f), *count, *stride);
}

h5part_int64_t h5pt_setstep_(const h5part_int64_t* f, const h5part_int64_t* step) {
    return H5PartSetStep(file_of(f), *step - 1);
}

h5part_int64_t h5pt_getnsteps_(const h5part_int64_t* f) { return H5PartGetNumSteps(file_of(f)); }

h5part_int64_t h5pt_getndatasets_(const h5part_int64_t* f) { return H5PartGetNumDatasets(file_of(f)); }

h5part_int64_t h5pt_getnpoints_(const h5part_int64_t* f) { return H5PartGetNumParticles(file_of(f)); }

h5part_int64_t h5pt_getdatasetname_(const h5part_int64_t* f, const h5part_int64_t* index, char* name,
                                    std::size_t length) {
    std::string text(length + 1, '\0');
    const auto answer = H5PartGetDatasetName(file_of(f), *index, text.data(), static_cast<h5part_int64_t>(text.size()));
    pad(text.c_str(), name, length);
    return answer;
}

h5part_int64_t h5pt_setview_(const h5part_int64_t* f, const h5part_int64_t* start, const h5part_int64_t* end) {
    return H5PartSetView(file_of(f), *start - 1, *end - 1);
}

h5part_int64_t h5pt_setview_indices_(const h5part_int64_t* f, const h5part_int64_t* indices,
                                     const h5part_int64_t* count) {
    return H5PartSetViewIndices(file_of(f), indices, *count);
}

h5part_int64_t h5pt_resetview_(const h5part_int64_t* f) { return H5PartResetView(file_of(f)); }

h5part_int64_t h5pt_hasview_(const h5part_int64_t* f) { return H5PartHasView(file_of(f)); }

h5part_int64_t h5pt_getview_(const h5part_int64_t* f, h5part_int64_t* start, h5part_int64_t* end) {
    return H5PartGetView(file_of(f), start, end);
}

h5part_int64_t h5pt_readstep_(const h5part_int64_t* f, const h5part_int64_t* step, h5part_float64_t* x,
                              h5part_float64_t* y, h5part_float64_t* z, h5part_float64_t* px, h5part_float64_t* py,
                              h5part_float64_t* pz, h5part_int64_t* id) {
    return H5PartReadParticleStep(file_of(f), *step - 1, x, y, z, px, py, pz, id);
}

h5part_int64_t h5pt_set_verbosity_level_(const h5part_int64_t* level) { return H5PartSetVerbosityLevel(*level); }

h5part_int64_t h5pt_writedata_r8_(const h5part_int64_t* f, const char* name, const h5part_float64_t* data,
                                  std::size_t length) {
    return H5PartWriteDataFloat64(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_readdata_r8_(const h5part_int64_t* f, const char* name, h5part_float64_t* data,
                                 std::size_t length) {
    return H5PartReadDataFloat64(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writedata_r4_(const h5part_int64_t* f, const char* name, const h5part_float32_t* data,
                                  std::size_t length) {
    return H5PartWriteDataFloat32(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_readdata_r4_(const h5part_int64_t* f, const char* name, h5part_float32_t* data,
                                 std::size_t length) {
    return H5PartReadDataFloat32(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writedata_i8_(const h5part_int64_t* f, const char* name, const h5part_int64_t* data,
                                  std::size_t length) {
    return H5PartWriteDataInt64(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_readdata_i8_(const h5part_int64_t* f, const char* name, h5part_int64_t* data, std::size_t length) {
    return H5PartReadDataInt64(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writedata_i4_(const h5part_int64_t* f, const char* name, const h5part_int32_t* data,
                                  std::size_t length) {
    return H5PartWriteDataInt32(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_readdata_i4_(const h5part_int64_t* f, const char* name, h5part_int32_t* data, std::size_t length) {
    return H5PartReadDataInt32(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_getnfileattribs_(const h5part_int64_t* f) { return H5PartGetNumFileAttribs(file_of(f)); }

h5part_int64_t h5pt_getfileattribinfo_(const h5part_int64_t* f, const h5part_int64_t* index, char* name,
                                       h5part_int64_t* count, std::size_t length) {
    std::string text(length + 1, '\0');
    const auto answer = H5PartGetFileAttribInfo(file_of(f), *index, text.data(),
                                                static_cast<h5part_int64_t>(text.size()), nullptr, count);
    pad(text.c_str(), name, length);
    return answer;
}

h5part_int64_t h5pt_writefileattrib_string_(const h5part_int64_t* f, const char* name, const char* value,
                                            std::size_t name_length, std::size_t value_length) {
    return H5PartWriteFileAttribString(file_of(f), text_of(name, name_length).c_str(),
                                       text_of(value, value_length).c_str());
}

h5part_int64_t h5pt_readfileattrib_string_(const h5part_int64_t* f, const char* name, char* value,
                                           std::size_t name_length, std::size_t value_length) {
    return read_text("H5PartReadFileAttrib", file_of(f), false, text_of(name, name_length), value, value_length);
}

h5part_int64_t h5pt_writefileattrib_r8_(const h5part_int64_t* f, const char* name, const h5part_float64_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteFileAttrib(file_of(f), text_of(name, length).c_str(), H5PART_FLOAT64, data, *count);
}

h5part_int64_t h5pt_readfileattrib_r8_(const h5part_int64_t* f, const char* name, h5part_float64_t* data,
                                       std::size_t length) {
    return H5PartReadFileAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writefileattrib_r4_(const h5part_int64_t* f, const char* name, const h5part_float32_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteFileAttrib(file_of(f), text_of(name, length).c_str(), H5PART_FLOAT32, data, *count);
}

h5part_int64_t h5pt_readfileattrib_r4_(const h5part_int64_t* f, const char* name, h5part_float32_t* data,
                                       std::size_t length) {
    return H5PartReadFileAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writefileattrib_i8_(const h5part_int64_t* f, const char* name, const h5part_int64_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteFileAttrib(file_of(f), text_of(name, length).c_str(), H5PART_INT64, data, *count);
}

h5part_int64_t h5pt_readfileattrib_i8_(const h5part_int64_t* f, const char* name, h5part_int64_t* data,
                                       std::size_t length) {
    return H5PartReadFileAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writefileattrib_i4_(const h5part_int64_t* f, const char* name, const h5part_int32_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteFileAttrib(file_of(f), text_of(name, length).c_str(), H5PART_INT32, data, *count);
}

h5part_int64_t h5pt_readfileattrib_i4_(const h5part_int64_t* f, const char* name, h5part_int32_t* data,
                                       std::size_t length) {
    return H5PartReadFileAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_getnstepattribs_(const h5part_int64_t* f) { return H5PartGetNumStepAttribs(file_of(f)); }

h5part_int64_t h5pt_getstepattribinfo_(const h5part_int64_t* f, const h5part_int64_t* index, char* name,
                                       h5part_int64_t* count, std::size_t length) {
    std::string text(length + 1, '\0');
    const auto answer = H5PartGetStepAttribInfo(file_of(f), *index, text.data(),
                                                static_cast<h5part_int64_t>(text.size()), nullptr, count);
    pad(text.c_str(), name, length);
    return answer;
}

h5part_int64_t h5pt_writestepattrib_string_(const h5part_int64_t* f, const char* name, const char* value,
                                            std::size_t name_length, std::size_t value_length) {
    return H5PartWriteStepAttribString(file_of(f), text_of(name, name_length).c_str(),
                                       text_of(value, value_length).c_str());
}

h5part_int64_t h5pt_readstepattrib_string_(const h5part_int64_t* f, const char* name, char* value,
                                           std::size_t name_length, std::size_t value_length) {
    return read_text("H5PartReadStepAttrib", file_of(f), true, text_of(name, name_length), value, value_length);
}

h5part_int64_t h5pt_writestepattrib_r8_(const h5part_int64_t* f, const char* name, const h5part_float64_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteStepAttrib(file_of(f), text_of(name, length).c_str(), H5PART_FLOAT64, data, *count);
}

h5part_int64_t h5pt_readstepattrib_r8_(const h5part_int64_t* f, const char* name, h5part_float64_t* data,
                                       std::size_t length) {
    return H5PartReadStepAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writestepattrib_r4_(const h5part_int64_t* f, const char* name, const h5part_float32_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteStepAttrib(file_of(f), text_of(name, length).c_str(), H5PART_FLOAT32, data, *count);
}

h5part_int64_t h5pt_readstepattrib_r4_(const h5part_int64_t* f, const char* name, h5part_float32_t* data,
                                       std::size_t length) {
    return H5PartReadStepAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writestepattrib_i8_(const h5part_int64_t* f, const char* name, const h5part_int64_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteStepAttrib(file_of(f), text_of(name, length).c_str(), H5PART_INT64, data, *count);
}

h5part_int64_t h5pt_readstepattrib_i8_(const h5part_int64_t* f, const char* name, h5part_int64_t* data,
                                       std::size_t length) {
    return H5PartReadStepAttrib(file_of(f), text_of(name, length).c_str(), data);
}

h5part_int64_t h5pt_writestepattrib_i4_(const h5part_int64_t* f, const char* name, const h5part_int32_t* data,
                                        const h5part_int64_t* count, std::size_t length) {
    return H5PartWriteStepAttrib(file_of(f), text_of(name, length).c_str(), H5PART_INT32, data, *count);
}

h5part_int64_t h5pt_readstepattrib_i4_(const h5part_int64_t* f, const char* name, h5part_int32_t* data,
                                       std::size_t length) {
    return H5PartReadStepAttrib(file_of(f), text_of(name, length).c_str(), data);
}

}  // extern "C"
