/* The iterations, whatever the output: compute, exchange, save, and tell how long each took. */

#ifndef ATMOS_ITERATE_H
#define ATMOS_ITERATE_H

#include "options.h"
#include "output.h"

/* From the step after `done` to options->iterations. `output` NULL: none. The exit code of the program. Collective. */
int iterate(const struct options* options, struct model* model, const struct output* output, int64_t done);

#endif
