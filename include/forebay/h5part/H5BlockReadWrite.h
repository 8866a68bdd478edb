/* H5Part has a header of this name; ours declares all of that in H5Block.h. */

#include "H5Block.h"
