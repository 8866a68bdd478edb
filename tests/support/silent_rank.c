/* For LD_PRELOAD: the rank stops receiving messages, as on a node that hangs. */

#include <unistd.h>

int MPI_Iprobe(void) {
    while (1) pause();
}
