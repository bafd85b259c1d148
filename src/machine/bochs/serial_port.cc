/* SPDX-License-Identifier: GPL-2.0-or-later
 * COM1 as far as Linux's driver of a 16550A wants it: what is sent goes to a file at once, nothing is received.
 * Bochs's own port sends at its baud rate, and the kernel waits for each character.
 *
 * Registers: National Semiconductor, PC16550D data sheet (1995), section 8.0 "Registers".
 */
#include "bochs.h"
#include "gui/siminterface.h"
#include "iodev/iodev.h"
#include "machine/bochs/linux_guest.h"

namespace {

enum { BASE = 0x3f8, IRQ = 4 };
enum {				/* offsets from BASE */
	DATA, IER, IIR, LCR, MCR, LSR, MSR, SCRATCH,
	DLL = 8, DLM,		/* DATA and IER while LCR's bit 7 is set */
	REGISTERS
};
enum { EMPTY = 0x60, SENT = 2, DLAB = 0x80, LOOP = 0x10 };

struct port {
	FILE *out;
	Bit8u reg[REGISTERS];
	Bit8u sent;		/* the interrupt "transmitter empty" waits */
} com1;

void update()
{
	if (com1.sent && com1.reg[IER] & SENT)
		DEV_pic_raise_irq(IRQ);
	else
		DEV_pic_lower_irq(IRQ);
}

Bit32u on_in(void *, Bit32u address, unsigned)
{
	const unsigned r = address - BASE;
	const Bit8u *reg = com1.reg;
	switch (r) {
	case DATA:
		return reg[LCR] & DLAB ? reg[DLL] : 0;
	case IER:
		return reg[LCR] & DLAB ? reg[DLM] : reg[IER];
	case IIR: {
		const bool waits = com1.sent && reg[IER] & SENT;
		if (waits) {
			com1.sent = 0;
			update();
		}
		return (waits ? SENT : 1) | (reg[IIR] & 1 ? 0xc0 : 0);
	}
	case LSR:
		return EMPTY;
	case MSR:	/* looped back: DTR to DSR, RTS to CTS, OUT1 to RI, OUT2 to DCD */
		return !(reg[MCR] & LOOP) ? 0xb0 : (reg[MCR] & 1) << 5 | (reg[MCR] & 2) << 3 |
			(reg[MCR] & 4) << 4 | (reg[MCR] & 8) << 4;
	default:
		return reg[r];
	}
}

void on_out(void *, Bit32u address, Bit32u value, unsigned)
{
	const unsigned r = address - BASE;
	Bit8u *reg = com1.reg;
	switch (r) {
	case DATA:
		if (reg[LCR] & DLAB) {
			reg[DLL] = (Bit8u)value;
			break;
		}
		if (com1.out && !(reg[MCR] & LOOP)) {
			fputc((int)value & 255, com1.out);
			if (value == '\n')
				fflush(com1.out);
		}
		com1.sent = 1;
		break;
	case IER:
		if (reg[LCR] & DLAB) {
			reg[DLM] = (Bit8u)value;
			break;
		}
		com1.sent |= value & SENT && !(reg[IER] & SENT);
		reg[IER] = value & 15;
		break;
	case LSR:
	case MSR:
		break;
	case MCR:
		reg[MCR] = value & 31;
		break;
	default:
		reg[r] = (Bit8u)value;
		break;
	}
	update();
}

}

void serial_port_init(FILE *out)
{
	com1.out = out;
	bx_list_c *list = new bx_list_c(SIM->get_bochs_root(), "serial_port", "Serial port");
	for (unsigned r = 0; r < REGISTERS; r++) {
		char name[8];
		snprintf(name, sizeof name, "reg%u", r);
		new bx_shadow_num_c(list, name, &com1.reg[r], BASE_HEX);
	}
	new bx_shadow_num_c(list, "sent", &com1.sent, BASE_HEX);
	for (unsigned r = 0; r < 8; r++) {
		bx_devices.register_io_read_handler(NULL, on_in, BASE + r, "Serial port", 1);
		bx_devices.register_io_write_handler(NULL, on_out, BASE + r, "Serial port", 1);
	}
}
