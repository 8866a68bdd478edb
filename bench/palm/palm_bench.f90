! PALM's restart data created and restored by Forebay and by the ways of the field, in turns in one run, to a place in memory
! and to one on storage. Every restore is compared with what was created; a value that differs ends the benchmark.
program palm_bench
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08, only: MPI_Finalize
  use palm_data, only: make_mix, mix
  use palm_hints, only: make_hints
  use palm_limits, only: limits
  use palm_measure, only: place, measure_turn, report_places
  use palm_options, only: options, read_options
  use palm_ranks, only: rank, rank_count, ranks_begin
  use palm_report, only: report
  use palm_writer, only: writer_slot
  use palm_writers, only: make_writers
  implicit none

  type(options) :: chosen
  type(mix), target :: data
  type(place), allocatable :: places(:)
  type(writer_slot), allocatable :: writers(:)
  type(limits) :: limit
  type(report) :: results

  call ranks_begin()
  call read_options(chosen)
  if (.not. chosen%help) call run()
  call MPI_Finalize()

contains

  subroutine run()
    integer :: turn, p
    call results%begin()
    call make_hints(chosen%hints)
    call make_mix(data, chosen%bytes)
    call make_writers(chosen, writers, results)
    call limit%make(data)
    allocate (places(count([chosen%tmpfs /= 'none', chosen%disk /= 'none'])))
    if (chosen%tmpfs /= 'none') call places(1)%make('tmpfs', chosen%tmpfs, size(writers), chosen%repeats)
    if (chosen%disk /= 'none') call places(size(places))%make('disk', chosen%disk, size(writers), chosen%repeats)
    do turn = 0, chosen%repeats
      call data%fill(turn)
      do p = 1, size(places)
        call measure_turn(places(p), writers, data, limit, turn)
      end do
      if (rank == 0) write (error_unit, '(a,i0,a,i0)') 'palm_bench: done turn ', turn, ' of ', chosen%repeats
    end do
    do p = 1, size(places)
      call places(p)%remove()
    end do
    if (rank /= 0) return
    write (results%head, '(a,i0,a,f0.2,a,i0,a,i0,a,i0,a,i0,a)') 'palm_bench: ', rank_count, ' ranks, ', &
      data%total_bytes/1024._real64**3, ' GiB in ', size(data%items), ' variables (', data%nx, ' x ', data%ny, &
      ' columns), ', chosen%repeats, ' turns'
    results%ranks = rank_count
    results%repeats = chosen%repeats
    results%bytes = data%total_bytes
    call report_places(results, places, writers)
    if (chosen%json) then
      call results%print_json()
    else
      call results%print()
    end if
  end subroutine

end program palm_bench
