!> Streams of a session, their tables and their snapshots: fb_stream, fb_particles and fb_restart, which the module
!> forebay hands on. Ranks, errors, memory and the order of dimensions are said there.
module forebay_streams
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use forebay_words
  implicit none
  private

  public :: fb_stream, fb_particles, fb_restart, fb_bind_rows
  public :: open_stream  ! of the module forebay

  !> A named sequence of snapshots.
  type :: fb_stream
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> call stream%replicated(name, fb_at(value) [, unit] [, description] [, stat] [, errmsg] [, first_rank])
    !> value: equal on every rank, bit for bit, else a save is refused with the ranks and their values; contiguous.
    !> first_rank: .true. where ranks may differ, and rank 0's value is what a restart gives to all that describe it so.
    procedure :: replicated => stream_replicated
    procedure, private :: array_int32, array_int64
    !> call stream%array(name, fb_at(data), shape, start [, halo_lo] [, halo_hi] [, unit] [, description] [, dimensions]
    !>                   [, partial] [, stat] [, errmsg])
    !> data: this rank's part with its halos, of rank 1 to 8; may be empty. shape: the global shape.
    !> start: the position of the first owned element (not of the halo) in the global array, from 1. halo_lo, halo_hi:
    !> elements of data around the owned ones; not saved, a restart fills those inside the global shape. dimensions: a
    !> name for each, first dimension first. partial: the boxes of all ranks need not fill the shape. shape, start and halos: default integers, or all of int64.
    generic :: array => array_int32, array_int64
    procedure, private :: rebind_value, rebind_int32, rebind_int64
    !> call stream%rebind(name, fb_at(value) [, start] [, halo_lo] [, halo_hi] [, stat] [, errmsg] [, shape]): it lies
    !> elsewhere now; start and halos for arrays. Another type than described is refused, as is another shape of a value,
    !> or of an array whose global shape is given.
    generic :: rebind => rebind_value, rebind_int32, rebind_int64
    !> call stream%forget(name [, stat] [, errmsg]): out of the description, on every rank alike.
    procedure :: forget => stream_forget
    !> call stream%particles(name, columns, particles [, stat] [, errmsg]): a table; columns: an array of fb_column.
    procedure :: particles => stream_particles
    procedure :: prepare => stream_prepare     !< lays out and faults in now what the first save would. Collective.
    !> call stream%save(step [, time] [, saved] [, stat] [, errmsg]): all that is described. Collective.
    procedure :: save => stream_save
    !> call stream%wait_committed(seconds [, stat] [, errmsg]). Collective.
    procedure :: wait_committed => stream_wait_committed
    !> call stream%restore([restart] [, bind] [, stat] [, errmsg]): restores the newest snapshot that reads whole; one
    !> that turns out to be damaged is passed over. restart%found() is false if nothing is there: the simulation begins
    !> anew. If snapshots are there and none can be used, that is an error, and memory is undefined. For tables, bind: a subroutine as fb_bind_rows, called before a snapshot is read. Collective.
    procedure :: restore => stream_restore
    !> call stream%newest(restart [, stat] [, errmsg] [, below]): restart%found() is false if nothing is there; an error
    !> if snapshots are there and none can be used. below: only steps below that one, int64. Collective.
    procedure :: newest => stream_newest
    procedure :: older => stream_older         !< the one before the last given. Collective.
    !> stream%note(number): why a snapshot was passed over by newest() or older(), from number 1 on; '' from the end on.
    procedure :: note => stream_note
    !> call stream%counter(name, value [, stat] [, errmsg]): one of the totals since the session was opened, real64, as
    !> 'blocked_seconds' (what saving has cost), 'newest_durable_step' (where a restart would begin; -1: nowhere) or
    !> 'aborts' (drains that ended with an error). stream%counters_text(): all of them, a line each.
    procedure :: counter => stream_counter
    procedure :: counters_text => stream_counters_text
    procedure, private :: stream_assign
    generic :: assignment(=) => stream_assign
    final :: stream_final
  end type

  !> A described table.
  type :: fb_particles
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> call table%bind(rows, columns [, stat] [, errmsg]): rows: this rank's, int64; columns: [fb_at(id), fb_at(x), ...], of
    !> the types of the description.
    procedure :: bind => particles_bind
    procedure, private :: particles_assign
    generic :: assignment(=) => particles_assign
    final :: particles_final
  end type

  !> The snapshot that newest() chose, before its data are read.
  type :: fb_restart
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: found => restart_found
    procedure :: step => restart_step
    procedure :: time => restart_time
    procedure :: same_ranks => restart_same_ranks  !< whether as many ranks saved it
    procedure :: source => restart_source          !< "staged copy on this node", or the snapshot's directory
    procedure :: rows => restart_rows              !< the rows that this rank gets of a table
    !> call restart%read([stat] [, errmsg]): everything described, into where it lies; all is verified. Collective.
    procedure :: read => restart_read
    !> call restart%read_variable(name [, stat] [, errmsg]): an array or a replicated variable, which may have been
    !> described after newest(). Collective.
    procedure :: read_variable => restart_read_variable
    procedure, private :: restart_assign
    generic :: assignment(=) => restart_assign
    final :: restart_final
  end type

  abstract interface
    !> Binds each table to restart%rows(table) rows. stat, which is 0 before: another value, and errmsg, end restore() on
    !> every rank.
    subroutine fb_bind_rows(restart, stat, errmsg)
      import :: fb_restart
      type(fb_restart), intent(in) :: restart
      integer, intent(inout) :: stat
      character(len=*), intent(inout) :: errmsg
    end subroutine
  end interface

  ! The bodies are in the submodules of describe.f90, save.f90 and restart.f90.
  interface
    ! describe.f90
    !> session: the session's handle. A stream that was open is freed first.
    module subroutine open_stream(stream, session, name, options, stat, errmsg)
      type(fb_stream), intent(inout) :: stream
      type(c_ptr), intent(in) :: session
      character(len=*), intent(in) :: name
      character(len=*), intent(in), optional :: options
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_replicated(self, name, value, unit, description, stat, errmsg, first_rank)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: value
      character(len=*), intent(in), optional :: unit, description
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      logical, intent(in), optional :: first_rank
    end subroutine
    module subroutine array_int64(self, name, data, shape, start, halo_lo, halo_hi, unit, description, dimensions, &
                                  partial, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int64), intent(in) :: shape(:), start(:)
      integer(int64), intent(in), optional :: halo_lo(:), halo_hi(:)
      character(len=*), intent(in), optional :: unit, description, dimensions(:)
      logical, intent(in), optional :: partial
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine array_int32(self, name, data, shape, start, halo_lo, halo_hi, unit, description, dimensions, &
                                  partial, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int32), intent(in) :: shape(:), start(:)
      integer(int32), intent(in), optional :: halo_lo(:), halo_hi(:)
      character(len=*), intent(in), optional :: unit, description, dimensions(:)
      logical, intent(in), optional :: partial
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine rebind_value(self, name, value, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine rebind_int64(self, name, data, start, halo_lo, halo_hi, stat, errmsg, shape)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int64), intent(in) :: start(:)
      integer(int64), intent(in), optional :: halo_lo(:), halo_hi(:), shape(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine rebind_int32(self, name, data, start, halo_lo, halo_hi, stat, errmsg, shape)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_place), intent(in) :: data
      integer(int32), intent(in) :: start(:)
      integer(int32), intent(in), optional :: halo_lo(:), halo_hi(:), shape(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_forget(self, name, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_particles(self, name, columns, particles, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      type(fb_column), intent(in) :: columns(:)
      type(fb_particles), intent(inout) :: particles
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine particles_bind(self, rows, columns, stat, errmsg)
      class(fb_particles), intent(in) :: self
      integer(int64), intent(in) :: rows
      type(fb_place), intent(in) :: columns(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    impure elemental module subroutine particles_final(self)
      type(fb_particles), intent(inout) :: self
    end subroutine
    module subroutine particles_assign(self, other)
      class(fb_particles), intent(inout) :: self
      type(fb_particles), intent(in) :: other
    end subroutine
    ! save.f90
    module subroutine stream_prepare(self, stat, errmsg)
      class(fb_stream), intent(in) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_save(self, step, time, saved, stat, errmsg)
      class(fb_stream), intent(in) :: self
      integer(int64), intent(in) :: step
      real(real64), intent(in), optional :: time
      type(fb_saved), intent(out), optional :: saved
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_wait_committed(self, seconds, stat, errmsg)
      class(fb_stream), intent(in) :: self
      real(real64), intent(in) :: seconds
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_counter(self, name, value, stat, errmsg)
      class(fb_stream), intent(in) :: self
      character(len=*), intent(in) :: name
      real(real64), intent(out) :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module function stream_counters_text(self) result(text)
      class(fb_stream), intent(in) :: self
      character(len=:), allocatable :: text
    end function
    impure elemental module subroutine stream_final(self)
      type(fb_stream), intent(inout) :: self
    end subroutine
    module subroutine stream_assign(self, other)
      class(fb_stream), intent(inout) :: self
      type(fb_stream), intent(in) :: other
    end subroutine
    ! restart.f90
    module subroutine stream_restore(self, restart, bind, stat, errmsg)
      class(fb_stream), intent(in) :: self
      type(fb_restart), intent(inout), optional :: restart
      procedure(fb_bind_rows), optional :: bind
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine stream_newest(self, restart, stat, errmsg, below)
      class(fb_stream), intent(in) :: self
      type(fb_restart), intent(inout) :: restart
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      integer(int64), intent(in), optional :: below
    end subroutine
    module subroutine stream_older(self, restart, stat, errmsg)
      class(fb_stream), intent(in) :: self
      type(fb_restart), intent(inout) :: restart
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module function stream_note(self, number) result(text)
      class(fb_stream), intent(in) :: self
      integer, intent(in) :: number
      character(len=:), allocatable :: text
    end function
    pure module logical function restart_found(self)
      class(fb_restart), intent(in) :: self
    end function
    pure module integer(int64) function restart_step(self)
      class(fb_restart), intent(in) :: self
    end function
    pure module real(real64) function restart_time(self)
      class(fb_restart), intent(in) :: self
    end function
    pure module logical function restart_same_ranks(self)
      class(fb_restart), intent(in) :: self
    end function
    module function restart_source(self) result(text)
      class(fb_restart), intent(in) :: self
      character(len=:), allocatable :: text
    end function
    pure module integer(int64) function restart_rows(self, particles)
      class(fb_restart), intent(in) :: self
      type(fb_particles), intent(in) :: particles
    end function
    module subroutine restart_read(self, stat, errmsg)
      class(fb_restart), intent(in) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    module subroutine restart_read_variable(self, name, stat, errmsg)
      class(fb_restart), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine
    impure elemental module subroutine restart_final(self)
      type(fb_restart), intent(inout) :: self
    end subroutine
    module subroutine restart_assign(self, other)
      class(fb_restart), intent(inout) :: self
      type(fb_restart), intent(in) :: other
    end subroutine
  end interface

end module forebay_streams
