/* Saves the model with Forebay. Only saving.c and main.c call Forebay. */

#ifndef ATMOS_SAVING_H
#define ATMOS_SAVING_H

#include "forebay/forebay_mpi.h"
#include "options.h"
#include "output.h"

struct saving;

/* Opens the session, describes the model and reads the newest snapshot. *done is its step, or 0 without a snapshot. On
 * failure returns NULL on all ranks, and rank 0 prints the reason. Collective. */
struct saving* saving_open(const fb_options* options, struct model* model, int64_t* done);
struct output saving_output(struct saving* saving);
/* Closes the session. Returns 0 if a save could not be committed; rank 0 then prints the reason. Collective. */
int saving_close(struct saving* saving);

#endif
