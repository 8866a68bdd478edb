! Bodies of the calls that open and describe a stream: replicated values, arrays, tables, and their places in memory.
submodule (forebay_streams) forebay_describe
  use, intrinsic :: iso_c_binding
  use forebay_c
  use forebay_texts
  implicit none

  ! Texts of one column, for C. The type stands here, since gfortran 12 confuses components of a type inside a module
  ! procedure with dummy arguments of the same name.
  type :: column_texts
    character(kind=c_char, len=:), allocatable :: name, unit, description
  end type

contains

  module procedure open_stream
    character(kind=c_char, len=:), allocatable, target :: text
    type(c_ptr) :: given
    type(c_error) :: error
    integer(c_int) :: status
    given = c_null_ptr
    if (is_given(options)) then
      text = c_text(options)
      given = c_loc(text)
    end if
    call c_stream_free(stream%handle)
    stream%handle = c_null_ptr
    status = c_stream_open(session, c_text(name), given, stream%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_replicated
    type(c_error) :: error
    integer(c_int) :: status, of_first_rank
    of_first_rank = 0
    if (present(first_rank)) of_first_rank = merge(1, 0, first_rank)
    status = c_replicated(self%handle, c_text(name), value, c_text(unit), c_text(description), of_first_rank, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure array_int64
    type(c_error) :: error
    integer(c_int) :: status, may_have_holes
    integer(int64) :: lo(size(start)), hi(size(start))
    logical :: fits
    fits = size(start) == size(shape)
    call take_halo(halo_lo, lo, fits)
    call take_halo(halo_hi, hi, fits)
    if (.not. fits) then
      call refuse_lengths(name, stat, errmsg)
      return
    end if
    may_have_holes = 0
    if (present(partial)) may_have_holes = merge(1, 0, partial)
    status = c_array(self%handle, c_text(name), data, size(shape), shape, start, lo, hi, c_text(unit), &
                     c_text(description), lines(dimensions), may_have_holes, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure array_int32
    integer(int64), allocatable :: lo(:), hi(:)  ! stay unallocated if the argument is absent
    if (present(halo_lo)) lo = int(halo_lo, int64)
    if (present(halo_hi)) hi = int(halo_hi, int64)
    call array_int64(self, name, data, int(shape, int64), int(start, int64), lo, hi, unit, description, dimensions, &
                     partial, stat, errmsg)
  end procedure

  module procedure rebind_value
    type(c_error) :: error
    integer(c_int) :: status
    status = c_rebind_replicated(self%handle, c_text(name), value, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure rebind_int64
    type(c_error) :: error
    integer(c_int) :: status
    integer(int64) :: lo(size(start)), hi(size(start)), global(size(start))
    logical :: fits
    fits = .true.
    global = 0
    if (present(shape)) fits = size(shape) == size(start)
    if (present(shape) .and. fits) global = shape
    call take_halo(halo_lo, lo, fits)
    call take_halo(halo_hi, hi, fits)
    if (.not. fits) then
      call refuse_lengths(name, stat, errmsg)
      return
    end if
    status = c_rebind_array(self%handle, c_text(name), data, size(start), start, lo, hi, &
                            merge(size(start), 0, present(shape)), global, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure rebind_int32
    integer(int64), allocatable :: lo(:), hi(:), global(:)  ! stay unallocated if the argument is absent
    if (present(halo_lo)) lo = int(halo_lo, int64)
    if (present(halo_hi)) hi = int(halo_hi, int64)
    if (present(shape)) global = int(shape, int64)
    call rebind_int64(self, name, data, int(start, int64), lo, hi, stat, errmsg, global)
  end procedure

  module procedure stream_forget
    type(c_error) :: error
    integer(c_int) :: status
    status = c_forget(self%handle, c_text(name), error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure stream_particles
    type(column_texts), target :: kept(size(columns))
    type(c_attributes), target :: attributes(size(columns))
    type(c_column) :: described(size(columns))
    type(c_error) :: error
    integer(c_int) :: status
    integer :: i
    ! C reads these texts by address, so they stay in `kept` until the call returns.
    do i = 1, size(columns)
      kept(i)%name = c_text(columns(i)%name)
      kept(i)%unit = c_text(columns(i)%unit)
      kept(i)%description = c_text(columns(i)%description)
      attributes(i)%unit = c_loc(kept(i)%unit)
      attributes(i)%description = c_loc(kept(i)%description)
      described(i) = c_column(c_loc(kept(i)%name), columns(i)%type, c_loc(attributes(i)))
    end do
    call c_particles_free(particles%handle)
    particles%handle = c_null_ptr
    status = c_particles_describe(self%handle, c_text(name), size(columns, kind=c_size_t), described, &
                                  particles%handle, error)
    call finish(status, error, stat, errmsg)
  end procedure

  module procedure particles_bind
    type(c_error) :: error
    integer(c_int) :: status
    status = c_particles_bind(self%handle, rows, size(columns, kind=c_size_t), columns, error)
    call finish(status, error, stat, errmsg)
  end procedure

  ! Sets the widths of a halo, 0 if it is absent. `fits` becomes false if its length is wrong.
  subroutine take_halo(given, widths, fits)
    integer(int64), intent(in), optional :: given(:)
    integer(int64), intent(out) :: widths(:)
    logical, intent(inout) :: fits
    widths = 0
    if (.not. present(given)) return
    fits = fits .and. size(given) == size(widths)
    if (fits) widths = given
  end subroutine

  ! The error if shape, start and halos do not all have one number for each dimension.
  subroutine refuse_lengths(name, stat, errmsg)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call refuse("variable '"//trim(name)//"': shape, start and halos have different lengths", stat=stat, errmsg=errmsg)
  end subroutine

  module procedure particles_final
    call c_particles_free(self%handle)
    self%handle = c_null_ptr
  end procedure

  module procedure particles_assign
    call refuse_assignment('fb_particles', c_associated(self%handle) .or. c_associated(other%handle))
  end procedure

end submodule forebay_describe
