/* test_sha256.c: the published examples of SHA-256, and messages in pieces. */
#include <string.h>

#include "base/base.h"
#include "support.h"

static void expect(psdmp_base_sha256 *s, const char *hex) {
  static const char digit[] = "0123456789abcdef";
  unsigned char digest[PSDMP_BASE_SHA256_BYTES];
  char text[2 * PSDMP_BASE_SHA256_BYTES + 1] = "";
  psdmp_base_sha256_end(s, digest);
  for (int i = 0; i < PSDMP_BASE_SHA256_BYTES; i++)
    text[2 * i] = digit[digest[i] >> 4], text[2 * i + 1] = digit[digest[i] & 15];
  assert_string_equal(text, hex);
}

/* the examples of FIPS 180-2, B.1 to B.3, and the empty message */
TEST(published_examples) {
  static const char *const cases[][2] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                                         {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                                         {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
  psdmp_base_sha256 s;
  for (int k = 0; k < 3; k++) {
    psdmp_base_sha256_start(&s);
    psdmp_base_sha256_add(&s, cases[k][0], strlen(cases[k][0]));
    expect(&s, cases[k][1]);
  }
  psdmp_base_sha256_start(&s);
  for (int i = 0; i < 1000000; i++) psdmp_base_sha256_add(&s, "a", 1);
  expect(&s, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* in pieces of any size, the same */
TEST(pieces) {
  char text[300];
  unsigned char whole[PSDMP_BASE_SHA256_BYTES], cut[PSDMP_BASE_SHA256_BYTES];
  psdmp_base_sha256 s;
  memset(text, 'x', sizeof text);
  for (size_t at = 0; at <= sizeof text; at++) {
    psdmp_base_sha256_start(&s);
    psdmp_base_sha256_add(&s, text, sizeof text);
    psdmp_base_sha256_end(&s, whole);
    psdmp_base_sha256_start(&s);
    psdmp_base_sha256_add(&s, text, at);
    psdmp_base_sha256_add(&s, text + at, sizeof text - at);
    psdmp_base_sha256_end(&s, cut);
    assert_memory_equal(whole, cut, sizeof whole);
  }
}

TEST_MAIN(published_examples, pieces)
