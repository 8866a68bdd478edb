#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* const field_names[FIELDS] = {"theta", "u", "v", "w"};
const char* const field_units[FIELDS] = {"K", "m s-1", "m s-1", "m s-1"};

/* In cells and seconds. |u| + |v| + |w| stays below 2: upwind differences with this diffusion are then stable. */
static const float dt = 0.25f, diffusion = 0.05f, buoyancy = 0.05f, friction = 0.05f;

static size_t row_at(const struct grid* grid, int z, int y) {
    return ((size_t)z * (size_t)(grid->size[1] + 2) + (size_t)(y + 1)) * (size_t)(grid->size[2] + 2) + 1;
}

static void begin_row(struct model* model, int z, int y) {
    const struct grid* grid = model->grid;
    const size_t row = row_at(grid, z, y);
    const double height = (z + 0.5) / grid->global[0];
    const double along_y = (grid->first[1] + y + 0.5) / grid->global[1] - 0.5;
    for (int x = 0; x < grid->size[2]; ++x) {
        const double along_x = (grid->first[2] + x + 0.5) / grid->global[2] - 0.5;
        const double far = along_x * along_x + along_y * along_y + (height - 0.3) * (height - 0.3);
        model->now[THETA][row + (size_t)x] = (float)exp(-40 * far);
        model->now[U][row + (size_t)x] = (float)(0.5 * height);
        model->now[V][row + (size_t)x] = 0.2f;
        model->now[W][row + (size_t)x] = 0;
    }
}

int model_open(struct model* model, const struct grid* grid) {
    memset(model, 0, sizeof *model);
    model->grid = grid;
    for (int field = 0; field < FIELDS; ++field) {
        model->now[field] = calloc(grid_room(grid), sizeof(float));
        model->next[field] = calloc(grid_room(grid), sizeof(float));
        if (model->now[field] == NULL || model->next[field] == NULL) return 0;
    }
    for (int z = 0; z < grid->size[0]; ++z)
        for (int y = 0; y < grid->size[1]; ++y) begin_row(model, z, y);
    return 1;
}

void model_close(struct model* model) {
    for (int field = 0; field < FIELDS; ++field) {
        free(model->now[field]);
        free(model->next[field]);
    }
}

void model_exchange(struct model* model) {
    for (int field = 0; field < FIELDS; ++field) grid_exchange(model->grid, model->now[field]);
}

/* Wind times the upwind difference: the cell downwind does not count. */
static inline float against(float wind, float below, float here, float above) {
    return wind > 0 ? wind * (here - below) : wind * (above - here);
}

static void step_row(struct model* model, int field, int z, int y) {
    const struct grid* grid = model->grid;
    const int top = grid->size[0] - 1;
    const size_t row = row_at(grid, z, y), line = (size_t)(grid->size[2] + 2);
    const size_t down = z > 0 ? row_at(grid, z - 1, y) : row, up = z < top ? row_at(grid, z + 1, y) : row;
    const float *const q = model->now[field], *const theta = model->now[THETA];
    const float *const u = model->now[U], *const v = model->now[V], *const w = model->now[W];
    float* const result = model->next[field];
    const float lift = field == W ? 1 : 0, inside = field == W && (z == 0 || z == top) ? 0 : 1;
    for (size_t x = 0; x < (size_t)grid->size[2]; ++x) {
        const size_t at = row + x;
        const float here = q[at], west = q[at - 1], east = q[at + 1], south = q[at - line], north = q[at + line];
        const float below = q[down + x], above = q[up + x];
        const float moved =
            against(u[at], west, here, east) + against(v[at], south, here, north) + against(w[at], below, here, above);
        const float spread = diffusion * (west + east + south + north + below + above - 6 * here);
        const float forced = lift * (buoyancy * theta[at] - friction * here);
        result[at] = inside * (here + dt * (spread - moved + forced));
    }
}

void model_step(struct model* model) {
    for (int field = 0; field < FIELDS; ++field)
        for (int z = 0; z < model->grid->size[0]; ++z)
            for (int y = 0; y < model->grid->size[1]; ++y) step_row(model, field, z, y);
    for (int field = 0; field < FIELDS; ++field) {
        float* const old = model->now[field];
        model->now[field] = model->next[field];
        model->next[field] = old;
    }
    model_exchange(model);
}

void model_pack(const struct model* model, int field, float* packed) {
    const struct grid* grid = model->grid;
    const size_t cells = (size_t)grid->size[2];
    for (int z = 0; z < grid->size[0]; ++z)
        for (int y = 0; y < grid->size[1]; ++y, packed += cells)
            memcpy(packed, model->now[field] + row_at(grid, z, y), cells * sizeof(float));
}
