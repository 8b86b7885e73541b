/* A tagger in C: a bidirectional LSTM over words, trained on lines "word tag" with an empty line
   behind each sentence.

     tagger train TAGGED MODEL     trains and saves the model with its words and tags
     tagger tag MODEL < WORDS      writes "word tag" for each line that has a word */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynet-like/c/dynet.h"

enum { LONGEST = 200, EPOCHS = 10, MINIBATCH = 8, SIZE = 32, LINE = 1000, SLOTS = 1 << 18 };

/* Names and their numbers, by a hash table. Word number 0 stands for unknown words. */
typedef struct {
  char (*names)[64];
  int count, slots[SLOTS]; /* number + 1; 0: free */
} Names;

static Names words, tags;

static int number_of(Names* all, const char* name) {
  unsigned slot = 5381;
  for (const char* c = name; *c; ++c) slot = 33 * slot + (unsigned char)*c;
  for (slot %= SLOTS; all->slots[slot]; slot = (slot + 1) % SLOTS)
    if (strcmp(all->names[all->slots[slot] - 1], name) == 0) return all->slots[slot] - 1;
  if (all->count == SLOTS / 2) return 0;
  all->names = realloc(all->names, sizeof(*all->names) * (all->count + 1));
  snprintf(all->names[all->count], sizeof(*all->names), "%s", name);
  return (all->slots[slot] = ++all->count) - 1;
}

typedef struct {
  int64_t words[LONGEST], tags[LONGEST];
  int length;
} Sentence;

/* Reads a sentence; 0 at the end of the file. New words and tags get numbers. */
static int read_sentence(FILE* in, Sentence* s) {
  char line[LINE], word[64], tag[64];
  s->length = 0;
  while (fgets(line, sizeof line, in)) {
    const int fields = sscanf(line, "%63s %63s", word, tag);
    if (fields < 1 && s->length > 0) return 1;
    if (fields < 1 || s->length == LONGEST) continue;
    s->words[s->length] = number_of(&words, word);
    s->tags[s->length++] = fields == 2 ? number_of(&tags, tag) : 0;
  }
  return s->length > 0;
}

typedef struct {
  dynet_parameter *table, *W, *b;
  dynet_rnn *forward, *backward;
  int known; /* words */
} Tagger;

static Tagger make_tagger(dynet_model* model, dynet_error* error) {
  const uint32_t word[] = {SIZE}, output[] = {tags.count, 2 * SIZE}, bias[] = {tags.count};
  const dynet_value sizes[] = {dynet_int(1), dynet_int(SIZE), dynet_int(SIZE)};
  Tagger t;
  t.known = words.count;
  t.table = dynet_add_lookup_parameters(model, "words", t.known, word, 1, NULL, error);
  t.W = dynet_add_parameters(model, "W", output, 2, NULL, error);
  t.b = dynet_add_parameters(model, "b", bias, 1, "constant(0)", error);
  t.forward = dynet_rnn_new(model, "lstm", sizes, 3, error);
  t.backward = dynet_rnn_new(model, "lstm", sizes, 3, error);
  return t;
}

/* Scores {number of tags} of each word of a sentence. */
static void score(Tagger* t, dynet_graph* g, const Sentence* s, dynet_expression* scores,
                  dynet_error* error) {
  dynet_expression x[LONGEST], h[LONGEST];
  const dynet_expression W = DYNET_CALL(g, error, "parameter", dynet_param(t->W));
  const dynet_expression b = DYNET_CALL(g, error, "parameter", dynet_param(t->b));
  for (int i = 0; i < s->length; ++i)
    x[i] = DYNET_CALL(g, error, "lookup", dynet_param(t->table),
                      dynet_int(s->words[i] < t->known ? s->words[i] : 0));
  dynet_rnn_new_graph(t->forward, g, 1, error);
  dynet_rnn_new_graph(t->backward, g, 1, error);
  dynet_rnn_start(t->forward, NULL, 0, error);
  dynet_rnn_start(t->backward, NULL, 0, error);
  for (int i = 0; i < s->length; ++i) h[i] = dynet_rnn_add_input(t->forward, x[i], error);
  for (int i = s->length; i-- > 0;) {
    const dynet_expression both[] = {h[i], dynet_rnn_add_input(t->backward, x[i], error)};
    const dynet_expression state = DYNET_CALL(g, error, "concatenate", dynet_exprs(both, 2));
    const dynet_expression terms[] = {b, W, state};
    scores[i] = DYNET_CALL(g, error, "affine_transform", dynet_exprs(terms, 3));
  }
}

/* The words and tags as a text for the file, and back. */
static char* text_of_names(void) {
  char* text = calloc(words.count + tags.count + 1, 65);
  size_t n = sprintf(text, "%d\n", words.count);
  for (int i = 0; i < words.count; ++i) n += sprintf(text + n, "%s\n", words.names[i]);
  for (int i = 0; i < tags.count; ++i) n += sprintf(text + n, "%s\n", tags.names[i]);
  return text;
}
static void read_names(char* text) {
  char* line = strtok(text, "\n");
  for (int left = line ? atoi(line) : 0; (line = strtok(NULL, "\n")); --left)
    number_of(left > 0 ? &words : &tags, line);
}

static void train(const char* data, const char* path, dynet_error* error) {
  Sentence* all = NULL;
  int count = 0;
  FILE* in = fopen(data, "r");
  if (!in) {
    perror(data);
    exit(1);
  }
  number_of(&words, "<unk>");
  do all = realloc(all, sizeof(Sentence) * (count + 1));
  while (read_sentence(in, &all[count]) && ++count);
  fclose(in);
  if (tags.count == 0) {
    fprintf(stderr, "%s: there are no lines with a word and a tag\n", data);
    exit(1);
  }

  dynet_model* model = dynet_model_new(error);
  Tagger t = make_tagger(model, error);
  dynet_trainer* trainer = dynet_trainer_new(model, "adam", NULL, 0, error);
  dynet_graph* g = dynet_graph_new(NULL, error);
  for (int epoch = 1; epoch <= EPOCHS && error->code == DYNET_OK; ++epoch) {
    double sum = 0;
    long seen = 0;
    for (int first = 0; first < count;
         first += MINIBATCH) { /* a graph of several sentences, batched by itself */
      dynet_expression losses[MINIBATCH * LONGEST], scores[LONGEST];
      int n = 0;
      dynet_graph_renew(g, NULL, error);
      for (int k = first; k < count && k < first + MINIBATCH; ++k) {
        score(&t, g, &all[k], scores, error);
        for (int i = 0; i < all[k].length; ++i)
          losses[n++] = DYNET_CALL(g, error, "pickneglogsoftmax", dynet_expr(scores[i]),
                                   dynet_int(all[k].tags[i]));
      }
      const dynet_expression loss = DYNET_CALL(g, error, "average", dynet_exprs(losses, n));
      sum += (double)dynet_get_scalar(loss, error) * n;
      seen += n;
      dynet_backward(loss, 0, error);
      dynet_trainer_update(trainer, 1, error);
    }
    printf("epoch %d: loss %.4f\n", epoch, sum / (seen ? seen : 1));
  }
  char* text = text_of_names();
  dynet_save(path, model, NULL, text, error);
  free(text);
  free(all);
  dynet_graph_free(g), dynet_trainer_free(trainer), dynet_rnn_free(t.forward),
      dynet_rnn_free(t.backward);
  dynet_model_free(model);
}

static void tag(const char* path, dynet_error* error) {
  Sentence s;
  const size_t length = dynet_read_text(path, NULL, 0, error);
  char* text = calloc(length + 1, 1);
  dynet_read_text(path, text, length + 1, error);
  read_names(text);
  dynet_model* model = dynet_model_new(error);
  Tagger t = make_tagger(model, error);
  dynet_load(path, model, NULL, DYNET_LOAD_MAP, error);
  dynet_graph_options options = DYNET_GRAPH_OPTIONS;
  options.inference = 1;
  dynet_graph* g = dynet_graph_new(&options, error);
  const int count = tags.count; /* of the model */
  float* numbers = calloc(count, sizeof(float));
  while (error->code == DYNET_OK && read_sentence(stdin, &s)) {
    dynet_expression scores[LONGEST];
    dynet_graph_renew(g, &options, error);
    score(&t, g, &s, scores, error);
    for (int i = 0; i < s.length; ++i) {
      int best = 0;
      dynet_get_value(scores[i], numbers, count, error);
      for (int k = 1; k < count; ++k)
        if (numbers[k] > numbers[best]) best = k;
      printf("%s %s\n", words.names[s.words[i]], tags.names[best]);
    }
    printf("\n");
  }
  free(numbers), free(text);
  dynet_graph_free(g), dynet_rnn_free(t.forward), dynet_rnn_free(t.backward),
      dynet_model_free(model);
}

int main(int argc, char** argv) {
  dynet_error error = DYNET_NO_ERROR;
  if (argc == 4 && strcmp(argv[1], "train") == 0) {
    train(argv[2], argv[3], &error);
  } else if (argc == 3 && strcmp(argv[1], "tag") == 0) {
    tag(argv[2], &error);
  } else {
    fprintf(stderr, "usage: %s train TAGGED MODEL | tag MODEL < WORDS\n", argv[0]);
    return 2;
  }
  if (error.code != DYNET_OK) fprintf(stderr, "%s\n", error.message);
  return error.code != DYNET_OK;
}
