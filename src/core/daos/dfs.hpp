// DAOS's declarations of its file system, and the flags and structures of open(2) and stat(2) for its calls.

#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <daos.h>  // before daos_fs.h, which needs it

#include <daos_fs.h>
