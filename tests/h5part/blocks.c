/* Every call of H5Block and H5MultiBlock compiles and links as with H5Part's own headers, of which a code may name any,
   and says that it is not there. One that includes H5Block.h first, and H5Part.h behind it, compiles too. */

#include <H5Block.h>
#include <H5BlockReadWrite.h>
#include <H5BlockTypes.h>
#include <H5MultiBlock.h>
#include <H5MultiBlockReadWrite.h>
#include <H5MultiBlockTypes.h>
#include <H5Part.h>
#include <H5PartAttrib.h>
#include <H5PartTypes.h>
#include <stdio.h>
#include <string.h>

static int failures, calls;
static char message[2000];

static h5part_int64_t remember(const char* function, const h5part_int64_t code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = snprintf(message, sizeof message, "%s: ", function);
    vsnprintf(message + length, sizeof message - (size_t)length, format, arguments);
    va_end(arguments);
    return code;
}

/* The call names itself, and what to do in its place. */
#define REFUSED(name, ...)                                                                                    \
    do {                                                                                                      \
        ++calls;                                                                                              \
        if (name(__VA_ARGS__) != H5PART_ERR_NOTYPE || strncmp(message, #name ": ", strlen(#name) + 2) != 0 || \
            strstr(message, "Next: ") == NULL) {                                                              \
            fprintf(stderr, "%s: %s\n", #name, message);                                                      \
            ++failures;                                                                                       \
        }                                                                                                     \
        message[0] = '\0';                                                                                    \
    } while (0)

#define REFUSED_OF(Name, type)                                            \
    do {                                                                  \
        const type value = 1, *in = &value;                               \
        type got = 0, *out = &got;                                        \
        REFUSED(H5Block3dWriteScalarField##Name, f, "e", in);             \
        REFUSED(H5Block3dReadScalarField##Name, f, "e", out);             \
        REFUSED(H5Block3dWrite3dVectorField##Name, f, "e", in, in, in);   \
        REFUSED(H5Block3dRead3dVectorField##Name, f, "e", out, out, out); \
        REFUSED(H5BlockWriteFieldAttrib##Name, f, "e", "a", in, 1);       \
        REFUSED(H5MultiBlock3dWriteField##Name, f, "e", in);              \
        REFUSED(H5MultiBlock3dReadField##Name, f, "e", &out);             \
    } while (0)

int main(void) {
    struct H5BlockPartition at = {0, 1, 0, 1, 0, 1};
    h5part_int64_t n[3] = {0, 0, 0}, rank = 0, type = 0;
    h5part_float64_t x = 0, y = 0, z = 0;
    char name[H5PART_DATANAME_LEN];
    H5PartSetErrorHandler(remember);
    H5PartFile* f = H5PartOpenFile("blocks.h5part", H5PART_WRITE);
    if (f == NULL || H5PartSetStep(f, 0) != H5PART_SUCCESS || H5PartSetNumParticles(f, 3) != H5PART_SUCCESS) return 2;

    REFUSED(H5BlockDefine3DFieldLayout, f, at.i_start, at.i_end, at.j_start, at.j_end, at.k_start, at.k_end);
    REFUSED(H5BlockDefine3DChunkDims, f, 1, 1, 1);
    REFUSED(H5BlockGet3DChunkDims, f, "e", n);
    REFUSED(H5Block3dGetPartitionOfProc, f, 0, &at.i_start, &at.i_end, &at.j_start, &at.j_end, &at.k_start, &at.k_end);
    REFUSED(H5Block3dGetReducedPartitionOfProc, f, 0, &at.i_start, &at.i_end, &at.j_start, &at.j_end, &at.k_start,
            &at.k_end);
    REFUSED(H5Block3dGetProcOf, f, 0, 0, 0);
    REFUSED(H5BlockGetNumFields, f);
    REFUSED(H5BlockGetFieldInfo, f, 0, name, sizeof name, &rank, n, &rank, &type);
    REFUSED(H5BlockGetFieldInfoByName, f, "e", &rank, n, &rank, &type);
    REFUSED(H5Block3dGetFieldOrigin, f, "e", &x, &y, &z);
    REFUSED(H5Block3dSetFieldOrigin, f, "e", x, y, z);
    REFUSED(H5Block3dGetFieldSpacing, f, "e", &x, &y, &z);
    REFUSED(H5Block3dSetFieldSpacing, f, "e", x, y, z);
    REFUSED(H5BlockWriteFieldAttrib, f, "e", "a", H5PART_FLOAT64, &x, 1);
    REFUSED(H5BlockWriteFieldAttribString, f, "e", "a", "text");
    REFUSED(H5BlockGetNumFieldAttribs, f, "e");
    REFUSED(H5BlockGetFieldAttribInfo, f, "e", 0, name, sizeof name, &type, n);
    REFUSED(H5BlockReadFieldAttrib, f, "e", "a", &x);
    REFUSED(H5BlockHasFieldData, f);
    REFUSED(H5MultiBlock3dDefineRadius, f, 1);
    REFUSED(H5MultiBlock3dDefineRadii, f, 1, 1, 1);
    REFUSED(H5MultiBlock3dDefineDims, f, n, n);
    REFUSED(H5MultiBlock3dGetFieldDims, f, n);
    REFUSED(H5MultiBlock3dGetBlockDims, f, "e", n);
    REFUSED(H5MultiBlock3dGetOffsetsOfProc, f, 0, n);
    REFUSED(H5MultiBlock3dCalculateDecomp, 1, n);
    REFUSED(H5MultiBlockFree, n);
    REFUSED(H5MultiBlockShiftProcs, f, 1);
    REFUSED_OF(Float64, h5part_float64_t);
    REFUSED_OF(Float32, h5part_float32_t);
    REFUSED_OF(Int64, h5part_int64_t);
    REFUSED_OF(Int32, h5part_int32_t);

    /* The particles beside them are as they would be without. */
    const double values[3] = {1, 2, 3};
    if (H5PartWriteDataFloat64(f, "x", values) != H5PART_SUCCESS || H5PartCloseFile(f) != H5PART_SUCCESS) ++failures;
    if (calls != 56) fprintf(stderr, "%d calls, 56 expected\n", calls);
    return failures != 0 || calls != 56;
}
