!> The ways that are compared, by their names.
module palm_writers
  use palm_checkpoint, only: checkpoint_writer
  use palm_forebay, only: forebay_writer
  use palm_hdf5, only: hdf5_writer, make_hdf5_writer
  use palm_mpi_io, only: mpi_io_writer
  use palm_netcdf, only: make_netcdf_writer, netcdf_writer
  use palm_options, only: options
  use palm_report, only: report
  use palm_stream, only: stream_writer
  use palm_system, only: fail
  use palm_writer, only: writer_slot
  implicit none
  private
  public :: make_writers

contains

  !> Those of --writers that this build has; the report says which it has not, and why.
  subroutine make_writers(chosen, writers, results)
    type(options), intent(in) :: chosen
    type(writer_slot), allocatable, intent(out) :: writers(:)
    type(report), intent(inout) :: results
    character(len=1024) :: rest
    type(writer_slot) :: slots(16)
    character(len=200) :: why
    integer :: comma, count
    rest = chosen%writers
    count = 0
    do while (rest /= '' .and. count < size(slots))
      comma = index(trim(rest)//',', ',')
      call make_writer(rest(:comma - 1), chosen, slots(count + 1))
      if (allocated(slots(count + 1)%it%left_out)) then
        why = trim(slots(count + 1)%it%name)//': '//slots(count + 1)%it%left_out
        results%left_out = [results%left_out, why]
        deallocate (slots(count + 1)%it)
      else
        count = count + 1
      end if
      rest = rest(comma + 1:)
    end do
    allocate (writers(count))
    do comma = 1, count
      call move_alloc(slots(comma)%it, writers(comma)%it)
    end do
  end subroutine

  subroutine make_writer(name, chosen, slot)
    character(len=*), intent(in) :: name
    type(options), intent(in) :: chosen
    type(writer_slot), intent(inout) :: slot
    type(hdf5_writer) :: hdf5
    type(netcdf_writer) :: netcdf
    select case (name)
    case ('forebay')
      allocate (forebay_writer :: slot%it)
    case ('palm-calls')
      allocate (checkpoint_writer :: slot%it)
    case ('stream')
      allocate (stream_writer :: slot%it)
    case ('mpi-io')
      allocate (mpi_io_writer :: slot%it)
    case ('hdf5')
      call make_hdf5_writer(hdf5)
      allocate (slot%it, source=hdf5)
    case ('netcdf')
      call make_netcdf_writer(netcdf)
      allocate (slot%it, source=netcdf)
    case default
      call fail('there is no writer '//trim(name)//'. Next: palm_bench --help')
    end select
    slot%it%name = name
    select type (it => slot%it)
    type is (forebay_writer)
      it%staging = trim(chosen%staging)
    type is (checkpoint_writer)
      it%staging = trim(chosen%staging)
    end select
  end subroutine

end module palm_writers
