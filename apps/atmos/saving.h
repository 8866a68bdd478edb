/* The four fields, the grid and Forebay: the only file of atmos that knows both. */

#ifndef ATMOS_SAVING_H
#define ATMOS_SAVING_H

#include "forebay/forebay_mpi.h"
#include "options.h"
#include "output.h"

struct saving;

/* Opens the session, describes the model and reads its newest snapshot, whose step is *done; 0 without one. NULL, alike
 * on all ranks, when that cannot be; rank 0 has then said why. Collective. */
struct saving* saving_open(const fb_options* options, struct model* model, int64_t* done);
struct output saving_output(struct saving* saving);
/* Closes the session; 0 when something could not be committed, which rank 0 has then said. Collective. */
int saving_close(struct saving* saving);

#endif
