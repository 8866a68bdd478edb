/* Three calls of forebay_checkpoint. Their Fortran part takes places, since not every compiler can receive an array of
 * any type and rank. gfortran 11 cannot declare them. */

#include <ISO_Fortran_binding.h>

#include "fortran_place.h"

/* checkpoint.f90 and fortran_place.c */
void forebay_checkpoint_act(int act, const FortranPlace* place, const int* kind, int* stat, size_t name_bytes,
                            const char* name, size_t errmsg_bytes, char* errmsg);
FortranPlace fb_fortran_at(CFI_cdesc_t* data);

enum { act_define = 1, act_write = 2, act_read = 3 };

static void hand_on(int act, const CFI_cdesc_t* name, CFI_cdesc_t* array, const int* kind, int* stat,
                    const CFI_cdesc_t* errmsg) {
    const FortranPlace place = fb_fortran_at(array);
    forebay_checkpoint_act(act, &place, kind, stat, name->elem_len, name->base_addr,
                           errmsg != NULL ? errmsg->elem_len : 0, errmsg != NULL ? errmsg->base_addr : NULL);
}

typedef void CheckpointCall(const CFI_cdesc_t* name, CFI_cdesc_t* array, const int* kind, int* stat,
                            const CFI_cdesc_t* errmsg);
CheckpointCall forebay_checkpoint_define, forebay_checkpoint_write, forebay_checkpoint_read;

void forebay_checkpoint_define(const CFI_cdesc_t* name, CFI_cdesc_t* array, const int* kind, int* stat,
                               const CFI_cdesc_t* errmsg) {
    hand_on(act_define, name, array, kind, stat, errmsg);
}

void forebay_checkpoint_write(const CFI_cdesc_t* name, CFI_cdesc_t* array, const int* kind, int* stat,
                              const CFI_cdesc_t* errmsg) {
    hand_on(act_write, name, array, kind, stat, errmsg);
}

void forebay_checkpoint_read(const CFI_cdesc_t* name, CFI_cdesc_t* array, const int* kind, int* stat,
                             const CFI_cdesc_t* errmsg) {
    hand_on(act_read, name, array, kind, stat, errmsg);
}
