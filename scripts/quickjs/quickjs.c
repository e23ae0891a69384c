/* QuickJS as a WASI command: `quickjs NAME SOURCE` runs a bot. It has no files: its source is a word of the command line. */
#define _GNU_SOURCE /* for getline */
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

static const char PRELUDE[] = {
#include "prelude.inc"
};

/* __write(file, text) */
static JSValue js_write(JSContext *context, JSValueConst self, int count, JSValueConst *words) {
    (void)self;
    int file = 1;
    size_t length;
    if (count < 2 || JS_ToInt32(context, &file, words[0])) return JS_EXCEPTION;
    const char *text = JS_ToCStringLen(context, &length, words[1]);
    if (!text) return JS_EXCEPTION;
    FILE *into = file == 1 ? stdout : stderr;
    fwrite(text, 1, length, into);
    fflush(into);
    JS_FreeCString(context, text);
    return JS_UNDEFINED;
}

/* __exit(code) */
static JSValue js_exit(JSContext *context, JSValueConst self, int count, JSValueConst *words) {
    (void)self;
    int code = 0;
    if (count > 0 && JS_ToInt32(context, &code, words[0])) return JS_EXCEPTION;
    exit(code);
}

/* Tells what went wrong, and ends. */
static void fail(JSContext *context) {
    JSValue error = JS_GetException(context);
    const char *text = JS_ToCString(context, error);
    fprintf(stderr, "%s\n", text ? text : "an error that has no text");
    JSValue stack = JS_GetPropertyStr(context, error, "stack");
    const char *calls = JS_IsUndefined(stack) ? NULL : JS_ToCString(context, stack);
    if (calls) fprintf(stderr, "%s", calls);
    exit(1);
}

static JSValue checked(JSContext *context, JSValue value) {
    if (JS_IsException(value)) fail(context);
    return value;
}

/* A promise that is refused and that nobody waits for ends the bot, as in Node. */
static void rejected(JSContext *context, JSValueConst promise, JSValueConst reason, bool handled, void *nothing) {
    (void)promise, (void)nothing;
    if (handled) return;
    JS_Throw(context, JS_DupValue(context, reason));
    fail(context);
}

static void call(JSContext *context, const char *name, JSValue word) {
    JSValue global = JS_GetGlobalObject(context);
    JSValue function = JS_GetPropertyStr(context, global, name);
    JS_FreeValue(context, checked(context, JS_Call(context, function, global, 1, &word)));
    JS_FreeValue(context, function);
    JS_FreeValue(context, global);
    JS_FreeValue(context, word);
}

/* All that is due, before the next line is read. */
static void run_jobs(JSRuntime *runtime, JSContext *context) {
    JSValue global = JS_GetGlobalObject(context);
    JSValue timers = JS_GetPropertyStr(context, global, "__timers");
    int more;
    do {
        JSContext *of;
        while ((more = JS_ExecutePendingJob(runtime, &of)) > 0) {}
        if (more < 0) fail(of);
        JSValue due = checked(context, JS_Call(context, timers, global, 0, NULL));
        more = JS_ToBool(context, due);
    } while (more);
    JS_FreeValue(context, timers);
    JS_FreeValue(context, global);
}

int main(int count, char **words) {
    if (count < 3) {
        fprintf(stderr, "usage: quickjs NAME SOURCE\n");
        return 2;
    }
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = runtime ? JS_NewContext(runtime) : NULL;
    if (!context) return 2;
    JS_SetMaxStackSize(runtime, 512 * 1024);
    JS_SetHostPromiseRejectionTracker(runtime, rejected, NULL);
    JSValue global = JS_GetGlobalObject(context);
    JS_SetPropertyStr(context, global, "__write", JS_NewCFunction(context, js_write, "write", 2));
    JS_SetPropertyStr(context, global, "__exit", JS_NewCFunction(context, js_exit, "exit", 1));
    JS_FreeValue(context, global);
    JS_FreeValue(context, checked(context, JS_Eval(context, PRELUDE, strlen(PRELUDE), "prelude.js", JS_EVAL_TYPE_GLOBAL)));
    const char *end = strrchr(words[1], '.');
    int kind = end && strcmp(end, ".mjs") == 0 ? JS_EVAL_TYPE_MODULE : JS_EVAL_TYPE_GLOBAL;
    const char *source = words[2];
    JS_FreeValue(context, checked(context, JS_Eval(context, source, strlen(source), words[1], kind)));
    run_jobs(runtime, context);
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, stdin)) > 0) {
        if (line[length - 1] == '\n') length--;
        call(context, "__line", JS_NewStringLen(context, line, (size_t)length));
        run_jobs(runtime, context);
    }
    call(context, "__line", JS_NULL);
    run_jobs(runtime, context);
    return 0;
}
