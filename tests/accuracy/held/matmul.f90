! SPDX-License-Identifier: GPL-2.0-or-later
! Matrix multiplication by three loops, for tests/accuracy/held-out.sh: matmul N multiplies N/1000 times.
program matmul_loops
  implicit none
  integer, parameter :: side = 160
  double precision :: a(side, side), b(side, side), c(side, side)
  character(len=16) :: word
  integer :: n, round, i, j, k
  call get_command_argument(1, word)
  read (word, *) n
  do j = 1, side
    do i = 1, side
      a(i, j) = dble(mod(i * 7 + j, 13)) / 13
      b(i, j) = dble(mod(i + j * 5, 11)) / 11
    end do
  end do
  do round = 1, n / 1000
    c = 0
    do j = 1, side
      do k = 1, side
        do i = 1, side
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
    a = c / maxval(c)
  end do
  print '(es14.6)', sum(a)
end program
