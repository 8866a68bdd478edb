/* The place of Fortran data: type fb_place of forebay_words.f90. C and C++ read this header. */

#pragma once

#include <stdint.h>

#include "forebay/forebay.h"

#define FB_FORTRAN_RANK_MAX 15 /* Fortran 2018, 5.4.6 */

typedef struct FortranPlace {
    void* address;
    int64_t element_bytes;
    fb_type type; /* 0: a type that cannot be saved */
    int32_t rank;
    int64_t extent[FB_FORTRAN_RANK_MAX]; /* -1: the last extent of an assumed-size array */
    int64_t stride_bytes[FB_FORTRAN_RANK_MAX];
} FortranPlace;
