# SPDX-License-Identifier: GPL-2.0-or-later
# How Bochs's makefiles build our side of it: tools/machine/build-machine.sh puts this file into Bochs's tree, where its
# configure script fills in the names between @ signs.
CXX = @CXX@
CXXFLAGS = @CXXFLAGS@
CPPFLAGS = @CPPFLAGS@
SHELL = @SHELL@

libinstrument.a: $(SOFTPMU)/src/machine/bochs/instrument.cc $(SOFTPMU)/src/machine/machine.h
	rm -f $@
	$(CXX) -c -I../.. -I. -I$(SOFTPMU)/src -I$(SOFTPMU)/include $(CPPFLAGS) $(CXXFLAGS) -Wall -o instrument.o $<
	ar rcs $@ instrument.o
clean dist-clean:
	rm -f *.a *.o
