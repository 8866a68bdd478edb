!> PALM's data as they lie in a rank's memory: the mix of a run of 4096 x 4096 x 256, scaled in the horizontal.
!>
!>   192 scalars, 907 bytes:   152 integers, 37 reals, 3 characters; equal on every rank
!>    57 1-D arrays, 1.00 GiB: 8 of surface elements, one a column; 49 of few surfaces, nz + 2 elements a rank
!>    21 2-D arrays, 1.25 GiB: 10 planes (y, x) with ghost layers; 11 of statistics (nz + 2, 8), equal on every rank
!>     9 3-D arrays, 258 GiB:  8 fields (z, y, x) with ghost layers; 1 of statistics, equal on every rank
!>     1 4-D array, 3806 kB:   statistics (nz + 2, 2, 461, 2), equal on every rank
!>
!> What PALM published are numbers and sums; that 8, 10 and 8 arrays are whole planes and fields follows from the sums.
module palm_data
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64
  use palm_ranks, only: rank, rank_count, sum_of
  use palm_system, only: fail
  implicit none
  private
  public :: item, mix, make_mix, pack_item, unpack_item, of_integer, of_real, of_character, nz, ghosts

  integer, parameter :: of_character = 1, of_integer = 4, of_real = 8  !< kinds of elements, and their bytes
  integer(int64), parameter :: nz = 256, levels = nz + 2, ghosts = 3, statistics = 461, regions = 2

  type :: item
    character(len=32) :: name = ''
    integer :: element_bytes = of_real
    logical :: distributed = .false.
    integer :: dims = 0
    !> Global shape; where this rank's part begins, from 1; its extents; ghost layers on both sides. Beyond dims: 1, 1, 1, 0.
    integer(int64) :: shape(4) = 1, start(4) = 1, count(4) = 1, halo(4) = 0
    !> The memory, ghost layers included; some bytes more at the end.
    integer(int64), pointer, contiguous :: words(:) => null()
    integer(int64) :: sum = 0  !< of what is owned, as filled
  contains
    procedure :: local_bytes => item_local_bytes  !< with ghost layers
    procedure :: own_bytes => item_own_bytes      !< without
    procedure :: address => item_address
  end type

  type :: mix
    type(item), allocatable :: items(:)
    integer(int64) :: nx = 0, ny = 0
    integer(int64) :: own_bytes = 0    !< of this rank; what is equal on every rank counts on rank 0 alone
    integer(int64) :: total_bytes = 0  !< of all ranks: a snapshot
    !> For parts without their ghost layers on the way to a file.
    integer(int64), allocatable :: buffer(:)
  contains
    procedure :: fill => mix_fill
    procedure :: wipe => mix_wipe
    procedure :: check => mix_check
  end type

contains

  !> Arrays of about `bytes` on all ranks together. Collective.
  subroutine make_mix(data, bytes)
    type(mix), intent(out) :: data
    integer(int64), intent(in) :: bytes
    integer(int64) :: columns, fixed, lo(2), own(2), grid(2), place(2)
    fixed = levels*8*(11*8 + statistics*regions + 2*statistics*regions + 49*rank_count)
    columns = (bytes - fixed)/(8*(8 + 10 + 8*levels))
    grid = process_grid()
    place = [int(rank, int64)/grid(2), mod(int(rank, int64), grid(2))]
    data%nx = int(sqrt(real(max(columns, 0_int64))), int64)
    if (data%nx < ghosts*maxval(grid)) &
      call fail('--size is too small for the ghost layers of so many ranks. Next: give more, as 64 MiB.')
    data%ny = columns/data%nx
    call split(data%nx, grid(1), place(1), lo(1), own(1))
    call split(data%ny, grid(2), place(2), lo(2), own(2))
    allocate (data%items(0))
    call add_replicated(data)
    call add_distributed(data, lo, own)
    data%own_bytes = sum(data%items%own_bytes(), mask=data%items%distributed .or. rank == 0)
    data%total_bytes = sum_of(data%own_bytes)
    allocate (data%buffer(levels*own(1)*own(2)))
    call data%fill(0)
  end subroutine

  subroutine add_replicated(data)
    type(mix), intent(inout) :: data
    integer :: i
    do i = 1, 152
      call add(data, label('int', i), of_integer, [integer(int64)::])
    end do
    do i = 1, 37
      call add(data, label('real', i), of_real, [integer(int64)::])
    end do
    do i = 1, 3
      call add(data, label('char', i), of_character, [integer(int64)::])
    end do
    do i = 1, 11
      call add(data, label('profiles', i), of_real, [levels, 8_int64])
    end do
    call add(data, 'hom_sum', of_real, [levels, statistics, regions])
    call add(data, 'hom', of_real, [levels, 2_int64, statistics, regions])
  end subroutine

  subroutine add_distributed(data, lo, own)
    type(mix), intent(inout) :: data
    integer(int64), intent(in) :: lo(2), own(2)
    integer(int64) :: first, cells
    integer :: i
    cells = own(1)*own(2)
    first = columns_before(data, rank)
    do i = 1, 8
      call add(data, label('surface', i), of_real, [data%nx*data%ny], [first + 1], [cells], [0_int64])
    end do
    do i = 1, 49
      call add(data, label('few', i), of_real, [levels*rank_count], [levels*rank + 1], [levels], [0_int64])
    end do
    do i = 1, 10
      call add(data, label('plane', i), of_real, [data%ny, data%nx], [lo(2) + 1, lo(1) + 1], [own(2), own(1)], &
               [ghosts, ghosts])
    end do
    do i = 1, 8
      call add(data, label('field', i), of_real, [levels, data%ny, data%nx], [1_int64, lo(2) + 1, lo(1) + 1], &
               [levels, own(2), own(1)], [0_int64, ghosts, ghosts])
    end do
  end subroutine

  subroutine add(data, name, element_bytes, shape, start, count, halo)
    type(mix), intent(inout) :: data
    character(len=*), intent(in) :: name
    integer, intent(in) :: element_bytes
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: start(:), count(:), halo(:)
    type(item) :: new
    integer :: n
    n = size(shape)
    new%name = name
    new%element_bytes = element_bytes
    new%dims = n
    new%shape(:n) = shape
    new%count(:n) = shape
    new%distributed = present(start)
    if (present(start)) new%start(:n) = start
    if (present(count)) new%count(:n) = count
    if (present(halo)) new%halo(:n) = halo
    allocate (new%words(new%local_bytes()/8 + 1))
    data%items = [data%items, new]
  end subroutine

  ! ---- who owns what ----

  ! As square as it can be, x first.
  function process_grid() result(grid)
    integer(int64) :: grid(2)
    grid(2) = int(sqrt(real(rank_count)), int64)
    do while (mod(int(rank_count, int64), grid(2)) /= 0)
      grid(2) = grid(2) - 1
    end do
    grid(1) = rank_count/grid(2)
  end function

  pure subroutine split(total, parts, part, before, own)
    integer(int64), intent(in) :: total, parts, part
    integer(int64), intent(out) :: before, own
    before = total*part/parts
    own = total*(part + 1)/parts - before
  end subroutine

  integer(int64) function columns_before(data, of_rank) result(before)
    type(mix), intent(in) :: data
    integer, intent(in) :: of_rank
    integer(int64) :: grid(2), x(2), y(2)
    integer :: r
    grid = process_grid()
    before = 0
    do r = 0, of_rank - 1
      call split(data%nx, grid(1), r/grid(2), x(1), x(2))
      call split(data%ny, grid(2), mod(int(r, int64), grid(2)), y(1), y(2))
      before = before + x(2)*y(2)
    end do
  end function

  ! ---- values ----

  !> New values for a turn. What is equal on every rank depends on turn and item alone.
  subroutine mix_fill(self, turn)
    class(mix), intent(inout) :: self
    integer, intent(in) :: turn
    integer(int64) :: state, k
    integer :: i
    do i = 1, size(self%items)
      associate (field => self%items(i))
        state = 1 + i + 1000_int64*turn + merge(1000000_int64*(rank + 1), 0_int64, field%distributed)
        state = ieor(state, ishft(state, 32))
        do k = 1, size(field%words, kind=int64)
          state = ieor(state, ishft(state, 13))
          state = ieor(state, ishft(state, -7))
          state = ieor(state, ishft(state, 17))
          field%words(k) = state
        end do
        field%sum = own_sum(self, field)
      end associate
    end do
  end subroutine

  !> So that nothing of the old values can be taken for what was read.
  subroutine mix_wipe(self)
    class(mix), intent(inout) :: self
    integer :: i
    do i = 1, size(self%items)
      self%items(i)%words = -1
    end do
  end subroutine

  !> Whether all ranks have again what was filled in; the first item that differs on this rank, or "".
  logical function mix_check(self, wrong) result(good)
    class(mix), intent(inout) :: self
    character(len=*), intent(out) :: wrong
    integer :: i
    wrong = ''
    do i = size(self%items), 1, -1
      if (own_sum(self, self%items(i)) /= self%items(i)%sum) wrong = self%items(i)%name
    end do
    good = sum_of(merge(0_int64, 1_int64, wrong == '')) == 0
  end function

  integer(int64) function own_sum(data, field)
    type(mix), intent(inout) :: data
    type(item), intent(in) :: field
    integer(int8), pointer, contiguous :: bytes(:)
    integer(int64) :: k
    own_sum = 0
    if (field%element_bytes < of_real) then
      call c_f_pointer(field%address(), bytes, [field%own_bytes()])
      do k = 1, size(bytes, kind=int64)
        own_sum = ieor(ishftc(own_sum, 7), int(bytes(k), int64))
      end do
    else if (all(field%halo == 0)) then
      own_sum = words_sum(field%words(:field%own_bytes()/8))
    else
      call pack_item(field, data%buffer)
      own_sum = words_sum(data%buffer(:field%own_bytes()/8))
    end if
  end function

  ! Its place counts as well as its value.
  pure integer(int64) function words_sum(words)
    integer(int64), intent(in) :: words(:)
    integer(int64) :: k
    words_sum = 0
    do k = 1, size(words, kind=int64)
      words_sum = ieor(ishftc(words_sum, 7), words(k))
    end do
  end function

  ! ---- with and without ghost layers ----

  !> The owned part of an array of reals, without ghost layers, to the beginning of `buffer`.
  subroutine pack_item(field, buffer)
    type(item), intent(in) :: field
    integer(int64), intent(inout) :: buffer(:)
    integer(int64), pointer, contiguous :: all(:, :, :)
    integer(int64) :: at, j, k
    all(1:field%count(1) + 2*field%halo(1), 1:field%count(2) + 2*field%halo(2), 1:field%count(3) + 2*field%halo(3)) => field%words
    at = 0
    do k = field%halo(3) + 1, field%halo(3) + field%count(3)
      do j = field%halo(2) + 1, field%halo(2) + field%count(2)
        buffer(at + 1:at + field%count(1)) = all(field%halo(1) + 1:field%halo(1) + field%count(1), j, k)
        at = at + field%count(1)
      end do
    end do
  end subroutine

  !> The other way; ghost layers stay as they are.
  subroutine unpack_item(field, buffer)
    type(item), intent(in) :: field
    integer(int64), intent(in) :: buffer(:)
    integer(int64), pointer, contiguous :: all(:, :, :)
    integer(int64) :: at, j, k
    all(1:field%count(1) + 2*field%halo(1), 1:field%count(2) + 2*field%halo(2), 1:field%count(3) + 2*field%halo(3)) => field%words
    at = 0
    do k = field%halo(3) + 1, field%halo(3) + field%count(3)
      do j = field%halo(2) + 1, field%halo(2) + field%count(2)
        all(field%halo(1) + 1:field%halo(1) + field%count(1), j, k) = buffer(at + 1:at + field%count(1))
        at = at + field%count(1)
      end do
    end do
  end subroutine

  elemental integer(int64) function item_local_bytes(self) result(bytes)
    class(item), intent(in) :: self
    bytes = product(self%count + 2*self%halo)*self%element_bytes
  end function

  elemental integer(int64) function item_own_bytes(self) result(bytes)
    class(item), intent(in) :: self
    bytes = product(self%count)*self%element_bytes
  end function

  type(c_ptr) function item_address(self) result(address)
    class(item), intent(in) :: self
    address = c_loc(self%words)
  end function

  pure function label(stem, number) result(name)
    character(len=*), intent(in) :: stem
    integer, intent(in) :: number
    character(len=32) :: name
    write (name, '(a,"_",i3.3)') stem, number
  end function

end module palm_data
