!> In place of hdf5_writer.f90 where there is no parallel HDF5.
module palm_hdf5
  use palm_stream, only: stream_writer
  implicit none
  private
  public :: hdf5_writer, make_hdf5_writer

  type, extends(stream_writer) :: hdf5_writer
  end type

contains

  subroutine make_hdf5_writer(new_writer)
    type(hdf5_writer), intent(out) :: new_writer
    new_writer%name = 'hdf5'
    new_writer%left_out = 'no parallel HDF5 with its Fortran module was found when this was built; Debian: libhdf5-openmpi-dev'
  end subroutine

end module palm_hdf5
