! Restores the field of write_palm_fortran.f90 from an import without ghost layers into arrays with three ghost layers
! in y and x, as in PALM, on any number of ranks: restart_palm_halos RUN. Ghost layers inside the grid are filled too.
program restart_palm_halos
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi_f08
    use forebay_checkpoint
    implicit none
    integer, parameter :: nx = 8, ny = 7, nzb = 0, nzt = 4, ghosts = 3
    integer :: rank, ranks, nxl, nxr, kind, i, j, k, wrong
    real(real64), allocatable, target :: e(:, :, :)
    character(len=1024) :: run

    call get_command_argument(1, run)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    nxl = (nx + 1) * rank / ranks
    nxr = (nx + 1) * (rank + 1) / ranks - 1
    allocate (e(nzb:nzt + 1, -ghosts:ny + ghosts, nxl - ghosts:nxr + ghosts), source=-1.0_real64)
    call checkpoint_open(run, MPI_COMM_WORLD%MPI_VAL, staging='memory')
    kind = checkpoint_kind([nzt + 2, ny + 1, nx + 1], [1, 1, nxl + 1], [0, ghosts, ghosts], [0, ghosts, ghosts])
    if (.not. checkpoint_restart()) error stop 'no snapshot'
    call checkpoint_read('e', e, kind)
    wrong = 0
    do i = max(nxl - ghosts, 0), min(nxr + ghosts, nx)
        do j = 0, ny
            do k = nzb, nzt + 1
                if (abs(e(k, j, i) - (1000 + i + j / 100.0_real64 + k / 10000.0_real64)) > 0) wrong = wrong + 1
            end do
        end do
    end do
    call checkpoint_close()
    if (wrong > 0) error stop 'values differ'
    print '(a,i0,a,i0)', 'rank ', rank, ' of ', ranks
    call MPI_Finalize()
end program restart_palm_halos
