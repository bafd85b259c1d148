/* SPDX-License-Identifier: GPL-2.0-or-later
 * Images, calls and channels of a Linux guest (linux_guest.h).
 */
#include "bochs.h"
#include "cpu/cpu.h"
#include "gui/siminterface.h"
#include "memory/memory-bochs.h"
#include "pc_system.h"
#include "guest/guest_ports.h"
#include "machine/bochs/linux_guest.h"
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace {

enum { PAGE = 4096 };

struct image {
	unsigned long long addr, offset, bytes;
	std::string file;
};

struct {
	std::vector<image> images;
	std::string request, save, restore, serial, channel[GUEST_CHANNELS];
	FILE *out[GUEST_CHANNELS];
	bool saving;
} here;

const char *const channel_name[GUEST_CHANNELS] = { "", "stdout", "stderr", "kallsyms", "files" };

[[noreturn]] void fail(const std::string &what)
{
	fprintf(stderr, "softpmu-machine: %s\n", what.c_str());
	exit(1);
}

void put(bx_phy_address addr, const Bit8u *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		size_t n = PAGE - ((addr + done) & (PAGE - 1));
		n = n > bytes - done ? bytes - done : n;
		Bit8u *at = BX_MEM(0)->getHostMemAddr(BX_CPU(0), (addr + done) & ~(bx_phy_address)(PAGE - 1), BX_WRITE);
		if (!at)
			fail("an image of the guest lies where there is no memory");
		memcpy(at + ((addr + done) & (PAGE - 1)), from + done, n);
		done += n;
	}
}

/* Calls one(host memory, offset, bytes) for each page of the guest's linear range; false: a page is not there.  What
 * is written goes through Bochs, which knows about code that it has decoded. */
template <class visit> bool pages(Bit64u addr, Bit64u bytes, visit one)
{
	for (Bit64u done = 0; done < bytes;) {
		const Bit64u at = addr + done;
		Bit64u n = PAGE - (at & (PAGE - 1));
		n = n > bytes - done ? bytes - done : n;
		bx_phy_address phy;
		if (!BX_CPU(0)->dbg_xlate_linear2phy(at, &phy))
			return false;
		if (!one(phy, done, (unsigned)n))
			return false;
		done += n;
	}
	return true;
}

bool read_linear(Bit64u addr, void *to, Bit64u bytes)
{
	return pages(addr, bytes, [&](bx_phy_address phy, Bit64u at, unsigned n) {
		const Bit8u *host = BX_MEM(0)->getHostMemAddr(BX_CPU(0), phy & ~(bx_phy_address)(PAGE - 1), BX_READ);
		if (host)
			memcpy((char *)to + at, host + (phy & (PAGE - 1)), n);
		return host != NULL;
	});
}

bool write_linear(Bit64u addr, const void *from, Bit64u bytes)
{
	return pages(addr, bytes, [&](bx_phy_address phy, Bit64u at, unsigned n) {
		for (unsigned i = 0; i < n; i++) {
			Bit8u byte = ((const Bit8u *)from)[at + i];
			BX_MEM(0)->writePhysicalPage(BX_CPU(0), phy + i, 1, &byte);
		}
		return true;
	});
}

Bit64s write_channel(unsigned channel, Bit64u addr, Bit64u bytes)
{
	static Bit8u data[1 << 16];
	if (!channel || channel >= GUEST_CHANNELS)
		return -1;
	FILE *&out = here.out[channel];
	if (!out && !here.channel[channel].empty())
		out = linux_output(here.channel[channel].c_str());
	for (Bit64u done = 0; done < bytes;) {
		const Bit64u n = bytes - done > sizeof data ? sizeof data : bytes - done;
		if (!read_linear(addr + done, data, n))
			return -1;
		if (out && fwrite(data, 1, n, out) != n)
			fail(std::string("what the guest wrote to its channel ") + channel_name[channel] +
				" could not be written on");
		done += n;
	}
	if (out && channel <= GUEST_STDERR)
		fflush(out);
	return (Bit64s)bytes;
}

Bit64s give_request(Bit64u addr, Bit64u bytes)
{
	static guest_request request;
	FILE *f = here.request.empty() ? NULL : fopen(here.request.c_str(), "r");
	if (!f)
		return -1;
	size_t n = fread(&request, 1, sizeof request, f);
	fclose(f);
	n = n > bytes ? bytes : n;
	return write_linear(addr, &request, n) ? (Bit64s)n : -1;
}

void load_images()
{
	if (!here.restore.empty())
		return;
	std::vector<Bit8u> data(1 << 20);
	for (const image &i : here.images) {
		FILE *f = fopen(i.file.c_str(), "r");
		if (!f || fseeko(f, (off_t)i.offset, SEEK_SET))
			fail(i.file + " cannot be read");
		for (Bit64u done = 0; done < i.bytes;) {
			size_t n = i.bytes - done > data.size() ? data.size() : i.bytes - done;
			n = fread(data.data(), 1, n, f);
			if (!n)
				fail(i.file + " is too short");
			put((bx_phy_address)(i.addr + done), data.data(), n);
			done += n;
		}
		fclose(f);
	}
}

}

FILE *linux_output(const char *name)
{
	return strncmp(name, "fd:", 3) ? fopen(name, "w") : fdopen(dup(atoi(name + 3)), "w");
}

bool linux_setting(const std::string &name, const char *value)
{
	if (name == "load") {
		image i;
		int at = 0;
		if (sscanf(value, "%llu %llu %llu %n", &i.addr, &i.offset, &i.bytes, &at) < 3 || !at)
			fail("a line `load` that cannot be read");
		i.file = value + at;
		here.images.push_back(i);
		return true;
	}
	for (unsigned c = 1; c < GUEST_CHANNELS; c++)
		if (name == channel_name[c]) {
			here.channel[c] = value;
			return true;
		}
	std::string *const text = name == "request" ? &here.request : name == "save" ? &here.save :
		name == "restore" ? &here.restore : name == "serial" ? &here.serial : NULL;
	if (text)
		*text = value;
	return text != NULL;
}

bool linux_saves(void)
{
	return !here.save.empty();
}

const char *linux_restored(void)
{
	return here.restore.empty() ? NULL : here.restore.c_str();
}

void linux_devices(void)
{
	load_images();		/* before, line A20 is off */
	if (!here.serial.empty())
		serial_port_init(linux_output(here.serial.c_str()));
}

void linux_call(Bit32u addr)
{
	guest_call c;
	if (!read_linear(addr, &c, sizeof c))
		return;
	c.result = -1;
	switch (c.what) {
	case GUEST_CALL_WRITE:
		c.result = write_channel(c.channel, c.addr, c.size);
		break;
	case GUEST_CALL_REQUEST:
		c.result = give_request(c.addr, c.size);
		break;
	case GUEST_CALL_SAVE:
		c.result = 0;
		if (here.save.empty())
			break;
		here.saving = true;	/* between two instructions: linux_end */
		bx_pc_system.kill_bochs_request = 1;
		BX_CPU(0)->async_event = 1;
		break;
	default:
		break;
	}
	write_linear(addr, &c, sizeof c);
}

bool linux_end(void)
{
	for (FILE *&out : here.out) {
		if (out && fclose(out))
			fprintf(stderr, "softpmu-machine: what the guest wrote could not be written on\n");
		out = NULL;
	}
	if (!here.saving)
		return false;
	here.saving = false;
	bx_pc_system.kill_bochs_request = 0;
	if (!SIM->save_state(here.save.c_str()))
		fail(here.save + ": the machine's state could not be saved");
	state_write(here.save);
	return true;
}
