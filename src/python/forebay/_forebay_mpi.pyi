import forebay._forebay


def open_mpi(fortran_comm: int, options: forebay._forebay.Options) -> forebay._forebay.Session: ...
