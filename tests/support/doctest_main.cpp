// doctest itself and the main() of the tests, compiled once: it costs as much as a whole test file. A test whose
// process does something before the cases, as those of MPI do, defines DOCTEST_CONFIG_IMPLEMENT and has a main() of its
// own; the linker then leaves this one in its archive.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
