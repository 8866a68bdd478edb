!> Streams of a session, their tables and their snapshots: fb_stream, fb_particles and fb_restart, which the module
!> forebay exports. The module forebay describes ranks, errors, memory and the order of dimensions.
module forebay_streams
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use forebay_words
  implicit none
  private

  public :: fb_stream, fb_particles, fb_restart, fb_bind_rows
  public :: open_stream  ! for the module forebay

  !> A named sequence of snapshots.
  type :: fb_stream
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    !> Describes a replicated value:
    !> call stream%replicated(name, fb_at(value) [, unit] [, description] [, stat] [, errmsg] [, first_rank])
    !>
    !> value: contiguous, with the same bits on every rank. If the ranks differ, a save is refused, with the ranks and
    !> their values. first_rank: .true. if ranks may differ. A restart then gives rank 0's value to all ranks that
    !> describe it so.
    procedure :: replicated => stream_replicated
    procedure, private :: array_int32, array_int64
    !> Describes a global array:
    !> call stream%array(name, fb_at(data), shape, start [, halo_lo] [, halo_hi] [, unit] [, description] [, dimensions]
    !>                   [, partial] [, stat] [, errmsg])
    !>
    !> data: this rank's part with its halos, of rank 1 to 8, perhaps empty. shape: the global shape. start: the
    !> position of the first owned element (not of the halo) in the global array, from 1. halo_lo, halo_hi: the widths
    !> of the halos in data, in elements. A save skips halos; a restart fills them inside the global shape. dimensions:
    !> a name for each, first dimension first. partial: the boxes of all ranks may leave holes. shape, start and halos:
    !> default integers, or all of int64.
    generic :: array => array_int32, array_int64
    procedure, private :: rebind_value, rebind_int32, rebind_int64
    !> Gives the new place of a variable:
    !> call stream%rebind(name, fb_at(value) [, start] [, halo_lo] [, halo_hi] [, stat] [, errmsg] [, shape])
    !>
    !> start and halos are for arrays. A type that differs from the description is refused, and so is another shape of a
    !> value, or of an array if you pass its global shape.
    generic :: rebind => rebind_value, rebind_int32, rebind_int64
    !> Removes a variable from the description, on every rank: call stream%forget(name [, stat] [, errmsg])
    procedure :: forget => stream_forget
    !> Describes a table: call stream%particles(name, columns, particles [, stat] [, errmsg]). columns: an array of
    !> fb_column.
    procedure :: particles => stream_particles
    procedure :: prepare => stream_prepare     !< does now the layout and page faults of the first save. Collective.
    !> Saves everything described: call stream%save(step [, time] [, saved] [, stat] [, errmsg]). Collective.
    procedure :: save => stream_save
    !> Waits until your saves are committed: call stream%wait_committed(seconds [, stat] [, errmsg]). Collective.
    procedure :: wait_committed => stream_wait_committed
    !> Restores the newest snapshot that reads whole, and skips damaged snapshots:
    !> call stream%restore([restart] [, bind] [, stat] [, errmsg])
    !>
    !> If no snapshot exists, restart%found() is false: begin anew. If snapshots exist but none can be used, that is an
    !> error, and the described memory is undefined. Tables need bind, a subroutine like fb_bind_rows, which the call
    !> runs before it reads a snapshot. Collective.
    procedure :: restore => stream_restore
    !> Chooses the newest snapshot: call stream%newest(restart [, stat] [, errmsg] [, below]). If no snapshot exists,
    !> restart%found() is false. If snapshots exist but none can be used, it is an error. below, int64: only steps below
    !> this step count. Collective.
    procedure :: newest => stream_newest
    procedure :: older => stream_older         !< the snapshot before the last answer. Collective.
    !> stream%note(number): the reason why newest() or older() skipped a snapshot, from number 1 on; '' after the last.
    procedure :: note => stream_note
    !> One of the totals since the session was opened, real64: call stream%counter(name, value [, stat] [, errmsg]). For
    !> example 'blocked_seconds' (the cost of saving), 'newest_durable_step' (the step at which a restart would begin;
    !> -1: none) and 'aborts' (failed drains). stream%counters_text(): all counters, a line each.
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
    !> Sets this rank's rows: call table%bind(rows, columns [, stat] [, errmsg]). rows: int64. columns: [fb_at(id),
    !> fb_at(x), ...], with the types of the description.
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
    procedure :: found => restart_found            !< true if a snapshot was chosen
    procedure :: step => restart_step              !< its step; -1 without a snapshot
    procedure :: time => restart_time              !< its time; 0 without a snapshot
    procedure :: same_ranks => restart_same_ranks  !< true if the same number of ranks saved it
    procedure :: source => restart_source          !< "staged copy on this node", or the snapshot's directory
    procedure :: rows => restart_rows              !< the number of rows that this rank reads of a table
    !> Reads everything described into its place, and verifies it: call restart%read([stat] [, errmsg]). Collective.
    procedure :: read => restart_read
    !> Reads an array or a replicated variable: call restart%read_variable(name [, stat] [, errmsg]). You may describe
    !> it after newest(). Collective.
    procedure :: read_variable => restart_read_variable
    procedure, private :: restart_assign
    generic :: assignment(=) => restart_assign
    final :: restart_final
  end type

  abstract interface
    !> Bind each table to restart%rows(table) rows. stat is 0 before the call. If you set it to another value, and
    !> errmsg, restore() ends with this error on every rank.
    subroutine fb_bind_rows(restart, stat, errmsg)
      import :: fb_restart
      type(fb_restart), intent(in) :: restart
      integer, intent(inout) :: stat
      character(len=*), intent(inout) :: errmsg
    end subroutine
  end interface

  ! The bodies are in the submodules in describe.f90, save.f90 and restart.f90.
  interface
    ! describe.f90
    !> session: the session's handle. Frees the stream first, if it is open.
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
