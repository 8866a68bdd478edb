!> A mini large-eddy code with 280 variables in PALM's mix. It uses Forebay as PALM's authors would: the module
!> forebay_checkpoint saves and restarts them on any ranks. It solves Boussinesq's equations over a rough warm surface.
!>
!>   grid, halo            ranks in x and y, halos of 3
!>   control, start        the parameter file, the first state
!>   fields                the state
!>   transport, surface, closure, pressure (by hypre), dynamics    one step
!>   moments, statistics   statistics of the run, also restarted
!>   restart, keep, fingerprint    the restart list; only restart and keep call Forebay
program les_main
  use mpi_f08
  use les_grid
  use les_control
  use les_fields
  use les_start, only: start_fields
  use les_pressure, only: pressure_prepare, iterations_last
  use les_closure, only: closure_update
  use les_dynamics
  use les_statistics
  use les_restart
  implicit none

  character(len=1024) :: argument
  logical :: continued

  call MPI_Init()
  call get_command_argument(1, argument)
  if (argument == '--help') call help()
  call control_read(argument)
  call grid_split(nx, ny, [ranks_x, ranks_y])
  call fields_allocate()
  call statistics_allocate()
  continued = .false.
  if (run /= '') then
    call restart_open()
    continued = restart_read()
  end if
  if (.not. continued) call start_fields()
  call dynamics_prepare()
  call pressure_prepare()
  if (.not. continued) then
    call closure_update()
    call statistics_start()
  end if
  call simulate()
  call print_sums()
  if (run /= '') call restart_close()
  call MPI_Finalize()

contains

  subroutine help()
    integer :: number
    call MPI_Comm_rank(MPI_COMM_WORLD, number)
    if (number == 0) call control_help()
    call MPI_Finalize()
    stop
  end subroutine

  subroutine simulate()
    logical :: due, save_now, stop_now
    do while (step < end_step)
      call dynamics_step()
      call statistics_update(dt, time)
      call print_step()
      if (run == '') cycle
      call restart_job(save_now, stop_now)
      due = .false.
      if (save_every > 0) due = step == end_step .or. mod(step, save_every) == 0
      if (due .or. save_now) call restart_save()
      if (stop_now) exit
    end do
  end subroutine

  subroutine print_step()
    if (rank /= 0) return
    print '(a,i0,a,es12.5,a,es11.4,a,es22.15,a,es10.3,a,es22.15,a,i0)', 'step ', step, ' time ', time, ' dt ', dt, &
      ' speed ', maxval(series(1, 1:3)), ' divergence ', divergence_max, ' energy ', energy, ' iterations ', iterations_last
    flush (6)
  end subroutine

  !> Prints the mean, the mean square and a position-weighted mean of each field. Another number of ranks must print the
  !> same, except for rounding. Then prints the budgets of heat and tracer.
  subroutine print_sums()
    call print_sum('u', u)
    call print_sum('v', v)
    call print_sum('w', w)
    call print_sum('theta', theta)
    call print_sum('q', q)
    if (rank /= 0) return
    print '(a,2es24.15)', 'heat gained, from the surface ', budgets(3) - budgets(1), budgets(2)
    print '(a,2es24.15)', 'tracer gained, from the surface ', budgets(6) - budgets(4), budgets(5)
  end subroutine

  subroutine print_sum(name, a)
    character(len=*), intent(in) :: name
    real(wp), intent(in) :: a(0:, nys - halo:, nxl - halo:)
    real(wp), parameter :: circle = 2*acos(-1._wp)
    real(wp) :: sums(3), weight
    integer :: i, j
    sums = 0
    do i = nxl, nxr
      do j = nys, nyn
        weight = (1 + sin(circle*i/nx))*(1 + cos(circle*j/ny))
        sums = sums + [sum(a(1:nz, j, i)), sum(a(1:nz, j, i)**2), weight*sum(a(1:nz, j, i))]
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    if (rank == 0) print '(2a,3es24.15)', 'sums of ', name, sums/(real(nx, wp)*ny*nz)
  end subroutine

end program les_main
