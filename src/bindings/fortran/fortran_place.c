/* Turns Fortran's descriptors into places. Section 18.5 of the Fortran 2018 standard defines the descriptors, but each
 * compiler has its own layout. So this file needs the header of the Fortran compiler, and is installed as source beside
 * the modules. */

#include "fortran_place.h"

#include <ISO_Fortran_binding.h>

/* Compilers number the same kinds differently. The class and the size of an element are the same everywhere. */
static int is_whole(CFI_type_t type) {
    const CFI_type_t codes[] = {CFI_type_int8_t,        CFI_type_int16_t,       CFI_type_int32_t,
                                CFI_type_int64_t,       CFI_type_int,           CFI_type_long,
                                CFI_type_long_long,     CFI_type_int_least8_t,  CFI_type_int_least16_t,
                                CFI_type_int_least32_t, CFI_type_int_least64_t, CFI_type_Bool};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i)
        if (type == codes[i]) return 1;
#ifdef CFI_type_Logical /* gfortran's logical has its own class */
    return (type & CFI_type_mask) == CFI_type_Logical;
#else
    return 0;
#endif
}

static fb_type by_size(size_t element_bytes, const fb_type* types, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (types[i] >> 8 == element_bytes) return types[i];
    return 0;
}

static fb_type type_of_elements(const CFI_cdesc_t* data) {
    const fb_type whole[] = {FB_I8, FB_I16, FB_I32, FB_I64}, real[] = {FB_F32, FB_F64}, complex[] = {FB_C64, FB_C128};
    const CFI_type_t type = data->type;
    if (is_whole(type)) return by_size(data->elem_len, whole, 4);
    if (type == CFI_type_float || type == CFI_type_double) return by_size(data->elem_len, real, 2);
    if (type == CFI_type_float_Complex || type == CFI_type_double_Complex) return by_size(data->elem_len, complex, 2);
    return type == CFI_type_char ? FB_STRING(data->elem_len) : 0;
}

/* fb_at() of the module. */
FortranPlace fb_fortran_at(CFI_cdesc_t* data);
FortranPlace fb_fortran_at(CFI_cdesc_t* data) {
    FortranPlace place = {data->base_addr, (int64_t)data->elem_len, type_of_elements(data), data->rank, {0}, {0}};
    for (int dim = 0; dim < data->rank; ++dim) {
        place.extent[dim] = data->dim[dim].extent;
        place.stride_bytes[dim] = data->dim[dim].sm;
    }
    return place;
}
