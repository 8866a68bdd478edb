!> PALM's calls: one call writes or reads a variable. It has the variable's name, its array, and its distribution.
!>
!>   call checkpoint_open('run1', comm)
!>   dt_3d = checkpoint_kind(shape=[nz, ny, nx], start=[1, nys, nxl], halo_lo=[0, 3, 3], halo_hi=[0, 3, 3])
!>   if (checkpoint_restart()) then
!>     call checkpoint_read('time', time, dt_replicated)
!>     call checkpoint_read('u', u, dt_3d)
!>   end if
!>   do ...
!>     call checkpoint_begin(step, time)
!>     call checkpoint_write('time', time, dt_replicated)
!>     call checkpoint_write('u', u, dt_3d)
!>     call checkpoint_end()
!>   end do
!>   call checkpoint_close()
!>
!> No registration is needed. To lay out memory before the first step, call checkpoint_define() for each variable, then
!> checkpoint_prepare(). Arrays may have any type and rank, and include their halos.
!>
!> checkpoint_read() reads before it returns. checkpoint_end() saves all writes since checkpoint_begin(): until then
!> keep the arrays in place and unchanged, and give them TARGET. A variable that you defined, or wrote in an earlier
!> step, must be written in each step, else checkpoint_end() refuses the step. It must keep its type, shape and kind,
!> else checkpoint_write() refuses it. This does not hold for variables that you only read.
!>
!> One run at a time. All ranks make every call in the same order, except checkpoint_kind(), checkpoint_note() and
!> checkpoint_step(). Errors are as in the module forebay: STAT= and ERRMSG=, or the program ends with the text.
module forebay_checkpoint
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_size_t
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use forebay
  use forebay_texts, only: refuse
  implicit none
  private

  public :: checkpoint_open, checkpoint_close, checkpoint_job, checkpoint_kind, checkpoint_define, checkpoint_prepare, &
            checkpoint_begin, checkpoint_write, checkpoint_end, checkpoint_restart, checkpoint_note, checkpoint_step, &
            checkpoint_read

  !> The kind of a value that every rank has. Rank 0's value is saved, as PALM does. Ranks are not compared, since they
  !> may differ in parts that nobody set or that only one rank computed.
  integer, parameter, public :: dt_replicated = 0

  type :: distribution
    integer(int64), allocatable :: shape(:), start(:), halo_lo(:), halo_hi(:)
  end type
  type :: entry
    character(len=:), allocatable :: name
    logical :: in_step = .false.   ! written since checkpoint_begin()
    logical :: in_every = .false.  ! defined or written, so every step must have it
  end type

  type(fb_session), save :: session
  type(fb_stream), save :: stream
  type(fb_restart), save :: snapshot
  type(distribution), allocatable, save :: kinds(:)
  type(entry), allocatable, save :: known(:)
  integer(int64), save :: step_now = -1
  real(real64), save :: time_now = 0

  ! These three are C functions of checkpoint_calls.c: not every compiler can receive an array of any type and rank.
  ! They call act_on().
  interface
    !> Makes a variable known before its first write.
    subroutine checkpoint_define(name, array, kind, stat, errmsg) bind(C, name='forebay_checkpoint_define')
      import :: c_char, c_int
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target :: array
      integer(c_int), intent(in) :: kind
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    !> Adds a variable to the step. Call it between checkpoint_begin() and checkpoint_end().
    subroutine checkpoint_write(name, array, kind, stat, errmsg) bind(C, name='forebay_checkpoint_write')
      import :: c_char, c_int
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target :: array
      integer(c_int), intent(in) :: kind
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine

    !> Reads one variable of the chosen snapshot.
    subroutine checkpoint_read(name, array, kind, stat, errmsg) bind(C, name='forebay_checkpoint_read')
      import :: c_char, c_int
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(inout), target :: array
      integer(c_int), intent(in) :: kind
      integer(c_int), intent(out), optional :: stat
      character(kind=c_char, len=*), intent(inout), optional :: errmsg
    end subroutine
  end interface

contains

  !> Opens a run and its stream "restart". run: the directory at the target. comm: an integer communicator, as
  !> comm%MPI_VAL of mpi_f08. staging, config, log: as in session%open. options: as in session%stream; by default those
  !> of the configuration.
  subroutine checkpoint_open(run, comm, staging, config, options, stat, errmsg, log)
    character(len=*), intent(in) :: run
    integer, intent(in) :: comm
    character(len=*), intent(in), optional :: staging, config, options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: log
    if (allocated(kinds)) deallocate (kinds)
    if (allocated(known)) deallocate (known)
    allocate (kinds(0), known(0))
    call session%open(comm, run, staging, config, stat, errmsg, log)
    if (failed(stat)) return
    call session%stream('restart', stream, options, stat, errmsg)
  end subroutine

  !> Waits until everything is committed.
  subroutine checkpoint_close(stat, errmsg)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call session%close(stat, errmsg)
  end subroutine

  !> Asks at the end of a time step if it is time to write a step (save), or to write a step and end (stop), like
  !> session%job of the module forebay. Reasons: the job's limit is near, somebody ran `forebay stop`, or a rank passed
  !> stop_wanted.
  subroutine checkpoint_job(save, stop, stop_wanted, seconds_left, reason, stat, errmsg)
    logical, intent(out) :: save, stop
    logical, intent(in), optional :: stop_wanted
    real(real64), intent(out), optional :: seconds_left
    character(len=:), allocatable, intent(out), optional :: reason
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(fb_job) :: job
    call session%job(job, stop_wanted, stat, errmsg)
    save = job%save
    stop = job%stop
    if (present(seconds_left)) seconds_left = job%seconds_left
    if (present(reason)) reason = job%reason
  end subroutine

  !> Makes a kind of distribution: the global shape, the position of this rank's first element inside the halo (from 1),
  !> and the widths of the halos. It is valid until the next checkpoint_open().
  integer function checkpoint_kind(shape, start, halo_lo, halo_hi) result(kind)
    integer, intent(in) :: shape(:), start(:)
    integer, intent(in), optional :: halo_lo(:), halo_hi(:)
    type(distribution) :: new
    new%shape = int(shape, int64)
    new%start = int(start, int64)
    allocate (new%halo_lo(size(shape)), new%halo_hi(size(shape)), source=0_int64)
    if (present(halo_lo)) new%halo_lo = int(halo_lo, int64)
    if (present(halo_hi)) new%halo_hi = int(halo_hi, int64)
    if (.not. allocated(kinds)) allocate (kinds(0))
    kinds = [kinds, new]
    kind = size(kinds)
  end function

  !> Makes room for all defined variables, so that the first step costs no more than later steps.
  subroutine checkpoint_prepare(stat, errmsg)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call stream%prepare(stat, errmsg)
  end subroutine

  subroutine checkpoint_begin(step, time, stat, errmsg)
    integer, intent(in) :: step
    real(real64), intent(in), optional :: time
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    step_now = step
    time_now = 0
    if (present(time)) time_now = time
    if (allocated(known)) known%in_step = .false.
    if (present(stat)) stat = fb_ok
    if (step < 0) call refuse('a step is 0 or more', stat=stat, errmsg=errmsg)
  end subroutine

  !> Saves the step. saved%kept is 0 if the policy skipped it.
  subroutine checkpoint_end(saved, stat, errmsg)
    type(fb_saved), intent(out), optional :: saved
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: i
    integer(int64) :: step
    step = step_now
    step_now = -1
    call forget_read(stat, errmsg)
    if (failed(stat)) return
    do i = 1, size(known)
      if (known(i)%in_step) cycle
      call refuse("variable '"//known(i)%name//"' was defined or written before, but not in this step, which is not "// &
                  'saved', 'write it in every step', stat, errmsg)
      return
    end do
    call stream%save(step, time_now, saved, stat, errmsg)
  end subroutine

  !> Chooses the newest snapshot, or with older=.true. the snapshot before the last choice. .false. if no snapshot
  !> exists.
  logical function checkpoint_restart(older, stat, errmsg)
    logical, intent(in), optional :: older
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical :: goes_back
    goes_back = .false.
    if (present(older)) goes_back = older .and. snapshot%found()
    checkpoint_restart = .false.
    ! Variables that an earlier attempt read may be missing in this snapshot.
    call forget_read(stat, errmsg)
    if (failed(stat)) return
    if (goes_back) then
      call stream%older(snapshot, stat, errmsg)
    else
      call stream%newest(snapshot, stat, errmsg)
    end if
    checkpoint_restart = snapshot%found()
  end function

  !> The reason why checkpoint_restart() skipped a snapshot, from number 1 on; '' after the last.
  function checkpoint_note(number) result(text)
    integer, intent(in) :: number
    character(len=:), allocatable :: text
    text = stream%note(number)
  end function

  !> The step of the chosen snapshot; -1 without one.
  integer(int64) function checkpoint_step()
    checkpoint_step = snapshot%step()
  end function

  ! `act`: 1 to define, 2 to write, 3 to read.
  subroutine act_on(act, place, kind, stat, name_bytes, name, errmsg_bytes, errmsg) &
    bind(C, name='forebay_checkpoint_act')
    integer(c_int), value :: act
    type(fb_place), intent(in) :: place
    integer(c_int), intent(in) :: kind
    integer(c_int), intent(out), optional :: stat
    integer(c_size_t), value :: name_bytes, errmsg_bytes
    character(kind=c_char), intent(in) :: name(*)
    character(kind=c_char), intent(inout), optional :: errmsg(*)
    call act_with_texts(act, place, kind, stat, name_bytes, name, errmsg_bytes, errmsg)
  end subroutine

  ! The same with texts of these lengths in place of characters in a row.
  subroutine act_with_texts(act, place, kind, stat, name_bytes, name, errmsg_bytes, errmsg)
    integer, intent(in) :: act
    type(fb_place), intent(in) :: place
    integer, intent(in) :: kind
    integer, intent(out), optional :: stat
    integer(c_size_t), intent(in) :: name_bytes, errmsg_bytes
    character(kind=c_char, len=name_bytes), intent(in) :: name(1)
    character(kind=c_char, len=errmsg_bytes), intent(inout), optional :: errmsg(1)
    if (present(errmsg)) then
      call act_on_variable(act, name(1), place, kind, stat, errmsg(1))
    else
      call act_on_variable(act, name(1), place, kind, stat)
    end if
  end subroutine

  subroutine act_on_variable(act, name, place, kind, stat, errmsg)
    integer, intent(in) :: act
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: place
    integer, intent(in) :: kind
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: at
    if (act == 2 .and. step_now < 0) then
      call refuse("variable '"//trim(name)//"' is written outside a step", 'checkpoint_begin', stat, errmsg)
      return
    end if
    call describe(name, place, kind, stat, errmsg)
    if (failed(stat)) return
    if (act == 3) then
      call snapshot%read_variable(name, stat, errmsg)
      return
    end if
    at = position(name)
    if (act == 2) known(at)%in_step = .true.
    known(at)%in_every = .true.
  end subroutine

  ! Forgets a variable that was only read, so that each call describes it anew: a refused read may have described it
  ! wrong, and a good read does not fix its type for later writes.
  subroutine forget_if_read(name)
    character(len=*), intent(in) :: name
    integer :: i, at, stat
    at = position(name)
    if (at == 0) return
    if (known(at)%in_every) return
    call stream%forget(name, stat)
    known = pack(known, [(i /= at, i=1, size(known))])
  end subroutine

  ! Describes a new variable. For a known variable it gives the new place, which is refused if type, shape or kind
  ! changed.
  subroutine describe(name, place, kind, stat, errmsg)
    character(len=*), intent(in) :: name
    type(fb_place), intent(in) :: place
    integer, intent(in) :: kind
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(entry) :: new
    logical :: is_known
    if (.not. allocated(known)) allocate (known(0))
    call forget_if_read(name)
    is_known = position(name) > 0
    if (kind == dt_replicated .and. is_known) then
      call stream%rebind(name, place, stat, errmsg)
    else if (kind == dt_replicated) then
      call stream%replicated(name, place, stat=stat, errmsg=errmsg, first_rank=.true.)
    else if (kind < 1 .or. kind > size(kinds)) then
      call refuse("variable '"//trim(name)//"': its kind is unknown: dt_replicated, or what checkpoint_kind() gave", &
                  stat=stat, errmsg=errmsg)
      return
    else if (is_known) then
      call stream%rebind(name, place, kinds(kind)%start, kinds(kind)%halo_lo, kinds(kind)%halo_hi, stat, errmsg, &
                         kinds(kind)%shape)
    else
      call stream%array(name, place, kinds(kind)%shape, kinds(kind)%start, kinds(kind)%halo_lo, kinds(kind)%halo_hi, &
                        stat=stat, errmsg=errmsg)
    end if
    if (is_known .or. failed(stat)) return
    new%name = trim(name)
    known = [known, new]
  end subroutine

  ! Removes variables that were only read from the description.
  subroutine forget_read(stat, errmsg)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: i
    if (present(stat)) stat = fb_ok
    if (.not. allocated(known)) return
    do i = 1, size(known)
      if (.not. known(i)%in_every) call stream%forget(known(i)%name, stat, errmsg)
      if (failed(stat)) return
    end do
    known = pack(known, known%in_every)
  end subroutine

  integer function position(name)
    character(len=*), intent(in) :: name
    position = 0
    if (.not. allocated(known)) return
    do position = size(known), 1, -1
      if (known(position)%name == name) return
    end do
  end function

  logical function failed(stat)
    integer, intent(in), optional :: stat
    failed = .false.
    if (present(stat)) failed = stat /= fb_ok
  end function

end module forebay_checkpoint
