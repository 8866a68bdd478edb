!> Makes the wind free of divergence. The pressure for this solves a Poisson equation, by hypre's conjugate gradients
!> with one multigrid cycle as preconditioner. hypre's first dimension is z: its boxes lie in memory as our arrays do.
module les_pressure
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use les_grid
  use les_control, only: nx, ny, nz, dx, dy, dz, divergence_tolerance
  use les_fields, only: u, v, w, p
  use les_halo, only: exchange
  use les_hypre
  implicit none
  private

  integer, parameter :: iterations_allowed = 200
  integer(int64) :: matrix, b, x, solver
  integer :: lower(3), upper(3)
  integer, target, public :: iterations_last = 0, iterations_max = 0
  integer(int64), target, public :: iterations_total = 0
  real(wp), target, public :: divergence_before = 0  ! rms, 1/s, of the wind before the last projection
  public :: pressure_prepare, pressure_project, divergence

contains

  subroutine pressure_prepare()
    integer(int64) :: grid, stencil, cycle
    integer :: error, n
    integer, parameter :: offsets(3, 0:6) = reshape([0, 0, 0, -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1], &
                                                  [3, 7])
    real(wp), allocatable :: values(:, :, :, :)
    lower = [1, nys, nxl]
    upper = [nz, nyn, nxr]
    call HYPRE_StructGridCreate(comm%MPI_VAL, 3, grid, error)
    call HYPRE_StructGridSetExtents(grid, lower, upper, error)
    call HYPRE_StructGridSetPeriodic(grid, [0, ny, nx], error)
    call HYPRE_StructGridAssemble(grid, error)
    call need(error, 'the grid')
    call HYPRE_StructStencilCreate(3, 7, stencil, error)
    do n = 0, 6
      call HYPRE_StructStencilSetElement(stencil, n, offsets(:, n), error)
    end do
    call HYPRE_StructMatrixCreate(comm%MPI_VAL, grid, stencil, matrix, error)
    call HYPRE_StructMatrixInitialize(matrix, error)
    ! The negative Laplacian: conjugate gradients need a positive matrix. At the walls the pressure has no gradient.
    allocate (values(0:6, nz, nys:nyn, nxl:nxr))
    values(1, :, :, :) = -1/dz**2
    values(2, :, :, :) = -1/dz**2
    values(1, 1, :, :) = 0
    values(2, nz, :, :) = 0
    values(3:4, :, :, :) = -1/dy**2
    values(5:6, :, :, :) = -1/dx**2
    values(0, :, :, :) = -sum(values(1:6, :, :, :), 1)
    call HYPRE_StructMatrixSetBoxValues(matrix, lower, upper, 7, [0, 1, 2, 3, 4, 5, 6], values, error)
    call HYPRE_StructMatrixAssemble(matrix, error)
    call need(error, 'the matrix')
    call HYPRE_StructVectorCreate(comm%MPI_VAL, grid, b, error)
    call HYPRE_StructVectorInitialize(b, error)
    call HYPRE_StructVectorCreate(comm%MPI_VAL, grid, x, error)
    call HYPRE_StructVectorInitialize(x, error)
    call HYPRE_StructPFMGCreate(comm%MPI_VAL, cycle, error)
    call HYPRE_StructPFMGSetMaxIter(cycle, 1, error)
    call HYPRE_StructPFMGSetTol(cycle, 0._wp, error)
    call HYPRE_StructPFMGSetZeroGuess(cycle, error)
    call HYPRE_StructPFMGSetRelaxType(cycle, 1, error)  ! weighted Jacobi: symmetric, and the same on any ranks
    call HYPRE_StructPCGCreate(comm%MPI_VAL, solver, error)
    call HYPRE_StructPCGSetMaxIter(solver, iterations_allowed, error)
    call HYPRE_StructPCGSetTol(solver, 0._wp, error)  ! the absolute tolerance decides
    call HYPRE_StructPCGSetTwoNorm(solver, 1, error)
    call HYPRE_StructPCGSetPrecond(solver, hypre_pfmg, cycle, error)
    call HYPRE_StructPCGSetup(solver, matrix, b, x, error)
    call need(error, 'the solver')
  end subroutine

  !> Changes u, v, w, after a step of length dt, and p. Halos of u, v, w must be valid before the call,
  !> and are not valid after it.
  subroutine pressure_project(dt)
    real(wp), intent(in) :: dt
    real(wp) :: d(nz, nys:nyn, nxl:nxr), sums(2), cells
    integer :: error, i, j, k
    d = divergence()
    cells = real(nx, wp)*ny*nz
    ! A solution exists only if the sum is zero. It is, except for rounding: take the rest away.
    sums = [sum(d), sum(d**2)]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    divergence_before = sqrt(sums(2)/cells)
    d = -(d - sums(1)/cells)/dt
    call HYPRE_StructVectorSetBoxValues(b, lower, upper, d, error)
    call HYPRE_StructVectorAssemble(b, error)
    d = p(1:nz, nys:nyn, nxl:nxr)
    call HYPRE_StructVectorSetBoxValues(x, lower, upper, d, error)
    call HYPRE_StructVectorAssemble(x, error)
    call HYPRE_StructPCGSetAbsTol(solver, divergence_tolerance/dt*sqrt(cells), error)
    call HYPRE_StructPCGSolve(solver, matrix, b, x, error)
    call need(error, 'the solution; divergence_tolerance may be too small')
    call HYPRE_StructPCGGetNumIterations(solver, iterations_last, error)
    iterations_max = max(iterations_max, iterations_last)
    iterations_total = iterations_total + iterations_last
    call HYPRE_StructVectorGetBoxValues(x, lower, upper, d, error)
    call need(error, 'the pressure')
    p(1:nz, nys:nyn, nxl:nxr) = d
    p(0, :, :) = p(1, :, :)
    p(nz + 1, :, :) = p(nz, :, :)
    call exchange(p)
    do i = nxl, nxr
      do j = nys, nyn
        do k = 1, nz
          u(k, j, i) = u(k, j, i) - dt*(p(k, j, i) - p(k, j, i - 1))/dx
          v(k, j, i) = v(k, j, i) - dt*(p(k, j, i) - p(k, j - 1, i))/dy
          if (k < nz) w(k, j, i) = w(k, j, i) - dt*(p(k + 1, j, i) - p(k, j, i))/dz
        end do
      end do
    end do
  end subroutine

  !> Divergence in the cells of this rank, 1/s.
  function divergence() result(d)
    real(wp) :: d(nz, nys:nyn, nxl:nxr)
    d = (u(1:nz, nys:nyn, nxl + 1:nxr + 1) - u(1:nz, nys:nyn, nxl:nxr))/dx &
        + (v(1:nz, nys + 1:nyn + 1, nxl:nxr) - v(1:nz, nys:nyn, nxl:nxr))/dy &
        + (w(1:nz, nys:nyn, nxl:nxr) - w(0:nz - 1, nys:nyn, nxl:nxr))/dz
  end function

  subroutine need(error, what)
    integer, intent(in) :: error
    character(len=*), intent(in) :: what
    character(len=12) :: code
    if (error == 0) return
    write (code, '(i0)') error
    call give_up('hypre''s error '//trim(code)//' at '//what, 'look the number up in HYPRE_error_f.h')
  end subroutine

end module les_pressure
