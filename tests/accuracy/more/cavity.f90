! SPDX-License-Identifier: GPL-2.0-or-later
! Fortran for tests/accuracy/more.sh: cavity N relaxes a flow over a grid, and then factorises a matrix by Cholesky's
! method and sorts by indices.
program cavity
  implicit none
  integer, parameter :: side = 96, order = 96
  real(8) :: p(side, side), q(side, side), a(order, order), l(order, order), s
  integer :: n, step, i, j, k, index(side), held
  character(len=16) :: argument
  call get_command_argument(1, argument)
  read (argument, *) n
  do j = 1, side
    do i = 1, side
      p(i, j) = modulo(i * 37 + j * 91, 101) / 101d0
    end do
  end do
  do step = 1, n / 10
    q = p
    q(2:side-1, 2:side-1) = 0.25d0 * (p(1:side-2, 2:side-1) + p(3:side, 2:side-1) + p(2:side-1, 1:side-2) &
      + p(2:side-1, 3:side))
    where (abs(q - p) > 1d-3) p = q + 0.3d0 * (q - p)
  end do
  s = sum(p)
  do step = 1, max(1, n / 600)
    do j = 1, order
      do i = 1, order
        a(i, j) = 1d0 / (i + j + step)
      end do
      a(j, j) = a(j, j) + 2
    end do
    l = 0
    do j = 1, order
      l(j, j) = sqrt(a(j, j) - dot_product(l(j, 1:j-1), l(j, 1:j-1)))
      do i = j + 1, order
        l(i, j) = (a(i, j) - dot_product(l(i, 1:j-1), l(j, 1:j-1))) / l(j, j)
      end do
    end do
    s = s + l(order, order) + maxval(l)
    index = [(i, i = 1, side)]
    do i = 2, side
      held = index(i)
      k = i - 1
      do while (k > 0)
        if (p(index(k), step) <= p(held, step)) exit
        index(k + 1) = index(k)
        k = k - 1
      end do
      index(k + 1) = held
    end do
    s = s + index(side / 2)
  end do
  print '(f20.9)', s
end program
