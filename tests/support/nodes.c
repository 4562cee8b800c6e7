/* nodes.c: documents with one node changed, written again in flow style. */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document/document.h"

enum { ROOM = 1 << 20 };

static void put_scalar(text_writer *w, const char *text, bool quoted) {
  if (!quoted) {
    text_put(w, "%s", text[0] ? text : "\"\"");
    return;
  }
  text_put(w, "\"");
  for (; *text; text++) text_put(w, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  text_put(w, "\"");
}

static bool plain(const char *text) {
  return text[0] && !strpbrk(text, ":{}[],&*#?|<>=!%@\\\"'`\n") && text[0] != '-' && text[0] != ' ';
}

static void put_node(text_writer *w, const psdmp_document_node *node, const psdmp_document_node *skip) {
  if (node->kind == PSDMP_DOCUMENT_SCALAR) {
    put_scalar(w, node->text, node->quoted || (!plain(node->text) && node->text[0] != '-'));
    return;
  }
  text_put(w, node->kind == PSDMP_DOCUMENT_MAP ? "{" : "[");
  const char *comma = "";
  for (const psdmp_document_node *child = node->child; child; child = child->next) {
    if (child == skip) continue;
    text_put(w, "%s", comma);
    if (node->kind == PSDMP_DOCUMENT_MAP) put_scalar(w, child->key, true), text_put(w, ": ");
    put_node(w, child, skip);
    comma = ", ";
  }
  text_put(w, node->kind == PSDMP_DOCUMENT_MAP ? "}" : "]");
}

typedef struct walk {
  psdmp_document_node *root;
  char *text;
  void (*visit)(void *user, const char *text, nodes_change change, const char *where);
  void *user;
} walk;

static void show(walk *k, nodes_change change, const char *where, const psdmp_document_node *skip) {
  text_writer w = {k->text, ROOM};
  put_node(&w, k->root, skip);
  text_put(&w, "\n");
  k->visit(k->user, k->text, change, where);
}

static void change_node(walk *k, psdmp_document_node *node, const char *where) {
  static const char *const values[] = {"-1", "0", "1e308", "word", "1e999", "null", "-1e-320", "3.5"};
  static psdmp_document_node inner = {.kind = PSDMP_DOCUMENT_SCALAR, .text = "1", .length = 1};
  const psdmp_document_node kept = *node;
  for (int kind = PSDMP_DOCUMENT_SCALAR; kind <= PSDMP_DOCUMENT_MAP; kind++) {
    if (kind == (int)kept.kind) continue;
    *node = (psdmp_document_node){
        .kind = (psdmp_document_kind)kind, .text = "word", .length = 4, .key = kept.key, .next = kept.next};
    show(k, NODES_KIND, where, NULL);
  }
  *node = kept;
  for (size_t v = 0; node->kind == PSDMP_DOCUMENT_SCALAR && v < sizeof values / sizeof *values; v++) {
    node->text = values[v], node->quoted = false;
    if (strcmp(values[v], kept.text) != 0) show(k, NODES_VALUE, where, NULL);
  }
  if (kept.kind != PSDMP_DOCUMENT_SCALAR) {
    inner.key = "stranger", inner.next = kept.child;
    node->child = &inner, node->count++;
    show(k, NODES_EXTRA, where, NULL);
  }
  *node = kept;
  show(k, NODES_MISSING, where, node);
}

static void walk_below(walk *k, psdmp_document_node *node, const char *where) {
  char below[300];
  int at = 0;
  for (psdmp_document_node *child = node->child; child; child = child->next, at++) {
    if (node->kind == PSDMP_DOCUMENT_MAP)
      snprintf(below, sizeof below, "%s%s%s", where, where[0] ? "." : "", child->key);
    else snprintf(below, sizeof below, "%s[%d]", where, at);
    if (node->kind == PSDMP_DOCUMENT_LIST && at >= 3) break; /* elements are like their neighbours */
    change_node(k, child, below);
    walk_below(k, child, below);
  }
}

void nodes_each(const char *text, void (*visit)(void *user, const char *text, nodes_change change, const char *where),
                void *user) {
  psdmp_base_arena arena = {0};
  psdm_error error;
  walk k = {.text = malloc(ROOM), .visit = visit, .user = user};
  assert_non_null(k.text);
  if (psdmp_document_parse(text, strlen(text), "nodes", &arena, &k.root, &error)) fail_msg("%s", error.text);
  walk_below(&k, k.root, "");
  free(k.text);
  psdmp_base_arena_free(&arena);
}

static bool refused_well(psdm_status status, const psdm_error *error, const char *text, const char *where) {
  char sentence[900];
  psdm_error_format(error, sentence, sizeof sentence);
  bool clean = error->status == status && error->text[0] && error->line > 0 &&
               (status == PSDM_E_PARSE || status == PSDM_E_ROBOT || status == PSDM_E_LIMIT || status == PSDM_E_MISSING);
  for (const char *s = sentence; *s; s++) clean = clean && (unsigned char)*s >= 0x20;
  if (!clean) print_error("%s: status %d, line %d: %s\n%.3000s\n", where, status, error->line, sentence, text);
  return clean;
}

bool nodes_accepted(nodes_tally *t, psdm_status status, const void *made, const psdm_error *error, const char *text,
                    const char *where) {
  if (!status) return ++t->accepted;
  t->refused++;
  assert_null(made);
  t->wrong += !refused_well(status, error, text, where);
  return false;
}

void nodes_wrongly(nodes_tally *t, const char *what, const char *where) {
  print_error("%s in %s is accepted\n", what, where);
  t->wrong++;
}

void nodes_judge(const nodes_tally *t) {
  print_message("%d refused, %d accepted\n", t->refused, t->accepted);
  assert_int_equal(t->wrong, 0);
  assert_true(t->refused > 100);
}
