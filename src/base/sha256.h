/* sha256.h: SHA-256 (FIPS 180-4). Private to the library. */
#ifndef PSDMP_BASE_SHA256_H
#define PSDMP_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { PSDMP_BASE_SHA256_BYTES = 32 };

typedef struct psdmp_base_sha256 {
  uint32_t state[8];
  uint64_t length; /* bytes so far */
  unsigned char block[64];
} psdmp_base_sha256;

void psdmp_base_sha256_start(psdmp_base_sha256 *s);
void psdmp_base_sha256_add(psdmp_base_sha256 *s, const void *data, size_t length);
void psdmp_base_sha256_end(psdmp_base_sha256 *s, unsigned char digest[PSDMP_BASE_SHA256_BYTES]);

/* Length and bytes, so that the parts of a hash cannot run into each other. */
void psdmp_base_sha256_part(psdmp_base_sha256 *s, const void *data, size_t length);

#endif
