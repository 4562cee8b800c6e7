/* document.c: YAML through libyaml, as a tree of nodes. No anchors, aliases or tags; depth, values and bytes are
 * bounded. */
#include "document/document.h"

#include <limits.h>
#include <string.h>
#include <yaml.h>

#include "document/border_priv.h"

/* state of one parse; the stack of open containers is bounded by PSDMP_DOCUMENT_DOC_DEPTH */
typedef struct doc_state {
  const char *file;
  psdmp_base_arena *arena;
  psdm_error *error;
  int nodes, depth;
  struct open {
    psdmp_document_node *node; /* the list or map */
    psdmp_document_node *last; /* its last child */
    const char *key;           /* map: a key waiting for its value */
    int line, column;          /* of that key */
  } stack[PSDMP_DOCUMENT_DOC_DEPTH];
  psdmp_document_node *root;
} doc_state;

static int mark_line(const yaml_mark_t *mark) { return mark->line < INT_MAX ? (int)mark->line + 1 : INT_MAX; }
static int mark_column(const yaml_mark_t *mark) { return mark->column < INT_MAX ? (int)mark->column + 1 : INT_MAX; }

static psdm_status fail_at(doc_state *s, psdm_status status, const yaml_mark_t *mark, const char *what) {
  return psdmp_base_fail(s->error, status, s->file, mark_line(mark), mark_column(mark), "%s", what);
}

/* appends a node to the innermost open container */
static psdm_status place(doc_state *s, psdmp_document_node *node) {
  if (!s->depth) {
    s->root = node;
    return PSDM_OK;
  }
  struct open *top = &s->stack[s->depth - 1];
  if (top->node->kind == PSDMP_DOCUMENT_MAP) {
    node->key = top->key;
    node->key_line = top->line;
    node->key_column = top->column;
    top->key = NULL;
  }
  if (top->last) top->last->next = node;
  else top->node->child = node;
  top->last = node;
  top->node->count++;
  return PSDM_OK;
}

static psdmp_document_node *new_node(doc_state *s, const yaml_event_t *event, psdmp_document_kind kind) {
  psdmp_document_node *node = psdmp_base_arena_alloc(s->arena, sizeof *node);
  if (!node) return NULL;
  node->kind = kind;
  node->line = mark_line(&event->start_mark);
  node->column = mark_column(&event->start_mark);
  return node;
}

static bool awaits_key(const doc_state *s) {
  return s->depth && s->stack[s->depth - 1].node->kind == PSDMP_DOCUMENT_MAP && !s->stack[s->depth - 1].key;
}

static psdm_status take_scalar(doc_state *s, const yaml_event_t *event) {
  const char *value = (const char *)event->data.scalar.value;
  size_t length = event->data.scalar.length;
  if (memchr(value, 0, length)) return fail_at(s, PSDM_E_PARSE, &event->start_mark, "a NUL character inside a value");
  char *text = psdmp_base_arena_text(s->arena, value, length);
  if (!text) return fail_at(s, PSDM_E_MEMORY, &event->start_mark, "out of memory");
  if (awaits_key(s)) {
    struct open *top = &s->stack[s->depth - 1];
    top->key = text;
    top->line = mark_line(&event->start_mark);
    top->column = mark_column(&event->start_mark);
    return PSDM_OK;
  }
  psdmp_document_node *node = new_node(s, event, PSDMP_DOCUMENT_SCALAR);
  if (!node) return fail_at(s, PSDM_E_MEMORY, &event->start_mark, "out of memory");
  node->text = text;
  node->length = length;
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  return place(s, node);
}

static psdm_status open_container(doc_state *s, const yaml_event_t *event, psdmp_document_kind kind) {
  if (awaits_key(s)) return fail_at(s, PSDM_E_PARSE, &event->start_mark, "a key must be plain text");
  if (s->depth == PSDMP_DOCUMENT_DOC_DEPTH)
    return fail_at(s, PSDM_E_LIMIT, &event->start_mark, "nested deeper than 32 levels");
  psdmp_document_node *node = new_node(s, event, kind);
  if (!node) return fail_at(s, PSDM_E_MEMORY, &event->start_mark, "out of memory");
  psdm_status status = place(s, node);
  s->stack[s->depth++] = (struct open){.node = node};
  return status;
}

static psdm_status refuse_anchor(doc_state *s, const yaml_event_t *event, const yaml_char_t *anchor,
                                 const yaml_char_t *tag) {
  if (anchor)
    return fail_at(s, PSDM_E_PARSE, &event->start_mark, "anchors (&name) are not supported; write the value out");
  if (tag) return fail_at(s, PSDM_E_PARSE, &event->start_mark, "tags (!name) are not supported; write the plain value");
  return PSDM_OK;
}

static psdm_status take_event(doc_state *s, const yaml_event_t *event, int *documents) {
  psdm_status status = PSDM_OK;
  if (++s->nodes > PSDMP_DOCUMENT_DOC_NODES)
    return fail_at(s, PSDM_E_LIMIT, &event->start_mark, "more than 524288 values");
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      if ((*documents)++)
        return fail_at(s, PSDM_E_PARSE, &event->start_mark, "a second document; one robot per file was expected");
      return PSDM_OK;
    case YAML_ALIAS_EVENT:
      return fail_at(s, PSDM_E_PARSE, &event->start_mark, "aliases (*name) are not supported; write the value out");
    case YAML_SCALAR_EVENT:
      status = refuse_anchor(s, event, event->data.scalar.anchor, event->data.scalar.tag);
      return status ? status : take_scalar(s, event);
    case YAML_SEQUENCE_START_EVENT:
      status = refuse_anchor(s, event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
      return status ? status : open_container(s, event, PSDMP_DOCUMENT_LIST);
    case YAML_MAPPING_START_EVENT:
      status = refuse_anchor(s, event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
      return status ? status : open_container(s, event, PSDMP_DOCUMENT_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: s->depth--; return PSDM_OK;
    default: return PSDM_OK;
  }
}

/* line and column of a byte, counted from 1; columns are characters, as libyaml counts them */
static void locate(const char *text, size_t offset, int *line, int *column) {
  *line = *column = 1;
  for (const char *at = text; at < text + offset; at++) {
    if ((*at & 0xC0) != 0x80) ++*column;
    if (*at == '\n') ++*line, *column = 1;
  }
}

static psdm_status fail_yaml(doc_state *s, const yaml_parser_t *parser, const char *input, size_t length) {
  if (parser->error == YAML_MEMORY_ERROR)
    return psdmp_base_fail(s->error, PSDM_E_MEMORY, s->file, 0, 0, "out of memory while reading YAML");
  char problem[120];
  const char *text = parser->problem ? parser->problem : "not YAML";
  psdmp_base_quote(text, strlen(text), problem, sizeof problem);
  int line = mark_line(&parser->problem_mark), column = mark_column(&parser->problem_mark);
  /* for a byte that cannot be decoded only the offset is known */
  if (parser->error == YAML_READER_ERROR)
    locate(input, parser->problem_offset < length ? parser->problem_offset : length, &line, &column);
  return psdmp_base_fail(s->error, PSDM_E_PARSE, s->file, line, column, "malformed YAML: %s", problem);
}

/* NUL bytes end C strings early, so they are found first */
static psdm_status refuse_nul(const char *text, size_t length, const char *file, psdm_error *error) {
  const char *nul = memchr(text, 0, length);
  if (!nul) return PSDM_OK;
  int line, column;
  locate(text, (size_t)(nul - text), &line, &column);
  return psdmp_base_fail(error, PSDM_E_PARSE, file, line, column, "a NUL byte; this is not a text file");
}

psdm_status psdmp_document_parse(const char *text, size_t length, const char *file, psdmp_base_arena *arena,
                                 psdmp_document_node **root, psdm_error *error) {
  *root = NULL;
  if (length > PSDMP_DOCUMENT_DOC_BYTES)
    return psdmp_base_fail(error, PSDM_E_LIMIT, file, 0, 0, "%zu bytes; at most %d are read", length,
                           PSDMP_DOCUMENT_DOC_BYTES);
  psdm_status status = refuse_nul(text, length, file, error);
  if (status) return status;

  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser))
    return psdmp_base_fail(error, PSDM_E_MEMORY, file, 0, 0, "out of memory while reading YAML");
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  doc_state state = {.file = file, .arena = arena, .error = error};
  int documents = 0;
  for (bool more = true; more && !status;) {
    yaml_event_t event;
    int parsed = yaml_parser_parse(&parser, &event);
    PSDMP_DOCUMENT_WRITTEN(&parser, sizeof parser);
    PSDMP_DOCUMENT_WRITTEN(&event, sizeof event);
    if (!parsed) {
      status = fail_yaml(&state, &parser, text, length);
      break;
    }
    if (event.type == YAML_SCALAR_EVENT) PSDMP_DOCUMENT_WRITTEN(event.data.scalar.value, event.data.scalar.length + 1);
    more = event.type != YAML_STREAM_END_EVENT;
    status = take_event(&state, &event, &documents);
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  if (!status && !state.root) status = psdmp_base_fail(error, PSDM_E_PARSE, file, 1, 1, "the file is empty");
  if (!status) *root = state.root;
  return status;
}
