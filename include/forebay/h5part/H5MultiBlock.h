/* The calls of H5MultiBlock, fields on blocks with halos. They compile and link, and each returns H5PART_ERR_NOTYPE
   (see H5Block.h). */

#ifndef FOREBAY_H5MULTIBLOCK_H
#define FOREBAY_H5MULTIBLOCK_H

#include "H5Block.h"

#define H5MULTIBLOCK_ATTR_NAME "__BlockDims__"

#define FOREBAY_H5MULTIBLOCK_CALLS_OF(CALL, Name, type)                           \
    CALL(H5MultiBlock3dWriteField##Name, (H5PartFile*, const char*, const type*)) \
    CALL(H5MultiBlock3dReadField##Name, (H5PartFile*, const char*, type**))

#define FOREBAY_H5MULTIBLOCK_CALLS(CALL)                                                           \
    CALL(H5MultiBlock3dDefineRadius, (H5PartFile*, h5part_int64_t))                                \
    CALL(H5MultiBlock3dDefineRadii, (H5PartFile*, h5part_int64_t, h5part_int64_t, h5part_int64_t)) \
    CALL(H5MultiBlock3dDefineDims, (H5PartFile*, const h5part_int64_t*, const h5part_int64_t*))    \
    CALL(H5MultiBlock3dGetFieldDims, (H5PartFile*, h5part_int64_t*))                               \
    CALL(H5MultiBlock3dGetBlockDims, (H5PartFile*, const char*, h5part_int64_t*))                  \
    CALL(H5MultiBlock3dGetOffsetsOfProc, (H5PartFile*, h5part_int64_t, h5part_int64_t*))           \
    CALL(H5MultiBlock3dCalculateDecomp, (int, h5part_int64_t*))                                    \
    CALL(H5MultiBlockFree, (void*))                                                                \
    CALL(H5MultiBlockShiftProcs, (H5PartFile*, int))                                               \
    FOREBAY_H5MULTIBLOCK_CALLS_OF(CALL, Float64, h5part_float64_t)                                 \
    FOREBAY_H5MULTIBLOCK_CALLS_OF(CALL, Float32, h5part_float32_t)                                 \
    FOREBAY_H5MULTIBLOCK_CALLS_OF(CALL, Int64, h5part_int64_t)                                     \
    FOREBAY_H5MULTIBLOCK_CALLS_OF(CALL, Int32, h5part_int32_t)

#ifdef __cplusplus
extern "C" {
#endif

FOREBAY_H5MULTIBLOCK_CALLS(FOREBAY_H5BLOCK_DECLARE)

#ifdef __cplusplus
}
#endif

#endif
