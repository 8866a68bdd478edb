// The calls of H5Block and H5MultiBlock, for C and for Fortran 77. Each is refused. The lists that declare them define
// them too.

#include <forebay/h5part/H5MultiBlock.h>

#include "bindings/compat/h5part/report.hpp"

using namespace forebay;
using namespace forebay::h5part;

namespace {

h5part_int64_t refuse_block(const char* call) {
    const Error error{ErrorKind::unsupported,
                      "fields on blocks of a grid cannot be written or read: H5Part files hold only particles here",
                      "the particles and attributes of the file",
                      "save the field as an array with Forebay's own calls (forebay.h, docs/reference/c.md), which "
                      "work beside the H5Part calls. Or write it with HDF5 to another file"};
    return fail(call, code_of(error.kind), error);
}

}  // namespace

#define REFUSED(name, parameters) \
    h5part_int64_t name parameters { return refuse_block(#name); }

// Fortran passes the handle first and all other arguments after it, by address. They are ignored.
#define REFUSED_IN_FORTRAN(name) \
    h5part_int64_t name##_(const h5part_int64_t*) { return refuse_block(#name); }
#define REFUSED_IN_FORTRAN_OF(kind)                         \
    REFUSED_IN_FORTRAN(h5bl_3d_write_scalar_field_##kind)   \
    REFUSED_IN_FORTRAN(h5bl_3d_read_scalar_field_##kind)    \
    REFUSED_IN_FORTRAN(h5bl_3d_write_3dvector_field_##kind) \
    REFUSED_IN_FORTRAN(h5bl_3d_read_3dvector_field_##kind)  \
    REFUSED_IN_FORTRAN(h5bl_writefieldattrib_##kind)

extern "C" {

FOREBAY_H5BLOCK_CALLS(REFUSED)
FOREBAY_H5MULTIBLOCK_CALLS(REFUSED)

REFUSED_IN_FORTRAN(h5bl_define3dlayout)
REFUSED_IN_FORTRAN(h5bl_define3dchunkdims)
REFUSED_IN_FORTRAN(h5bl_get_partition_of_proc)
REFUSED_IN_FORTRAN(h5bl_get_reduced_partition_of_proc)
REFUSED_IN_FORTRAN(h5bl_get_proc_of)
REFUSED_IN_FORTRAN(h5bl_getnumfields)
REFUSED_IN_FORTRAN(h5bl_getfieldinfo)
REFUSED_IN_FORTRAN(h5bl_has_fielddata)
REFUSED_IN_FORTRAN(h5bl_writefieldattrib_string)
REFUSED_IN_FORTRAN(h5bl_getnfieldattribs)
REFUSED_IN_FORTRAN(h5bl_getfieldattribinfo)
REFUSED_IN_FORTRAN(h5bl_readfieldattrib_i8)
REFUSED_IN_FORTRAN(h5bl_readfieldattrib_r8)
REFUSED_IN_FORTRAN(h5bl_readfieldattrib_string)
REFUSED_IN_FORTRAN(h5bl_3d_get_field_spacing)
REFUSED_IN_FORTRAN(h5bl_3d_set_field_spacing)
REFUSED_IN_FORTRAN(h5bl_3d_get_field_origin)
REFUSED_IN_FORTRAN(h5bl_3d_set_field_origin)
REFUSED_IN_FORTRAN_OF(r8)
REFUSED_IN_FORTRAN_OF(r4)
REFUSED_IN_FORTRAN_OF(i8)
REFUSED_IN_FORTRAN_OF(i4)

}  // extern "C"
