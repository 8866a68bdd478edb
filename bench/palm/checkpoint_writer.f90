!> Forebay by PALM's calls: the same data as palm_forebay, named, placed and distributed anew in each step, and read one
!> variable at a time.
module palm_checkpoint
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08, only: MPI_COMM_WORLD
  use forebay_checkpoint
  use palm_data, only: item, mix, of_character, of_integer
  use palm_ranks, only: rank, rest
  use palm_system, only: fail, forget_cached, sleep_us
  use palm_writer, only: writer, writer_begin
  implicit none
  private
  public :: checkpoint_writer

  type, extends(writer) :: checkpoint_writer
    character(len=:), allocatable :: staging
    integer(c_int), allocatable :: kinds(:)  !< how each item is distributed
    logical :: second_step = .false.         !< the step that create writes was begun
  contains
    procedure :: begin => checkpoint_begin_turn
    procedure :: create => checkpoint_create
    procedure :: secure => checkpoint_secure
    procedure :: before_restore => checkpoint_before_restore
    procedure :: restore => checkpoint_restore_all
    procedure :: end => checkpoint_end_turn
  end type

contains

  subroutine checkpoint_begin_turn(self, directory, data)
    class(checkpoint_writer), intent(inout) :: self
    character(len=*), intent(in) :: directory
    type(mix), intent(in), target :: data
    integer :: unit
    call writer_begin(self, directory, data)
    if (rank == 0) then
      open (newunit=unit, file=directory//'/forebay.toml', status='replace', action='write')
      write (unit, '(a)') '[streams.restart]', 'slots = 1', 'keep = 0', 'view = false'
      close (unit)
    end if
    call rest()
    call open_run(self)
    call write_step(self, 1)
    call self%secure()
  end subroutine

  subroutine open_run(self)
    class(checkpoint_writer), intent(inout) :: self
    integer :: i
    call checkpoint_open(self%directory, MPI_COMM_WORLD%MPI_VAL, self%staging, self%directory//'/forebay.toml')
    self%kinds = [(dt_replicated, i=1, size(self%data%items))]
    do i = 1, size(self%data%items)
      associate (field => self%data%items(i), n => self%data%items(i)%dims)
        if (field%distributed) self%kinds(i) = checkpoint_kind(int(field%shape(:n)), int(field%start(:n)), &
                                                             int(field%halo(:n)), int(field%halo(:n)))
      end associate
    end do
  end subroutine

  subroutine checkpoint_create(self)
    class(checkpoint_writer), intent(inout) :: self
    call write_step(self, 2)
  end subroutine

  ! These calls have no wait of their own; a step is committed when its directory has its name.
  subroutine checkpoint_secure(self)
    class(checkpoint_writer), intent(inout) :: self
    character(len=:), allocatable :: manifest
    logical :: there
    manifest = self%directory//'/restart/step-000002/manifest.json'
    if (.not. self%second_step) manifest = self%directory//'/restart/step-000001/manifest.json'
    there = .false.
    do while (.not. there)
      call sleep_us(500)
      inquire (file=manifest, exist=there)
    end do
  end subroutine

  subroutine checkpoint_before_restore(self, cold)
    class(checkpoint_writer), intent(inout) :: self
    logical, intent(in) :: cold
    if (.not. cold) return
    call checkpoint_close()
    call rest()
    call forget_cached(self%directory)
    call open_run(self)
  end subroutine

  subroutine checkpoint_restore_all(self)
    class(checkpoint_writer), intent(inout) :: self
    integer :: i
    if (.not. checkpoint_restart()) call fail('palm-calls: the snapshot that was just committed is not found.')
    if (checkpoint_step() /= 2) call fail('palm-calls: another snapshot was found than the one just committed.')
    do i = 1, size(self%kinds)
      call pass(checkpoint_read, self%data%items(i), self%kinds(i))
    end do
  end subroutine

  subroutine checkpoint_end_turn(self)
    class(checkpoint_writer), intent(inout) :: self
    call checkpoint_close()
    nullify (self%data)
  end subroutine

  subroutine write_step(self, step)
    class(checkpoint_writer), intent(inout) :: self
    integer, intent(in) :: step
    integer :: i
    self%second_step = step == 2
    call checkpoint_begin(step)
    do i = 1, size(self%kinds)
      call pass(checkpoint_write, self%data%items(i), self%kinds(i))
    end do
    call checkpoint_end()
  end subroutine

  ! Gives the array, as PALM would, to checkpoint_write or checkpoint_read.
  subroutine pass(to, field, kind)
    procedure(checkpoint_write) :: to
    type(item), intent(in) :: field
    integer(c_int), intent(in) :: kind
    integer(int64) :: extent(4)
    integer(int32), pointer :: an_integer
    character(len=1), pointer :: a_character
    real(real64), pointer :: a_real
    real(real64), pointer, contiguous :: one_d(:), two_d(:, :), three_d(:, :, :), four_d(:, :, :, :)
    extent = field%count + 2*field%halo
    select case (field%dims)
    case (0)
      call c_f_pointer(field%address(), an_integer)
      call c_f_pointer(field%address(), a_character)
      call c_f_pointer(field%address(), a_real)
      if (field%element_bytes == of_integer) then
        call to(trim(field%name), an_integer, kind)
      else if (field%element_bytes == of_character) then
        call to(trim(field%name), a_character, kind)
      else
        call to(trim(field%name), a_real, kind)
      end if
    case (1)
      call c_f_pointer(field%address(), one_d, extent(:1))
      call to(trim(field%name), one_d, kind)
    case (2)
      call c_f_pointer(field%address(), two_d, extent(:2))
      call to(trim(field%name), two_d, kind)
    case (3)
      call c_f_pointer(field%address(), three_d, extent(:3))
      call to(trim(field%name), three_d, kind)
    case default
      call c_f_pointer(field%address(), four_d, extent)
      call to(trim(field%name), four_d, kind)
    end select
  end subroutine

end module palm_checkpoint
