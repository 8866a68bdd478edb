/* The iterations, with any output: compute, exchange, save, and print the times. */

#ifndef ATMOS_ITERATE_H
#define ATMOS_ITERATE_H

#include "options.h"
#include "output.h"

/* Runs the steps after `done` up to options->iterations. `output` NULL: no output. Returns the program's exit code.
 * Collective. */
int iterate(const struct options* options, struct model* model, const struct output* output, int64_t done);

#endif
