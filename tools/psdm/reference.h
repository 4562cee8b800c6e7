/* reference.h: what the generators of manual, markdown and completions share. They all read the tables that the
 * commands themselves are made of. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "tool.h"

/* A command's help text comes in blocks: prose, a heading ("functions:"), rows with tabs between their columns,
 * lines as they are. */
typedef enum block_kind { BLOCK_PROSE, BLOCK_HEADING, BLOCK_ROWS, BLOCK_LINES } block_kind;

typedef struct block {
  block_kind kind;
  const char *begin, *end; /* lines, the last newline is not part of it */
} block;

/* The next block from *at on, which moves behind it; false at the end. */
bool reference_block(const char **at, block *b);

/* The next line of a block, without what it is indented by: false at the end. */
bool reference_next(block *b, const char **line, int *length);

/* Exit codes and variables that every command shares. */
typedef struct reference_fact {
  const char *name, *text;
} reference_fact;
extern const reference_fact reference_exits[], reference_variables[]; /* name NULL behind the last */

/* "[DIR]" or "NAME..." without brackets and dots, in text. */
const char *reference_name(const char *positional, char text[64]);

void reference_markdown(psdm_output *out);
void reference_man(psdm_output *out, const tool_command *c); /* c NULL: psdm itself */
void completion_bash(psdm_output *out);
void completion_zsh(psdm_output *out);

/* Words that can stand for a positional argument or a setting's value, with blanks between them: of "a|b", of
 * FUNCTION and LIST; "" when it is free. */
const char *completion_words(const char *argument, char *text, size_t size);

/* What kind of file is meant by an argument: FILES_NONE when it is none. */
typedef enum file_kind { FILES_NONE, FILES_ROBOT, FILES_ANY, FILES_FOLDER } file_kind;
file_kind completion_files(const char *argument);

#endif
