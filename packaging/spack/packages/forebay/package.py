# spack repo add packaging/spack && spack install forebay

import pathlib

from spack.package import *


class Forebay(CMakePackage):
    """Checkpoint and output software for simulations: a save costs one memory copy into a mapped file on the node; an
    agent drains it to storage while the simulation computes, commits it, and restores it on any number of ranks."""

    # What is committed in the tree that holds this recipe.
    git = pathlib.Path(__file__).resolve().parents[4].as_uri()
    version("main", branch="main")

    license("Apache-2.0", checked_by="forebay")

    variant("mpi", default=True, description="Build forebay_mpi, the distributed engine")
    variant("fortran", default=True, when="+mpi", description="Build the modules for Fortran")
    variant("hdf5", default=True, description="Build the views")
    variant("transfer", default=True, description="Build forebay-transfer, which works on trees of files")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("isa-l@2.30:")
    depends_on("c-blosc@1.21:")
    depends_on("zfp@1.0:")
    depends_on("fmt@9:")
    # Text and axes of pictures.
    depends_on("cairo@1.16: +ft +fc")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("tomlplusplus@3.0:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("mpi@3:", when="+mpi")
    # Its views are made outside the simulation, by one process.
    depends_on("hdf5@1.10:", when="+hdf5")

    conflicts("%gcc@:11", msg="C++20 as gcc 12 has it")
    conflicts("platform=darwin", msg="The agent and the staging need Linux")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("FOREBAY_MPI", "mpi"),
            self.define("FOREBAY_FORTRAN", self.spec.satisfies("+fortran")),
            self.define_from_variant("FOREBAY_HDF5", "hdf5"),
            self.define("FOREBAY_PYTHON", False),  # pip install . builds the package for Python
            self.define_from_variant("FOREBAY_TRANSFER", "transfer"),
            self.define("FOREBAY_DAOS", False),  # libdfs of the site, which Spack does not know
            self.define("FOREBAY_JUMBO", True),
            self.define("FOREBAY_TESTS", False),
            self.define("FOREBAY_APPS", False),
        ]
