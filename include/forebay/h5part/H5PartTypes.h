/* H5Part has a header of this name; ours declares all of that in H5Part.h. */

#include "H5Part.h"
