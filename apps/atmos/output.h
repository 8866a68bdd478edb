/* The interface to the output of each iteration. saving.c implements it with Forebay. */

#ifndef ATMOS_OUTPUT_H
#define ATMOS_OUTPUT_H

#include <stdint.h>

#include "model.h"

struct saved {
    int kept;         /* 0: nothing was saved */
    int64_t replaced; /* the step dropped for this save; -1: none */
};

struct totals {
    uint64_t kept, skipped, replaced, failed;
    int64_t durable; /* the newest step at the target; -1: none */
};

/* A call returns 0, on all ranks alike, if the application must end; it has then printed the reason. All calls are
 * collective. */
struct output {
    void* self;
    int (*save)(void* self, struct model* model, int64_t step, struct saved* saved);
    int (*finish)(void* self, struct totals* totals); /* waits until all saves are at the target */
};

#endif
