!> Parallel HDF5: one file, a dataset for each variable. Distributed ones are written collectively, without ghost layers;
!> what is equal on every rank is written by rank 0 alone, and read by each.
module palm_hdf5
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc
  use, intrinsic :: iso_fortran_env, only: int64
  use hdf5
  use mpi_f08, only: MPI_COMM_WORLD
  use palm_data, only: item, of_character, of_integer, pack_item, unpack_item
  use palm_hints, only: file_hints
  use palm_ranks, only: rank
  use palm_system, only: fail
  use palm_writer, only: file_writer
  implicit none
  private
  public :: hdf5_writer, make_hdf5_writer

  type, extends(file_writer) :: hdf5_writer
  contains
    procedure :: create => hdf5_create
    procedure :: restore => hdf5_restore
  end type

  !> Arrays from this size on begin at a multiple of it.
  integer(hsize_t), parameter :: alignment = 1048576

contains

  subroutine make_hdf5_writer(new_writer)
    type(hdf5_writer), intent(out) :: new_writer
    integer :: status
    new_writer%name = 'hdf5'
    call h5open_f(status)
    call check(status, 'start')
  end subroutine

  subroutine hdf5_create(self)
    class(hdf5_writer), intent(inout) :: self
    integer(hid_t) :: file, access, all_ranks, one_rank, creation
    integer :: i, status
    self%path = self%directory//'/palm.h5'
    access = access_list()
    call h5fcreate_f(self%path, H5F_ACC_TRUNC_F, file, status, access_prp=access)
    call check(status, 'create the file')
    call transfer_lists(all_ranks, one_rank)
    ! Space at once and no fill values: they would be written before the data.
    call h5pcreate_f(H5P_DATASET_CREATE_F, creation, status)
    call h5pset_alloc_time_f(creation, H5D_ALLOC_TIME_EARLY_F, status)
    call h5pset_fill_time_f(creation, H5D_FILL_TIME_NEVER_F, status)
    do i = 1, size(self%data%items)
      call write_item(file, self%data%items(i), self%data%buffer, creation, merge(all_ranks, one_rank, &
                                                                              self%data%items(i)%distributed))
    end do
    call h5pclose_f(creation, status)
    call close_all(file, access, all_ranks, one_rank)
  end subroutine

  subroutine hdf5_restore(self)
    class(hdf5_writer), intent(inout) :: self
    integer(hid_t) :: file, access, all_ranks, one_rank
    integer :: i, status
    access = access_list()
    call h5fopen_f(self%path, H5F_ACC_RDONLY_F, file, status, access_prp=access)
    call check(status, 'open the file')
    call transfer_lists(all_ranks, one_rank)
    do i = 1, size(self%data%items)
      call read_item(file, self%data%items(i), self%data%buffer, merge(all_ranks, one_rank, &
                                                                       self%data%items(i)%distributed))
    end do
    call close_all(file, access, all_ranks, one_rank)
  end subroutine

  subroutine write_item(file, field, buffer, creation, how)
    integer(hid_t), intent(in) :: file, creation, how
    type(item), intent(in) :: field
    integer(int64), intent(inout), target :: buffer(:)
    integer(hid_t) :: space, memory, set
    integer :: status
    call make_spaces(field, space, memory)
    call h5dcreate_f(file, trim(field%name), kind_of(field), space, set, status, dcpl_id=creation)
    call check(status, 'create '//trim(field%name))
    call select_part(field, space)
    if (any(field%halo > 0)) call pack_item(field, buffer)
    if (field%distributed .or. rank == 0) &
      call h5dwrite_f(set, kind_of(field), place_of(field, buffer), status, memory, space, how)
    call check(status, 'write '//trim(field%name))
    call close_item(set, space, memory)
  end subroutine

  subroutine read_item(file, field, buffer, how)
    integer(hid_t), intent(in) :: file, how
    type(item), intent(inout) :: field
    integer(int64), intent(inout), target :: buffer(:)
    integer(hid_t) :: space, memory, set
    type(c_ptr) :: place
    integer :: status
    call make_spaces(field, space, memory)
    place = place_of(field, buffer)
    call h5dopen_f(file, trim(field%name), set, status)
    call check(status, 'open '//trim(field%name))
    call select_part(field, space)
    call h5dread_f(set, kind_of(field), place, status, memory, space, how)
    call check(status, 'read '//trim(field%name))
    if (any(field%halo > 0)) call unpack_item(field, buffer)
    call close_item(set, space, memory)
  end subroutine

  ! The data themselves, or the buffer when they have ghost layers.
  type(c_ptr) function place_of(field, buffer)
    type(item), intent(in) :: field
    integer(int64), intent(in), target :: buffer(:)
    place_of = field%address()
    if (any(field%halo > 0)) place_of = c_loc(buffer)
  end function

  integer(hid_t) function kind_of(field)
    type(item), intent(in) :: field
    select case (field%element_bytes)
    case (of_character)
      kind_of = H5T_NATIVE_CHARACTER
    case (of_integer)
      kind_of = H5T_NATIVE_INTEGER
    case default
      kind_of = H5T_NATIVE_DOUBLE
    end select
  end function

  subroutine make_spaces(field, space, memory)
    type(item), intent(in) :: field
    integer(hid_t), intent(out) :: space, memory
    integer :: status
    if (field%dims == 0) then
      call h5screate_f(H5S_SCALAR_F, space, status)
      call h5screate_f(H5S_SCALAR_F, memory, status)
    else
      call h5screate_simple_f(field%dims, field%shape(:field%dims), space, status)
      call h5screate_simple_f(field%dims, field%count(:field%dims), memory, status)
    end if
    call check(status, 'describe '//trim(field%name))
  end subroutine

  subroutine select_part(field, space)
    type(item), intent(in) :: field
    integer(hid_t), intent(in) :: space
    integer :: status
    if (.not. field%distributed) return
    call h5sselect_hyperslab_f(space, H5S_SELECT_SET_F, field%start(:field%dims) - 1, field%count(:field%dims), status)
    call check(status, 'select a part of '//trim(field%name))
  end subroutine

  integer(hid_t) function access_list() result(list)
    integer :: status
    call h5pcreate_f(H5P_FILE_ACCESS_F, list, status)
    call h5pset_fapl_mpio_f(list, MPI_COMM_WORLD%MPI_VAL, file_hints%MPI_VAL, status)
    call check(status, 'use MPI-IO')
    call h5pset_libver_bounds_f(list, H5F_LIBVER_LATEST_F, H5F_LIBVER_LATEST_F, status)
    call h5pset_alignment_f(list, alignment, alignment, status)
    call h5pset_coll_metadata_write_f(list, .true., status)
    call h5pset_all_coll_metadata_ops_f(list, .true., status)
    call check(status, 'set the access')
  end function

  subroutine transfer_lists(all_ranks, one_rank)
    integer(hid_t), intent(out) :: all_ranks, one_rank
    integer :: status
    call h5pcreate_f(H5P_DATASET_XFER_F, all_ranks, status)
    call h5pset_dxpl_mpio_f(all_ranks, H5FD_MPIO_COLLECTIVE_F, status)
    call h5pcreate_f(H5P_DATASET_XFER_F, one_rank, status)
    call h5pset_dxpl_mpio_f(one_rank, H5FD_MPIO_INDEPENDENT_F, status)
    call check(status, 'set the transfer')
  end subroutine

  subroutine close_item(set, space, memory)
    integer(hid_t), intent(in) :: set, space, memory
    integer :: status
    call h5dclose_f(set, status)
    call check(status, 'close a dataset')
    call h5sclose_f(space, status)
    call h5sclose_f(memory, status)
  end subroutine

  subroutine close_all(file, access, all_ranks, one_rank)
    integer(hid_t), intent(in) :: file, access, all_ranks, one_rank
    integer :: status
    call h5pclose_f(all_ranks, status)
    call h5pclose_f(one_rank, status)
    call h5pclose_f(access, status)
    call h5fclose_f(file, status)
    call check(status, 'close the file')
  end subroutine

  subroutine check(status, what)
    integer, intent(in) :: status
    character(len=*), intent(in) :: what
    if (status /= 0) call fail('hdf5: cannot '//what//'.')
  end subroutine

end module palm_hdf5
