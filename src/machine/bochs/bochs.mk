# SPDX-License-Identifier: GPL-2.0-or-later
# How Bochs's makefiles build our side of it: tools/machine/build-machine.sh puts this file into Bochs's tree, where its
# configure script fills in the names between @ signs.
CXX = @CXX@
CXXFLAGS = @CXXFLAGS@
CPPFLAGS = @CPPFLAGS@
SHELL = @SHELL@
HERE = $(SOFTPMU)/src/machine/bochs

libinstrument.a: $(wildcard $(HERE)/*.cc $(HERE)/*.h) $(SOFTPMU)/src/machine/machine.h
	rm -f $@ *.o
	$(CXX) -c -I../.. -I. -I$(SOFTPMU)/src -I$(SOFTPMU)/include $(CPPFLAGS) $(CXXFLAGS) -Wall \
	  $(wildcard $(HERE)/*.cc)
	ar rcs $@ *.o
clean dist-clean:
	rm -f *.a *.o
