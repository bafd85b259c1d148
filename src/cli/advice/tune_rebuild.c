/* SPDX-License-Identifier: GPL-2.0-or-later
 * Builds, models, and times the variants of a program (tune_rebuild.h). */
#include "cli/advice/tune_rebuild.h"
#include "native/start.h"
#include "native/trial.h"
#include "util/json.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const rebuild_flags[] = { "-O2", "-O3", "-O2 -funroll-loops", "-O3 -march=x86-64-v3", "-Os", NULL };
static const char common[] = "-gdwarf-4 -fno-pie -no-pie -Wl,--emit-relocs -Wl,--build-id";

enum { TEXT = 4096, WORDS = 256 };
struct variant {
	char name[160], path[TEXT], output[TEXT], flags[TEXT];
	double cycles;		/* 0: not modelled */
	const char *why;	/* why it is excluded; NULL: it is not */
	bool timed;
	unsigned arm;
};
struct builds {
	struct cli_run *run;
	const struct rebuild_options *o;
	struct variant v[REBUILD_VARIANTS];
	unsigned variants, best;
	char *word[WORDS];	/* of a native run; [0]: the build */
	char *time;		/* text of these words */
	unsigned of_arm[REBUILD_VARIANTS];
	struct trial_arm arm[REBUILD_VARIANTS];
	unsigned arms;
};

/* ---- commands ---- */

/* Runs the command with its output in the file. Returns its exit status, or -1. */
static int command(char *const *argv, const char *output)
{
	pid_t pid = fork();
	int status;
	if (!pid) {
		int fd = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666),
		    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || null < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return pid < 0 ? -1 : cli_exit_status(status);
}

/* Finds the tool on PATH, or in the newest of Debian's LLVM directories; its path goes into path. */
static bool find_tool(const char *name, char path[TEXT])
{
	const char *dirs = getenv("PATH");
	for (const char *d = dirs; d && *d; d += strcspn(d, ":"), d += *d == ':') {
		snprintf(path, TEXT, "%.*s/%s", (int)strcspn(d, ":"), d, name);
		if (!access(path, X_OK))
			return true;
	}
	char pattern[128];
	glob_t found;
	snprintf(pattern, sizeof pattern, "/usr/lib/llvm-*/bin/%s", name);
	bool there = !glob(pattern, 0, NULL, &found) && found.gl_pathc;
	if (there)
		snprintf(path, TEXT, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return there;
}

/* The template with its placeholders filled in; NULL: too long. */
static char *fill(const char *from, const char *flags, const char *out, char text[2 * TEXT])
{
	size_t n = 0;
	while (*from && n < 2 * TEXT - 1) {
		const char *word = !strncmp(from, "{flags}", 7) ? flags : !strncmp(from, "{out}", 5) ? out : NULL;
		if (!word) {
			text[n++] = *from++;
			continue;
		}
		n += (size_t)snprintf(text + n, 2 * TEXT - n, "%s", word);
		from += word == flags ? 7 : 5;
	}
	if (n >= 2 * TEXT - 1)
		return NULL;
	text[n] = 0;
	return text;
}

static struct variant *add(struct builds *b, const char *name)
{
	struct variant *v = &b->v[b->variants];
	snprintf(v->name, sizeof v->name, "%s", name);
	snprintf(v->path, sizeof v->path, "%s/v%02u", b->o->dir, b->variants);
	snprintf(v->output, sizeof v->output, "%s/v%02u.out", b->o->dir, b->variants);
	b->variants++;
	return v;
}

static void build(struct builds *b, struct variant *v, const char *flags)
{
	char text[2 * TEXT], log[TEXT + 8], all[TEXT + sizeof common + 8];
	snprintf(v->flags, sizeof v->flags, "%s", flags);
	snprintf(all, sizeof all, "%s %s", flags, common);
	snprintf(log, sizeof log, "%s.log", v->path);
	unlink(log);
	unlink(v->path);
	char *words[] = { "sh", "-c", fill(b->o->build, all, v->path, text), NULL };
	if (!words[2])
		v->why = "has a command that is too long";
	else if (command(words, log) || access(v->path, X_OK))
		v->why = "was not built: its .log says why";
}

/* ---- the model ---- */

static bool same_file(const char *a, const char *b)
{
	FILE *f = fopen(a, "re"), *g = fopen(b, "re");
	int x = EOF, y = EOF;
	if (f && g)
		do {
			x = getc(f);
			y = getc(g);
		} while (x == y && x != EOF);
	bool same = f && g && x == y;
	if (f)
		fclose(f);
	if (g)
		fclose(g);
	return same;
}

/* Models a build and sets its cycles. 0, or nonzero after one printed line. */
static int model(struct builds *b, struct variant *v)
{
	const struct run_sink nothing = { 0 };
	struct run_sink sink = nothing;
	struct core_wanted none = { 0 };
	struct run_result res = { 0 };
	struct err err = { 0 };
	if (v->why)
		return 0;
	char *const *const was = b->run->argv;
	char *words[WORDS] = { v->path };
	for (unsigned i = 1; was[i] && i < WORDS - 1; i++)
		words[i] = was[i];
	fflush(stdout);
	int kept = fcntl(1, F_DUPFD_CLOEXEC, 3), fd = open(v->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (kept < 0 || fd < 0 || dup2(fd, 1) < 0) {
		cli_error("cannot write %s: %s", v->output, strerror(errno));
		if (kept >= 0)
			close(kept);
		if (fd >= 0)
			close(fd);
		return ERR_SYSTEM;
	}
	close(fd);
	b->run->argv = b->run->run.argv = words;
	b->run->run.wanted = &none;
	int rc = cli_run_program(b->run, &sink, &res, &err);
	b->run->run.wanted = NULL;
	b->run->argv = b->run->run.argv = was;
	dup2(kept, 1);
	close(kept);
	if (rc) {
		cli_error("%s", err.text);
		return rc;
	}
	if (res.wait_status)
		v->why = "the program failed";
	else if (v != b->v && !same_file(v->output, b->v[0].output))
		v->why = "prints something else";
	else
		v->cycles = (double)res.cycles;
	return 0;
}

static void choose(struct builds *b)
{
	for (unsigned i = 0; i < b->variants; i++)
		if (!b->v[i].why && (b->v[b->best].why || b->v[i].cycles < b->v[b->best].cycles))
			b->best = i;
}

/* Records branch stacks of a build, in a softpmu process of its own. */
static bool sample(struct builds *b, const struct variant *v, const char *data)
{
	char log[TEXT + 16];
	char *words[WORDS + 16] = { "/proc/self/exe", "record", "-q", "-b", "-c", "2003", "--core",
		(char *)(b->run->core_name ? b->run->core_name : "golden-cove"), "-o", (char *)data, "--",
		(char *)v->path };
	for (unsigned i = 1, n = 12; b->run->argv[i] && i < WORDS - 1; i++)
		words[n++] = b->run->argv[i];
	snprintf(log, sizeof log, "%s.record", v->path);
	unlink(log);
	return !command(words, log);
}

/* Copies the profile without the entries that clang rejects. create_llvm_prof 0.19 garbles the names of some
 * inlined functions, and clang then refuses the whole profile: these entries, with what is indented below them,
 * are dropped. */
static bool clean_profile(const char *from, const char *to)
{
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	char *line = NULL;
	size_t room = 0, dropped = SIZE_MAX;	/* indentation of the dropped entry; SIZE_MAX: none */
	ssize_t n;
	while (in && out && (n = getline(&line, &room, in)) > 0) {
		size_t indent = strspn(line, " ");
		const size_t fine =
			strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$: \n");
		const bool good =
			fine == (size_t)n && line[indent] != ':' && !strstr(line, "::") && !strstr(line, " :");
		if (dropped != SIZE_MAX && indent > dropped)
			continue;
		dropped = good ? SIZE_MAX : indent;
		if (good)
			fputs(line, out);
	}
	bool whole = in && out && !ferror(in) && !ferror(out);
	free(line);
	if (in)
		fclose(in);
	if (out && fclose(out))
		whole = false;
	return whole;
}

static void autofdo(struct builds *b, const struct variant *base, const char *data)
{
	struct variant *v = add(b, "");
	char tool[TEXT], raw[TEXT + 8], profile[TEXT + 8], log[TEXT + 8], flags[2 * TEXT + 64], binary[TEXT + 16],
		input[TEXT + 16], out[TEXT + 16];
	snprintf(v->name, sizeof v->name, "%.120s + AutoFDO", base->name);
	snprintf(raw, sizeof raw, "%s.raw", v->path);
	snprintf(profile, sizeof profile, "%s.prof", v->path);
	snprintf(log, sizeof log, "%s.log", v->path);
	if (!strstr(b->o->build, "clang")) {
		v->why = "--build does not call clang, and GCC from version 12 on cannot read what create_gcov writes";
		return;
	}
	if (!find_tool("create_llvm_prof", tool)) {
		v->why = "create_llvm_prof is not installed (package autofdo)";
		return;
	}
	snprintf(binary, sizeof binary, "--binary=%s", base->path);
	snprintf(input, sizeof input, "--profile=%s", data);
	snprintf(out, sizeof out, "--out=%s", raw);
	char *words[] = { tool, binary, input, out, "--format=text", NULL };
	if (command(words, log) || !clean_profile(raw, profile)) {
		v->why = "create_llvm_prof failed: its .log says why";
		return;
	}
	snprintf(flags, sizeof flags, "%s -fprofile-sample-use=%s", base->flags, profile);
	if (strlen(flags) >= TEXT)
		v->why = "has a command that is too long";
	else
		build(b, v, flags);
}

static void bolt(struct builds *b, const struct variant *base, const char *data)
{
	struct variant *v = add(b, "");
	char convert[TEXT], tool[TEXT], profile[TEXT + 8], log[TEXT + 8], of_data[TEXT + 16];
	snprintf(v->name, sizeof v->name, "%.120s + BOLT", base->name);
	snprintf(v->flags, sizeof v->flags, "%s", base->flags);
	snprintf(profile, sizeof profile, "%s.fdata", v->path);
	snprintf(of_data, sizeof of_data, "-data=%s", profile);
	snprintf(log, sizeof log, "%s.log", v->path);
	unlink(log);
	unlink(v->path);
	if (!find_tool("perf2bolt", convert) || !find_tool("llvm-bolt", tool)) {
		v->why = "perf2bolt and llvm-bolt are not installed (package bolt-16 or another)";
		return;
	}
	char *first[] = { convert, "-p", (char *)data, "-o", profile, (char *)base->path, NULL };
	char *second[] = { tool, (char *)base->path, "-o", v->path, of_data, "-reorder-blocks=ext-tsp",
		"-reorder-functions=hfsort", "-split-functions", "-split-all-cold", NULL };
	if (command(first, log) || command(second, log) || access(v->path, X_OK))
		v->why = "BOLT failed: its .log says why";
}

/* ---- this machine ---- */

static int run_arm(void *context, int arm, uint64_t block, struct trial_times *t, struct err *err)
{
	struct builds *b = context;
	int status = 0;
	b->word[0] = b->v[arm == TRIAL_AS_IT_IS ? 0 : b->of_arm[arm]].path;
	const struct native_start s = { .argv = b->word, .layout = block };
	int rc = native_run(&s, &status, t, err);
	if (!rc && status)
		return err_set(err, ERR_INPUT, "%s failed with its arguments for this machine (--time)", b->word[0]);
	return cli_interrupted() ? TRIAL_ENOUGH : rc;
}

static int on_this_machine(struct builds *b)
{
	struct err err = { 0 };
	const struct trial_options o = { .measure = TRIAL_CPU,
		.level = 0.05, .least = 0.01, .blocks = b->o->blocks, .seed = 1, .run = run_arm, .context = b };
	unsigned n = 1;
	if (b->o->time) {
		char *save = NULL;
		if (!(b->time = strdup(b->o->time))) {
			cli_error("out of memory");
			return ERR_NOMEM;
		}
		for (char *w = strtok_r(b->time, " \t", &save); w && n < WORDS - 1; w = strtok_r(NULL, " \t", &save))
			b->word[n++] = w;
	} else {
		for (; b->run->argv[n] && n < WORDS - 1; n++)
			b->word[n] = b->run->argv[n];
	}
	b->word[n] = NULL;
	/* time only what the model finds faster */
	for (unsigned i = 1; i < b->variants; i++) {
		if (b->v[i].why || !(b->v[i].cycles < b->v[0].cycles))
			continue;
		b->v[i].timed = true;
		b->v[i].arm = b->arms;
		b->of_arm[b->arms++] = i;
	}
	int rc = b->arms ? trial_run(b->arm, b->arms, &o, &err) : 0;
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

/* ---- printing ---- */

static void print(const struct builds *b, FILE *to)
{
	const double base = b->v[0].cycles;
	const bool json = b->o->json;
	if (!json)
		fprintf(to, "\n%-34s %14s %8s   %s\n", "build", "cycles", "gain",
			b->o->no_native ? "" : "on this machine: gain, 95 % interval");
	for (unsigned i = 0; i < b->variants; i++) {
		const struct variant *v = &b->v[i];
		const double gain = v->why ? 0 : 1 - v->cycles / base;
		const struct trial_arm *a = v->timed ? &b->arm[v->arm] : NULL;
		const struct trial_effect *e = a ? &a->effect[TRIAL_CPU] : NULL;
		if (json) {
			fputs("{\"build\":", to);
			json_string(to, v->name);
			fputs(",\"file\":", to);
			json_string(to, v->path);
			if (v->why) {
				fputs(",\"out\":", to);
				json_string(to, v->why);
			} else {
				fprintf(to, ",\"cycles\":%.0f,\"gain\":%.6f", v->cycles, gain);
			}
			if (a && a->blocks) {
				fprintf(to, ",\"native_verdict\":\"%s\",\"native_gain\":%.6f",
					trial_verdict_name(a->verdict), e->gain);
				if (isfinite(e->low))
					fprintf(to, ",\"native_low\":%.6f,\"native_high\":%.6f", e->low, e->high);
			}
			fputs("}\n", to);
			continue;
		}
		fprintf(to, "%-34s ", v->name);
		if (v->why) {
			fprintf(to, "%s\n", v->why);
			continue;
		}
		fprintf(to, "%14.0f %+7.1f%%   ", v->cycles, 100 * gain);
		if (a && a->blocks && isfinite(e->low))
			fprintf(to, "%+.1f%%, %+.1f%% to %+.1f%%: %s\n", 100 * e->gain, 100 * e->low, 100 * e->high,
				trial_verdict_name(a->verdict));
		else if (a)
			fprintf(to, "%s%s%s\n", trial_verdict_name(a->verdict), a->why[0] ? ": " : "", a->why);
		else
			fprintf(to, "%s\n", b->o->no_native ? "" : i ? "not timed: not faster in the model" : "");
	}
	if (!json)
		fprintf(to, "\nfastest in the model: %s (%s)\n", b->v[b->best].name, b->v[b->best].path);
}

int rebuild(struct cli_run *r, const struct rebuild_options *o, FILE *to)
{
	struct builds *b = calloc(1, sizeof *b);
	char data[TEXT];
	if (!b) {
		cli_error("out of memory");
		return 1;
	}
	b->run = r;
	b->o = o;
	int rc = mkdir(o->dir, 0777) && errno != EEXIST ? ERR_SYSTEM : 0;
	if (rc)
		cli_error("cannot make %s: %s", o->dir, strerror(errno));
	const char *const *set = o->sets ? o->flags : rebuild_flags;
	for (unsigned i = 0; !rc && !cli_interrupted() && (o->sets ? i < o->sets : set[i] != NULL); i++) {
		struct variant *v = add(b, set[i]);
		build(b, v, set[i]);
		rc = model(b, v);
		if (!i && v->why && !rc) {
			cli_error("the first build %s %s (%s)", v->path, v->why, set[i]);
			rc = ERR_INPUT;
		}
	}
	choose(b);
	const unsigned base = b->best;
	if (!rc && !cli_interrupted() && (o->autofdo || o->bolt)) {
		snprintf(data, sizeof data, "%s/v%02u.data", o->dir, base);
		if (!sample(b, &b->v[base], data)) {
			cli_error("the branch stacks of %s could not be recorded: %s.record says why", b->v[base].path,
				b->v[base].path);
			rc = ERR_INPUT;
		}
		if (!rc && o->autofdo)
			autofdo(b, &b->v[base], data);
		if (!rc && o->bolt)
			bolt(b, &b->v[base], data);
		for (unsigned i = b->variants - o->autofdo - o->bolt; !rc && i < b->variants; i++)
			rc = model(b, &b->v[i]);
	}
	choose(b);
	if (!rc && !o->no_native && !cli_interrupted())
		rc = on_this_machine(b);
	if (!rc)
		print(b, to);
	free(b->time);
	free(b);
	return rc != 0;
}
