!> The part of hypre's Fortran interface used here, with argument types: hypre itself brings no module. An object is an
!> integer of 8 bytes. The last argument of every call is an error code.
module les_hypre
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  public

  integer, parameter :: hypre_pfmg = 1  ! the number of a preconditioner

  abstract interface
    subroutine make(comm, object, error)
      import int64
      integer, intent(in) :: comm
      integer(int64), intent(out) :: object
      integer, intent(out) :: error
    end subroutine
    subroutine make_grid(comm, dimensions, grid, error)
      import int64
      integer, intent(in) :: comm, dimensions
      integer(int64), intent(out) :: grid
      integer, intent(out) :: error
    end subroutine
    subroutine make_stencil(dimensions, size, stencil, error)
      import int64
      integer, intent(in) :: dimensions, size
      integer(int64), intent(out) :: stencil
      integer, intent(out) :: error
    end subroutine
    subroutine make_matrix(comm, grid, stencil, matrix, error)
      import int64
      integer, intent(in) :: comm
      integer(int64), intent(in) :: grid, stencil
      integer(int64), intent(out) :: matrix
      integer, intent(out) :: error
    end subroutine
    subroutine make_vector(comm, grid, vector, error)
      import int64
      integer, intent(in) :: comm
      integer(int64), intent(in) :: grid
      integer(int64), intent(out) :: vector
      integer, intent(out) :: error
    end subroutine
    subroutine act(object, error)
      import int64
      integer(int64), intent(in) :: object
      integer, intent(out) :: error
    end subroutine
    subroutine set_integer(object, value, error)
      import int64
      integer(int64), intent(in) :: object
      integer, intent(in) :: value
      integer, intent(out) :: error
    end subroutine
    subroutine set_integers(object, values, error)
      import int64
      integer(int64), intent(in) :: object
      integer, intent(in) :: values(*)
      integer, intent(out) :: error
    end subroutine
    subroutine get_integer(object, value, error)
      import int64
      integer(int64), intent(in) :: object
      integer, intent(out) :: value
      integer, intent(out) :: error
    end subroutine
    subroutine set_real(object, value, error)
      import int64, real64
      integer(int64), intent(in) :: object
      real(real64), intent(in) :: value
      integer, intent(out) :: error
    end subroutine
    subroutine set_extents(grid, lower, upper, error)
      import int64
      integer(int64), intent(in) :: grid
      integer, intent(in) :: lower(*), upper(*)
      integer, intent(out) :: error
    end subroutine
    subroutine set_element(stencil, number, offset, error)
      import int64
      integer(int64), intent(in) :: stencil
      integer, intent(in) :: number, offset(*)
      integer, intent(out) :: error
    end subroutine
    subroutine set_matrix(matrix, lower, upper, entry_count, entries, values, error)
      import int64, real64
      integer(int64), intent(in) :: matrix
      integer, intent(in) :: lower(*), upper(*), entry_count, entries(*)
      real(real64), intent(in) :: values(*)
      integer, intent(out) :: error
    end subroutine
    subroutine set_vector(vector, lower, upper, values, error)
      import int64, real64
      integer(int64), intent(in) :: vector
      integer, intent(in) :: lower(*), upper(*)
      real(real64), intent(in) :: values(*)
      integer, intent(out) :: error
    end subroutine
    subroutine get_vector(vector, lower, upper, values, error)
      import int64, real64
      integer(int64), intent(in) :: vector
      integer, intent(in) :: lower(*), upper(*)
      real(real64), intent(out) :: values(*)
      integer, intent(out) :: error
    end subroutine
    subroutine set_preconditioner(solver, number, preconditioner, error)
      import int64
      integer(int64), intent(in) :: solver, preconditioner
      integer, intent(in) :: number
      integer, intent(out) :: error
    end subroutine
    subroutine solve(solver, matrix, b, x, error)
      import int64
      integer(int64), intent(in) :: solver, matrix, b, x
      integer, intent(out) :: error
    end subroutine
  end interface

  procedure(make_grid) :: HYPRE_StructGridCreate
  procedure(set_extents) :: HYPRE_StructGridSetExtents
  procedure(set_integers) :: HYPRE_StructGridSetPeriodic
  procedure(act) :: HYPRE_StructGridAssemble
  procedure(make_stencil) :: HYPRE_StructStencilCreate
  procedure(set_element) :: HYPRE_StructStencilSetElement
  procedure(make_matrix) :: HYPRE_StructMatrixCreate
  procedure(act) :: HYPRE_StructMatrixInitialize, HYPRE_StructMatrixAssemble
  procedure(set_matrix) :: HYPRE_StructMatrixSetBoxValues
  procedure(make_vector) :: HYPRE_StructVectorCreate
  procedure(act) :: HYPRE_StructVectorInitialize, HYPRE_StructVectorAssemble
  procedure(set_vector) :: HYPRE_StructVectorSetBoxValues
  procedure(get_vector) :: HYPRE_StructVectorGetBoxValues
  procedure(make) :: HYPRE_StructPFMGCreate, HYPRE_StructPCGCreate
  procedure(set_integer) :: HYPRE_StructPFMGSetMaxIter, HYPRE_StructPFMGSetRelaxType, HYPRE_StructPCGSetMaxIter, &
                            HYPRE_StructPCGSetTwoNorm
  procedure(set_real) :: HYPRE_StructPFMGSetTol, HYPRE_StructPCGSetTol, HYPRE_StructPCGSetAbsTol
  procedure(act) :: HYPRE_StructPFMGSetZeroGuess
  procedure(set_preconditioner) :: HYPRE_StructPCGSetPrecond
  procedure(solve) :: HYPRE_StructPCGSetup, HYPRE_StructPCGSolve
  procedure(get_integer) :: HYPRE_StructPCGGetNumIterations

end module les_hypre
