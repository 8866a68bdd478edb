/* H5Part has a header of this name; ours declares all of that in H5MultiBlock.h. */

#include "H5MultiBlock.h"
