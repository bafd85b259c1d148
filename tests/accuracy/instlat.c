#include "accuracy.h"
int  instlat_read(struct instlat *out, const char *path, int word_bytes, struct err *err) { (void)out; (void)path; (void)word_bytes; (void)err; return 0; }
void instlat_free(struct instlat *i) {(void)i;}
