// glibc has this header from 2.32 on, and libstdc++ of gcc 12 asks for it. The variable is in glibc_parts.c.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
extern char __libc_single_threaded;
#ifdef __cplusplus
}
#endif
