/* bag_priv.h: logs of ROS 2. A bag is one file or a folder of files; each is a container of messages (SQLite's or
 * MCAP), of which those of type sensor_msgs/msg/JointState in CDR are rows. Private to the library. */
#ifndef PSDMP_LOG_BAG_H
#define PSDMP_LOG_BAG_H

#include "log/log_priv.h"

/* ---- containers ---- */

#define PSDMP_LOG_BAG_TYPE "sensor_msgs/msg/JointState"
#define PSDMP_LOG_BAG_ENCODING "cdr"

typedef struct psdmp_log_bag_message {
  const char *topic;
  int64_t time; /* ns, when it was recorded */
  const unsigned char *data;
  size_t length;
} psdmp_log_bag_message;

typedef enum psdmp_log_bag_event {
  PSDMP_LOG_BAG_MESSAGE,
  PSDMP_LOG_BAG_DAMAGED, /* something is unusable, and a sentence says what; later messages may be fine */
  PSDMP_LOG_BAG_END
} psdmp_log_bag_event;

enum { PSDMP_LOG_BAG_SEEN = 120 };

typedef struct psdmp_log_bag {
  void *self;
  /* The next message of our type. Pointers are the bag's own, valid until the next call. */
  psdm_status (*next)(void *self, psdmp_log_bag_event *event, psdmp_log_bag_message *message,
                      char sentence[PSDMP_LOG_SENTENCE], psdm_error *error);
  long long (*position)(const void *self); /* bytes of the file so far */
  const char *(*seen)(const void *self);   /* other contents: "/tf (tf2_msgs/msg/TFMessage), ..." */
  void (*close)(void *self);
} psdmp_log_bag;

/* file: name in messages. size: of the file. */
psdm_status psdmp_log_bag_sqlite_open(const char *path, const char *file, long long size,
                                      const psdm_allocator *allocator, psdmp_log_bag *bag, psdm_error *error);
psdm_status psdmp_log_bag_mcap_open(const char *path, const char *file, long long size, const psdm_allocator *allocator,
                                    psdmp_log_bag *bag, psdm_error *error);

/* Adds an unusable topic to a list for the error message, while there is room. */
void psdmp_log_bag_see(char seen[PSDMP_LOG_BAG_SEEN], const char *topic, size_t topic_length, const char *type,
                       size_t type_length);

/* ---- messages ---- */

/* Positions of a JointState's arrays in its bytes. */
typedef struct psdmp_log_joint_state {
  const unsigned char *data;
  bool big;                        /* big-endian */
  int64_t stamp;                   /* ns, of its header */
  uint32_t count[PSDMP_LOG_KINDS]; /* counts of q, qd and tau; 0 for qdd, which is never there */
  size_t at[PSDMP_LOG_KINDS];      /* where they start */
} psdmp_log_joint_state;

/* Finds the arrays, and for each of n joints its place among them (-1: absent). False, with a sentence, if the message
 * is invalid. */
bool psdmp_log_joint_state_read(const unsigned char *data, size_t length, const char *const *joint, int n, int *place,
                                psdmp_log_joint_state *state, char sentence[PSDMP_LOG_SENTENCE]);
/* k must be below its count */
double psdmp_log_joint_state_value(const psdmp_log_joint_state *state, psdmp_log_kind kind, int k);

/* ---- the source ---- */

bool psdmp_log_is_bag(const char *begin, size_t length); /* by the first bytes of a file */
bool psdmp_log_is_bag_folder(const char *path);          /* a folder with such files */
psdm_status psdmp_log_bag_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error);

/* "run.mcap:/joint_states", if no file has that name and one has the part before the colon: the length of the file's
 * name in path. All of it without a topic. */
size_t psdmp_log_bag_name(const char *path);

#endif
