!> What the benchmark was asked to do.
module palm_options
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, output_unit
  use palm_ranks, only: rank
  use palm_system, only: fail
  implicit none
  private
  public :: options, read_options

  type :: options
    integer(int64) :: bytes = 1073741824_int64
    integer :: repeats = 5
    character(len=1024) :: tmpfs = '/dev/shm', disk = '/var/tmp', staging = '/dev/shm'
    character(len=1024) :: writers = 'forebay,palm-calls,stream,mpi-io,hdf5,netcdf'
    character(len=1024) :: hints = ''
    logical :: json = .false., help = .false.
  end type

contains

  subroutine read_options(chosen)
    type(options), intent(out) :: chosen
    character(len=1024) :: word, value
    integer :: i
    call get_environment_variable('TMPDIR', value)
    if (value /= '') chosen%disk = value
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, word)
      i = i + 1
      select case (word)
      case ('--json')
        chosen%json = .true.
        cycle
      case ('--help')
        chosen%help = .true.
        if (rank == 0) call print_help()
        return
      end select
      if (i > command_argument_count()) call fail(trim(word)//' has no value. Next: palm_bench --help')
      call get_command_argument(i, value)
      i = i + 1
      select case (word)
      case ('--size')
        chosen%bytes = number(word, value)*1048576
      case ('--repeats')
        chosen%repeats = int(number(word, value))
      case ('--tmpfs')
        chosen%tmpfs = value
      case ('--disk')
        chosen%disk = value
      case ('--staging')
        chosen%staging = value
      case ('--hints')
        chosen%hints = value
      case ('--writers')
        chosen%writers = value
      case default
        call fail(trim(word)//' is not known. Next: palm_bench --help')
      end select
    end do
  end subroutine

  integer(int64) function number(word, value)
    character(len=*), intent(in) :: word, value
    integer :: status
    read (value, *, iostat=status) number
    if (status /= 0 .or. number < 1) call fail(trim(word)//' takes a number from 1 on, not '//trim(value)//'.')
  end function

  subroutine print_help()
    write (output_unit, '(a)') 'palm_bench: PALM''s restart data by Forebay and by four other ways, in turns', &
      '', &
      '  --size MIB       data of all ranks together (1024); a place needs twice as much, memory six times', &
      '  --repeats N      turns that count, after a first one that does not (5)', &
      '  --tmpfs DIR      a place in memory (/dev/shm); "none" leaves it out', &
      '  --disk DIR       a place on storage ($TMPDIR or /var/tmp); "none" leaves it out', &
      '  --staging DIR    where Forebay stages (/dev/shm)', &
      '  --writers LIST   of forebay,palm-calls,stream,mpi-io,hdf5,netcdf (all)', &
      '  --hints LIST     key=value,... for MPI-IO, HDF5 and netCDF (ROMIO does not collect)', &
      '  --json           one object on standard output: ratios and measured, by key', &
      '', &
      '  mpiexec -n 4 palm_bench --disk /scratch/me'
  end subroutine

end module palm_options
