/* {{name}}, a bot for {{game}}.
 *
 * {{hint}}
 *
 * The arena writes one JSON object a line to standard input and reads one a line from standard output.
 * Print notes of your own to standard error: fprintf(stderr, "thinking\n")
 * Compile it with `cc -O2 -o bot bot.c`, then let the arena check it: necrodome check-bot {{game}} ./bot
 *
 * There is no JSON library here. A small scanner finds a field of an object and counts brackets to see where
 * a value ends. That is enough to answer with one of the legal actions, whose text is copied as it is.
 */
#define _POSIX_C_SOURCE 200809L /* for getline */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading JSON. A value is known by a pointer to its first character; NULL is "not there". ---- */

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* The character after a string that starts here. */
static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The character after a value that starts here: balanced brackets, a string, or a word. */
static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++, at++;
        } else if (*at == '}' || *at == ']') {
            depth--, at++;
        } else if (depth > 0) {
            at++;
        } else {
            at += strcspn(at, ",]} \t\r\n");
        }
    } while (depth > 0 && *at);
    return at;
}

/* The value of a field of the object that starts here. */
static const char *field(const char *object, const char *name) {
    if (!object || *object != '{') return NULL;
    const char *at = skip_space(object + 1);
    while (*at == '"') {
        const char *key = at + 1;
        at = skip_string(at);
        size_t length = (size_t)(at - key - 1);
        at = skip_space(at);
        if (*at == ':') at = skip_space(at + 1);
        if (length == strlen(name) && strncmp(key, name, length) == 0) return at;
        at = skip_space(skip_value(at));
        if (*at == ',') at = skip_space(at + 1);
    }
    return NULL;
}

/* The first element of an array, and the next one after an element; NULL at the end. */
static const char *first(const char *array) {
    if (!array || *array != '[') return NULL;
    const char *at = skip_space(array + 1);
    return *at && *at != ']' ? at : NULL;
}

static const char *next(const char *element) {
    const char *at = skip_space(skip_value(element));
    return *at == ',' ? skip_space(at + 1) : NULL;
}

static int is_string(const char *value, const char *text) {
    size_t length = strlen(text);
    return value && *value == '"' && strncmp(value + 1, text, length) == 0 && value[length + 1] == '"';
}

/* Writes a value as it stands. */
static void print_value(const char *value) {
    fwrite(value, 1, (size_t)(skip_value(value) - value), stdout);
}

/* ---- Random numbers that follow from the seed of the match (SplitMix64). ---- */

static uint64_t state = 1;

static unsigned below(unsigned bound) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ (z >> 31)) % bound);
}

{{not last-bullet}}
/* Some element of an array, or NULL if it is empty or missing. */
static const char *pick(const char *array) {
    const char *picked = NULL;
    unsigned seen = 0;
    for (const char *at = first(array); at; at = next(at))
        if (below(++seen) == 0) picked = at;
    return picked;
}

{{end}}
/* ---- The bot. ---- */

{{only last-bullet}}
static const char *const DIRECTIONS[] = {
    "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "stay",
};

/* Prints what one copy does. Here it walks in a random direction. */
static void order(const char *copy) {
    printf("{\"type\":\"move\",\"copy\":");
    print_value(field(copy, "number"));
    printf(",\"direction\":\"%s\"}", DIRECTIONS[below(9)]);
}

{{end}}
/* Prints an action. This is the place for your own ideas: `view` is all that you know. */
static void choose(const char *view, const char *legal) {
{{only last-bullet}}
    /* There are too many legal actions to list: give an order to each copy. */
    const char *copies = field(view, "copies");
    (void)legal;
    printf("{\"orders\":[");
    for (const char *copy = first(copies); copy; copy = next(copy)) {
        if (copy != first(copies)) printf(",");
        order(copy);
    }
    printf("]}");
{{end}}
{{only infection}}
    const char *action = pick(legal);
    const char *partner = pick(field(view, "partners"));
    if (action) { /* `legal` lists every legal action, where they are few */
        print_value(action);
    } else if (partner && is_string(field(field(view, "question"), "type"), "choose")) {
        printf("{\"type\":\"contact\",\"with\":");
        print_value(partner);
        printf("}");
    } else {
        printf("{\"type\":\"answer\"}");
    }
{{end}}
{{not last-bullet infection}}
    const char *action = pick(legal); /* `legal` lists every legal action */
    (void)view;
    print_value(action);
{{end}}
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *message = skip_space(line);
        const char *type = field(message, "type");
        if (is_string(type, "hello")) {
            printf("{\"type\":\"ready\",\"protocol\":1}\n");
        } else if (is_string(type, "start")) {
            const char *seed = field(message, "seed");
            state = seed ? strtoull(seed, NULL, 10) : 1; /* the same match, the same choices */
        } else if (is_string(type, "decide")) {
            /* You can add a "reason": a text that is shown beside the action. */
            printf("{\"id\":");
            print_value(field(message, "id"));
            printf(",\"action\":");
            choose(field(message, "view"), field(message, "legal"));
            printf("}\n");
        } /* "end", and whatever later versions may add, needs no answer */
        fflush(stdout);
    }
    free(line);
    return 0;
}
