/* The H5Part interface, version 1.6.6, over Forebay. Compile your code with this header in place of H5Part's own, and
   link it with forebay_h5part. Forebay stages the data on the nodes, and drains them afterwards. The file under your
   name is an ordinary H5Part file. docs/reference/h5part.md lists the differences.

   With PARALLEL_IO defined, as for H5Part itself, you get the calls with a communicator. The header lies in a directory
   of its own, so that it hides no installed H5Part: add that directory with -I.

   Type codes are HDF5's at run time: compile with the same HDF5 that the library is linked with. */

#ifndef FOREBAY_H5PART_H
#define FOREBAY_H5PART_H

#include <hdf5.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef PARALLEL_IO
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define H5PART_VER_STRING "1.6.6"
#define H5PART_VER_MAJOR 1
#define H5PART_VER_MINOR 6
#define H5PART_VER_RELEASE 6
/* Defined only here: tells this header from H5Part's own. */
#define H5PART_IS_FOREBAY 1

typedef int64_t h5part_int64_t;
typedef int32_t h5part_int32_t;
typedef double h5part_float64_t;
typedef float h5part_float32_t;

typedef struct H5PartFile H5PartFile;

/* Gets the function's name, the error code, and a text as for printf. The failing call returns its result. */
typedef h5part_int64_t (*h5part_error_handler)(const char*, const h5part_int64_t, const char*, ...);

#define H5PART_SUCCESS 0
#define H5PART_ERR_NOMEM -12
#define H5PART_ERR_INVAL -22
#define H5PART_ERR_BADFD -77
#define H5PART_ERR_LAYOUT -100
#define H5PART_ERR_NOENT -101
#define H5PART_ERR_DECOMP -102
#define H5PART_ERR_INIT -200
#define H5PART_ERR_NOENTRY -201
#define H5PART_ERR_NOTYPE -210
#define H5PART_ERR_BAD_VIEW -220
#define H5PART_ERR_MPI -300
#define H5PART_ERR_HDF5 -400

#define H5PART_READ 0x01
#define H5PART_WRITE 0x02
#define H5PART_APPEND 0x04
#define H5PART_VFD_MPIPOSIX 0x08
#define H5PART_FS_LUSTRE 0x10
#define H5PART_VFD_MPIIO_IND 0x20
#define H5PART_VFD_CORE 0x40

/* The longest names with their NUL; longer names are cut. For steps the limit includes the number. */
#define H5PART_STEPNAME_LEN 64
#define H5PART_DATANAME_LEN 64

#define H5PART_VERB_NONE 0
#define H5PART_VERB_ERROR 1
#define H5PART_VERB_WARN 2
#define H5PART_VERB_INFO 3
#define H5PART_VERB_DEBUG 4
#define H5PART_VERB_DETAIL 5

#define H5PART_INT64 ((h5part_int64_t)H5T_NATIVE_INT64)
#define H5PART_INT32 ((h5part_int64_t)H5T_NATIVE_INT32)
#define H5PART_FLOAT64 ((h5part_int64_t)H5T_NATIVE_DOUBLE)
#define H5PART_FLOAT32 ((h5part_int64_t)H5T_NATIVE_FLOAT)
#define H5PART_CHAR ((h5part_int64_t)H5T_NATIVE_CHAR)
#define H5PART_STRING ((h5part_int64_t)H5T_C_S1)

/* Files. The handle of a writer is collective over its communicator. Reads are not. */

H5PartFile* H5PartOpenFile(const char* filename, const char flags);
H5PartFile* H5PartOpenFileAlign(const char* filename, const char flags, h5part_int64_t align);
#define H5PartOpenFileSerial(x, y) H5PartOpenFile(x, y)
#define H5PartOpenFileSerialAlign(x, y, z) H5PartOpenFileAlign(x, y, z)
#ifdef PARALLEL_IO
H5PartFile* H5PartOpenFileParallel(const char* filename, const char flags, MPI_Comm communicator);
H5PartFile* H5PartOpenFileParallelAlign(const char* filename, const char flags, MPI_Comm communicator,
                                        h5part_int64_t align);
#endif
h5part_int64_t H5PartCloseFile(H5PartFile* f);
h5part_int64_t H5PartFileIsValid(H5PartFile* f);

/* Writing. When a call returns, it has copied everything. */

h5part_int64_t H5PartDefineStepName(H5PartFile* f, const char* name, const h5part_int64_t width);
h5part_int64_t H5PartSetStep(H5PartFile* f, const h5part_int64_t step);
h5part_int64_t H5PartSetNumParticles(H5PartFile* f, const h5part_int64_t nparticles);
h5part_int64_t H5PartSetNumParticlesStrided(H5PartFile* f, const h5part_int64_t nparticles,
                                            const h5part_int64_t stride);
h5part_int64_t H5PartSetChunkSize(H5PartFile* f, const h5part_int64_t size);
h5part_int64_t H5PartWriteDataFloat64(H5PartFile* f, const char* name, const h5part_float64_t* array);
h5part_int64_t H5PartWriteDataFloat32(H5PartFile* f, const char* name, const h5part_float32_t* array);
h5part_int64_t H5PartWriteDataInt64(H5PartFile* f, const char* name, const h5part_int64_t* array);
h5part_int64_t H5PartWriteDataInt32(H5PartFile* f, const char* name, const h5part_int32_t* array);

/* Contents, and reading them. */

h5part_int64_t H5PartHasStep(H5PartFile* f, const h5part_int64_t step);
h5part_int64_t H5PartGetNumSteps(H5PartFile* f);
h5part_int64_t H5PartGetNumDatasets(H5PartFile* f);
h5part_int64_t H5PartGetDatasetName(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen);
h5part_int64_t H5PartGetDatasetInfo(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen,
                                    h5part_int64_t* type, h5part_int64_t* nelem);
h5part_int64_t H5PartGetNumParticles(H5PartFile* f);
h5part_int64_t H5PartSetView(H5PartFile* f, const h5part_int64_t start, const h5part_int64_t end);
h5part_int64_t H5PartSetViewIndices(H5PartFile* f, const h5part_int64_t* indices, h5part_int64_t nelems);
h5part_int64_t H5PartGetView(H5PartFile* f, h5part_int64_t* start, h5part_int64_t* end);
h5part_int64_t H5PartHasView(H5PartFile* f);
h5part_int64_t H5PartResetView(H5PartFile* f);
h5part_int64_t H5PartSetCanonicalView(H5PartFile* f);
h5part_int64_t H5PartReadDataFloat64(H5PartFile* f, const char* name, h5part_float64_t* array);
h5part_int64_t H5PartReadDataFloat32(H5PartFile* f, const char* name, h5part_float32_t* array);
h5part_int64_t H5PartReadDataInt64(H5PartFile* f, const char* name, h5part_int64_t* array);
h5part_int64_t H5PartReadDataInt32(H5PartFile* f, const char* name, h5part_int32_t* array);
h5part_int64_t H5PartReadParticleStep(H5PartFile* f, const h5part_int64_t step, h5part_float64_t* x,
                                      h5part_float64_t* y, h5part_float64_t* z, h5part_float64_t* px,
                                      h5part_float64_t* py, h5part_float64_t* pz, h5part_int64_t* id);

/* Attributes of the file and of the current step. */

h5part_int64_t H5PartWriteFileAttrib(H5PartFile* f, const char* name, const h5part_int64_t type, const void* value,
                                     const h5part_int64_t nelem);
h5part_int64_t H5PartWriteStepAttrib(H5PartFile* f, const char* name, const h5part_int64_t type, const void* value,
                                     const h5part_int64_t nelem);
h5part_int64_t H5PartWriteFileAttribString(H5PartFile* f, const char* name, const char* value);
h5part_int64_t H5PartWriteStepAttribString(H5PartFile* f, const char* name, const char* value);
h5part_int64_t H5PartWriteFileAttribFloat64(H5PartFile* f, const char* name, const h5part_float64_t data);
h5part_int64_t H5PartWriteFileAttribFloat32(H5PartFile* f, const char* name, const h5part_float32_t data);
h5part_int64_t H5PartWriteFileAttribInt64(H5PartFile* f, const char* name, const h5part_int64_t data);
h5part_int64_t H5PartWriteFileAttribInt32(H5PartFile* f, const char* name, const h5part_int32_t data);
h5part_int64_t H5PartWriteStepAttribFloat64(H5PartFile* f, const char* name, const h5part_float64_t data);
h5part_int64_t H5PartWriteStepAttribFloat32(H5PartFile* f, const char* name, const h5part_float32_t data);
h5part_int64_t H5PartWriteStepAttribInt64(H5PartFile* f, const char* name, const h5part_int64_t data);
h5part_int64_t H5PartWriteStepAttribInt32(H5PartFile* f, const char* name, const h5part_int32_t data);
h5part_int64_t H5PartGetNumFileAttribs(H5PartFile* f);
h5part_int64_t H5PartGetNumStepAttribs(H5PartFile* f);
h5part_int64_t H5PartGetFileAttribInfo(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen,
                                       h5part_int64_t* type, h5part_int64_t* nelem);
h5part_int64_t H5PartGetStepAttribInfo(H5PartFile* f, const h5part_int64_t idx, char* name, const h5part_int64_t maxlen,
                                       h5part_int64_t* type, h5part_int64_t* nelem);
h5part_int64_t H5PartReadFileAttrib(H5PartFile* f, const char* name, void* value);
h5part_int64_t H5PartReadStepAttrib(H5PartFile* f, const char* name, void* value);

/* Errors and configuration. */

h5part_int64_t H5PartSetVerbosityLevel(const h5part_int64_t level);
h5part_int64_t H5PartSetThrottle(H5PartFile* f, int factor);
h5part_int64_t H5PartSetErrorHandler(const h5part_error_handler handler);
h5part_error_handler H5PartGetErrorHandler(void);
h5part_int64_t H5PartGetErrno(void);
h5part_int64_t H5PartReportErrorHandler(const char* funcname, const h5part_int64_t eno, const char* fmt, ...);
h5part_int64_t H5PartAbortErrorHandler(const char* funcname, const h5part_int64_t eno, const char* fmt, ...);

#ifdef __cplusplus
}
#endif

/* Like H5Part's own, this header also declares the calls of H5Block, and with MPI the calls of H5MultiBlock. */
#include "H5Block.h"
#ifdef PARALLEL_IO
#include "H5MultiBlock.h"
#endif

#endif
