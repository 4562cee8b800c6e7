/* border_priv.h: marks memory written by libraries that MemorySanitizer does not instrument. Empty in any other
 * build. */
#ifndef PSDMP_DOCUMENT_BORDER_H
#define PSDMP_DOCUMENT_BORDER_H

#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define PSDMP_DOCUMENT_WRITTEN(at, bytes) __msan_unpoison(at, bytes)
#endif
#endif
#ifndef PSDMP_DOCUMENT_WRITTEN
#define PSDMP_DOCUMENT_WRITTEN(at, bytes) ((void)(at), (void)(bytes))
#endif

#endif
