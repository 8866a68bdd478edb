/* To be preloaded: the rank never looks for a message again, as on a node that hangs. */

#include <unistd.h>

int MPI_Iprobe(void) {
    while (1) pause();
}
