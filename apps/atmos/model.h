/* A warm bubble that rises in a wind: advection, diffusion, buoyancy and friction of four fields, by a stencil of seven
 * cells. It has the memory, the halos and the rhythm of an atmosphere code, and its weather is a toy: no pressure.
 *
 * Every cell is computed alike on any number of ranks, so that results agree to the bit. */

#ifndef ATMOS_MODEL_H
#define ATMOS_MODEL_H

#include "grid.h"

enum { THETA, U, V, W, FIELDS };

struct model {
    const struct grid* grid;
    float* now[FIELDS]; /* with halo */
    float* next[FIELDS];
};

extern const char* const field_names[FIELDS];
extern const char* const field_units[FIELDS];

/* Allocates the fields and sets them up for step 0; 0 without memory. */
int model_open(struct model* model, const struct grid* grid);
void model_close(struct model* model);

/* To be called after the fields were written by somebody else. Collective. */
void model_exchange(struct model* model);
/* One step of the stencil, which ends in an exchange of halos; `now` and `next` change places. Collective. */
void model_step(struct model* model);
/* The same copied without halo, row-major. */
void model_pack(const struct model* model, int field, float* packed);

#endif
