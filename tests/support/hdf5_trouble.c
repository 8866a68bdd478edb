/* For LD_PRELOAD: an HDF5 library that crashes on some files. Opening an object whose name begins with FOREBAY_CRASHES
   ends the process by a signal. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t id_type; /* hid_t of HDF5 1.10 and newer */

id_type H5Oopen(id_type place, const char* name, id_type access) {
    static id_type (*open_object)(id_type, const char*, id_type);
    const char* crashes = getenv("FOREBAY_CRASHES");
    if (crashes != NULL && strncmp(name, crashes, strlen(crashes)) == 0) raise(SIGSEGV);
    if (open_object == NULL) *(void**)&open_object = dlsym(RTLD_NEXT, "H5Oopen");
    return open_object(place, name, access);
}
