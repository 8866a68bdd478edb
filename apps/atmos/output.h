/* Where the fields go after each iteration; saving.c makes one of Forebay. */

#ifndef ATMOS_OUTPUT_H
#define ATMOS_OUTPUT_H

#include <stdint.h>

#include "model.h"

struct saved {
    int kept;         /* 0: nothing was saved */
    int64_t replaced; /* the step that was dropped for this one, else -1 */
};

struct totals {
    uint64_t kept, skipped, replaced, failed;
    int64_t durable; /* the newest step at the target, -1: none */
};

/* Each call answers 0 when the application has to end, alike on all ranks, and has then said why. All are collective.
 */
struct output {
    void* self;
    int (*save)(void* self, struct model* model, int64_t step, struct saved* saved);
    int (*finish)(void* self, struct totals* totals); /* waits until all is at the target */
};

#endif
