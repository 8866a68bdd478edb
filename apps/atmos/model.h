/* A warm bubble that rises in a wind: advection, diffusion, buoyancy and friction of four fields, by a stencil of seven
 * cells. Its memory, halos and rhythm are those of an atmosphere code. Its weather is a toy: there is no pressure.
 *
 * Each cell is computed in the same way on any number of ranks, so results agree bit for bit. */

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

/* Allocates the fields and sets them to step 0. Returns 0 if memory runs out. */
int model_open(struct model* model, const struct grid* grid);
void model_close(struct model* model);

/* Call it after other code has written the fields, such as a restart. Collective. */
void model_exchange(struct model* model);
/* One step of the stencil. It swaps `now` and `next` and then exchanges the halos. Collective. */
void model_step(struct model* model);
/* Copies one field without its halo, row-major. */
void model_pack(const struct model* model, int field, float* packed);

#endif
