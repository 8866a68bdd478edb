/* The calls of H5Block, fields on blocks of a grid. They exist so that codes with this header, or with calls beside
   H5Part, compile and link. Forebay stages no such fields: each call reports the replacement to the error handler, and
   returns H5PART_ERR_NOTYPE. */

#include "H5Part.h" /* which includes this one again, for those that begin here */

#ifndef FOREBAY_H5BLOCK_H
#define FOREBAY_H5BLOCK_H

#define H5BLOCK_FIELD_ORIGIN_NAME "__Origin__"
#define H5BLOCK_FIELD_SPACING_NAME "__Spacing__"

struct H5BlockPartition {
    h5part_int64_t i_start, i_end;
    h5part_int64_t j_start, j_end;
    h5part_int64_t k_start, k_end;
};

/* CALL(name, parameters) for each call; the library defines them by the same list. */

#define FOREBAY_H5BLOCK_CALLS_OF(CALL, Name, type)                                                             \
    CALL(H5Block3dWriteScalarField##Name, (H5PartFile*, const char*, const type*))                             \
    CALL(H5Block3dReadScalarField##Name, (H5PartFile*, const char*, type*))                                    \
    CALL(H5Block3dWrite3dVectorField##Name, (H5PartFile*, const char*, const type*, const type*, const type*)) \
    CALL(H5Block3dRead3dVectorField##Name, (H5PartFile*, const char*, type*, type*, type*))                    \
    CALL(H5BlockWriteFieldAttrib##Name, (H5PartFile*, const char*, const char*, const type*, h5part_int64_t))

#define FOREBAY_H5BLOCK_CALLS(CALL)                                                                                    \
    CALL(H5BlockDefine3DFieldLayout, (H5PartFile*, h5part_int64_t, h5part_int64_t, h5part_int64_t, h5part_int64_t,     \
                                      h5part_int64_t, h5part_int64_t))                                                 \
    CALL(H5BlockDefine3DChunkDims, (H5PartFile*, h5part_int64_t, h5part_int64_t, h5part_int64_t))                      \
    CALL(H5BlockGet3DChunkDims, (H5PartFile*, const char*, h5part_int64_t*))                                           \
    CALL(H5Block3dGetPartitionOfProc, (H5PartFile*, h5part_int64_t, h5part_int64_t*, h5part_int64_t*, h5part_int64_t*, \
                                       h5part_int64_t*, h5part_int64_t*, h5part_int64_t*))                             \
    CALL(H5Block3dGetReducedPartitionOfProc, (H5PartFile*, h5part_int64_t, h5part_int64_t*, h5part_int64_t*,           \
                                              h5part_int64_t*, h5part_int64_t*, h5part_int64_t*, h5part_int64_t*))     \
    CALL(H5Block3dGetProcOf, (H5PartFile*, h5part_int64_t, h5part_int64_t, h5part_int64_t))                            \
    CALL(H5BlockGetNumFields, (H5PartFile*))                                                                           \
    CALL(H5BlockGetFieldInfo, (H5PartFile*, h5part_int64_t, char*, h5part_int64_t, h5part_int64_t*, h5part_int64_t*,   \
                               h5part_int64_t*, h5part_int64_t*))                                                      \
    CALL(H5BlockGetFieldInfoByName,                                                                                    \
         (H5PartFile*, const char*, h5part_int64_t*, h5part_int64_t*, h5part_int64_t*, h5part_int64_t*))               \
    CALL(H5Block3dGetFieldOrigin, (H5PartFile*, const char*, h5part_float64_t*, h5part_float64_t*, h5part_float64_t*)) \
    CALL(H5Block3dSetFieldOrigin, (H5PartFile*, const char*, h5part_float64_t, h5part_float64_t, h5part_float64_t))    \
    CALL(H5Block3dGetFieldSpacing,                                                                                     \
         (H5PartFile*, const char*, h5part_float64_t*, h5part_float64_t*, h5part_float64_t*))                          \
    CALL(H5Block3dSetFieldSpacing, (H5PartFile*, const char*, h5part_float64_t, h5part_float64_t, h5part_float64_t))   \
    CALL(H5BlockWriteFieldAttrib,                                                                                      \
         (H5PartFile*, const char*, const char*, h5part_int64_t, const void*, h5part_int64_t))                         \
    CALL(H5BlockWriteFieldAttribString, (H5PartFile*, const char*, const char*, const char*))                          \
    CALL(H5BlockGetNumFieldAttribs, (H5PartFile*, const char*))                                                        \
    CALL(H5BlockGetFieldAttribInfo,                                                                                    \
         (H5PartFile*, const char*, h5part_int64_t, char*, h5part_int64_t, h5part_int64_t*, h5part_int64_t*))          \
    CALL(H5BlockReadFieldAttrib, (H5PartFile*, const char*, const char*, void*))                                       \
    CALL(H5BlockHasFieldData, (H5PartFile*))                                                                           \
    FOREBAY_H5BLOCK_CALLS_OF(CALL, Float64, h5part_float64_t)                                                          \
    FOREBAY_H5BLOCK_CALLS_OF(CALL, Float32, h5part_float32_t)                                                          \
    FOREBAY_H5BLOCK_CALLS_OF(CALL, Int64, h5part_int64_t)                                                              \
    FOREBAY_H5BLOCK_CALLS_OF(CALL, Int32, h5part_int32_t)

#define FOREBAY_H5BLOCK_DECLARE(name, parameters) h5part_int64_t name parameters;

#ifdef __cplusplus
extern "C" {
#endif

FOREBAY_H5BLOCK_CALLS(FOREBAY_H5BLOCK_DECLARE)

#ifdef __cplusplus
}
#endif

#endif
