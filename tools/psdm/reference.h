/* reference.h: shared by the generators of manual, markdown and completions, which all read the tables of the commands.
 * */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "tool.h"

/* A command's help text comes in blocks: prose, a heading ("functions:"), rows with tabs between their columns,
 * lines as they are. */
typedef enum block_kind { BLOCK_PROSE, BLOCK_HEADING, BLOCK_ROWS, BLOCK_LINES } block_kind;

typedef struct block {
  block_kind kind;
  const char *begin, *end; /* lines, without the last newline */
} block;

/* The next block from *at on, which moves past it; false at the end. */
bool reference_block(const char **at, block *b);

/* The next line of a block without its indentation: false at the end. */
bool reference_next(block *b, const char **line, int *length);

/* Exit codes and variables that every command shares. */
typedef struct reference_fact {
  const char *name, *text;
} reference_fact;
extern const reference_fact reference_exits[], reference_variables[]; /* name NULL after the last */

/* "[DIR]" or "NAME..." without brackets and dots, in text. */
const char *reference_name(const char *positional, char text[64]);

void reference_markdown(psdm_output *out);
void reference_man(psdm_output *out, const tool_command *c); /* c NULL: psdm itself */
void completion_bash(psdm_output *out);
void completion_zsh(psdm_output *out);

/* Possible values of a positional argument or setting, separated by blanks: of "a|b", of FUNCTION and LIST; "" if any.
 * */
const char *completion_words(const char *argument, char *text, size_t size);

/* The kind of file that an argument names: FILES_NONE if none. */
typedef enum file_kind { FILES_NONE, FILES_ROBOT, FILES_ANY, FILES_FOLDER } file_kind;
file_kind completion_files(const char *argument);

#endif
